/* SPDX-License-Identifier: MIT */
/* source_text.c: the source of documents in weft's text: JSON with comments. Objects and properties
 * are spans of the text; values are read when they are baked. Grammar: docs/guide/scenes.md. */
#include "scene_source.h"

#include "json_pull.h"

#include <string.h>

#define PROPERTIES_MOST 1024u

/* One reading. On the stack of open_text. */
typedef struct reading {
    weft_source *out;
    weft__json json;
} reading;

static weft__json_token next(reading *r)
{
    weft__json_token token = weft__json_next(&r->json);
    if (token.kind == WEFT__JSON_ERROR) weft_source_error(r->out, token.at, "%s", r->json.problem);
    return token;
}

static bool fail(reading *r, const weft__json_token *token, const char *what)
{
    bool is_text = token->kind == WEFT__JSON_STRING || token->kind == WEFT__JSON_NAME;
    if (token->kind != WEFT__JSON_ERROR) weft_source_error(r->out, token->at - is_text, "%s", what);
    return false;
}

/* Whether a member stands here for the first time: bit `member` of *seen. */
static bool is_first(reading *r, const weft__json_token *name, uint32_t member, uint32_t *seen)
{
    if ((*seen >> member & 1) != 0) return fail(r, name, "this name stands twice: remove one");
    *seen |= 1u << member;
    return true;
}

/* The characters of a name or string: in the text, or in the memory of the file. */
static bool characters(reading *r, const weft__json_token *token, const char **out, uint32_t *bytes)
{
    size_t length = (size_t)(token->end - token->at);
    if (length > UINT32_MAX / 2) return fail(r, token, "a name of more than 2 GiB");
    *out = token->at;
    *bytes = (uint32_t)length;
    if (!token->has_escapes) return true;
    char *copy = weft_source_memory(r->out, length + 1);
    if (copy == NULL) return false;
    *bytes = (uint32_t)weft__json_string(token, copy, length + 1);
    *out = copy;
    return true;
}

static bool read_object(reading *r, uint32_t parent, weft__role role, const weft__json_token *name);

/* The members of an object of objects: "children", "with", "objects", "prefabs". */
static bool read_objects(reading *r, uint32_t parent, weft__role role)
{
    weft__json_token token = next(r);
    if (token.kind != WEFT__JSON_OBJECT)
        return fail(r, &token, "objects by their names should be here: {\"name\": {...}}");
    for (;;) {
        token = next(r);
        if (token.kind != WEFT__JSON_NAME) return token.kind == WEFT__JSON_OBJECT_END;
        if (!read_object(r, parent, role, &token)) return false;
    }
}

static bool read_property(reading *r, uint32_t object, const weft__json_token *name)
{
    const char *text;
    uint32_t bytes;
    if (!characters(r, name, &text, &bytes)) return false;
    weft__json_token value = next(r);
    const char *begin = value.kind == WEFT__JSON_STRING ? value.at - 1 : value.at;
    if (!weft__json_skip(&r->json, &value)) {
        if (value.kind == WEFT__JSON_ERROR && r->out->file->problems == NULL)
            weft_source_error(r->out, value.at, "%s", r->json.problem);
        return false;
    }
    const weft__scene_file *file = r->out->file;
    uint32_t count = 0;
    for (uint32_t p = file->objects.at[object].first_property; p != WEFT__NONE;
         p = file->properties.at[p].next, count++) {
        const weft__property *other = &file->properties.at[p];
        if (other->name_bytes == bytes && memcmp(other->name, text, bytes) == 0)
            return fail(r, name, "this name stands twice in the object: remove one");
    }
    if (count >= PROPERTIES_MOST) return fail(r, name, "an object has at most 1,024 properties");
    weft_source_property(r->out, object, text, bytes, begin, (size_t)(r->json.at - begin));
    return !r->out->is_refused;
}

static bool is_object_name(weft__role role, const char *name, uint32_t bytes)
{
    if (bytes == 0 || bytes > 255 || (name[0] == '.' && role != WEFT__WITH)) return false;
    for (uint32_t i = 0; i < bytes; i++)
        if ((name[i] == '/' && role != WEFT__WITH) || name[i] == '#' ||
            (unsigned char)name[i] < 0x20)
            return false;
    return true;
}

static bool read_object(reading *r, uint32_t parent, weft__role role, const weft__json_token *name)
{
    weft_source_object added = {.parent = parent};
    uint32_t bytes;
    if (!characters(r, name, &added.name, &bytes)) return false;
    if (!is_object_name(role, added.name, bytes))
        return fail(r, name,
                    "an object needs a name of 1 to 255 bytes, without '/' and '#', and "
                    "without a dot in front");
    added.name_bytes = bytes;
    uint32_t object = weft__source_add(r->out, &added, role, name->at - 1);
    if (object == WEFT__NONE) return false;
    weft__json_token token = next(r);
    uint32_t seen = 0;
    if (token.kind != WEFT__JSON_OBJECT) return fail(r, &token, "an object should be here: {...}");
    for (;;) {
        token = next(r);
        bool is_read;
        if (token.kind != WEFT__JSON_NAME) return token.kind == WEFT__JSON_OBJECT_END;
        if (weft__json_is(&token, "children"))
            is_read = is_first(r, &token, 0, &seen) && read_objects(r, object, WEFT__CHILD);
        else if (weft__json_is(&token, "with"))
            is_read = is_first(r, &token, 1, &seen) && read_objects(r, object, WEFT__WITH);
        else
            is_read = read_property(r, object, &token);
        if (!is_read) return false;
    }
}

/* ---- the document ---- */

static bool read_version(reading *r)
{
    weft__json_token token = next(r);
    if (token.kind == WEFT__JSON_NUMBER && token.end - token.at == 1 && token.at[0] == '1')
        return true;
    return fail(r, &token, "the version of the format should be here: 1");
}

static bool read_use(reading *r, const weft__json_token *name)
{
    weft__json_token token = next(r);
    const char *path;
    uint32_t bytes;
    char whole[WEFT__PATH_BYTES];
    weft__use use = {.at = name->at - 1};
    if (token.kind != WEFT__JSON_STRING)
        return fail(r, &token, "the path of a file should be here: \"parts.weft\"");
    if (!characters(r, name, &use.alias, &use.alias_bytes) || !characters(r, &token, &path, &bytes))
        return false;
    if (weft__file_use(r->out->file, use.alias, use.alias_bytes) != NULL)
        return fail(r, name, "this name stands twice: remove one");
    if (!weft__path_join(r->out->file->path, path, bytes, whole))
        return fail(r, &token, "no path: it is empty or has more than 4,095 bytes");
    use.path = weft__pile_text(&r->out->file->arena, whole, strlen(whole));
    weft__use *kept =
        use.path == NULL ? NULL : WEFT__SCENE_ADD(r->out->files->memory, &r->out->file->uses);
    r->out->is_refused |= kept == NULL;
    if (kept == NULL) return false;
    *kept = use;
    return true;
}

static bool read_uses(reading *r)
{
    weft__json_token token = next(r);
    if (token.kind != WEFT__JSON_OBJECT)
        return fail(r, &token, "files by short names should be here: {\"parts\": \"parts.weft\"}");
    for (;;) {
        token = next(r);
        if (token.kind != WEFT__JSON_NAME) return token.kind == WEFT__JSON_OBJECT_END;
        if (!read_use(r, &token)) return false;
    }
}

static bool read_member(reading *r, const weft__json_token *name, uint32_t *seen)
{
    static const char *const members[] = {"weft", "use", "prefabs", "objects"};
    uint32_t member = 0;
    while (member < 4 && !weft__json_is(name, members[member])) member++;
    if (member == 4)
        return fail(r, name,
                    "a document has the members \"weft\", \"use\", \"prefabs\", \"objects\"");
    if (!is_first(r, name, member, seen)) return false;
    if (member == 0) return read_version(r);
    if (member == 1) return read_uses(r);
    return read_objects(r, WEFT_SOURCE_ROOT, member == 2 ? WEFT__PREFAB : WEFT__CHILD);
}

static weft_result open_text(weft_source *out, const weft_text *file, void *user)
{
    (void)user;
    reading r = {.out = out};
    uint32_t seen = 0;
    weft__json_open(&r.json, file->bytes, file->count);
    weft__json_token token = next(&r);
    if (token.kind != WEFT__JSON_OBJECT) {
        fail(&r, &token, "a document should be here: {\"weft\": 1, \"objects\": {...}}");
        return WEFT_INVALID_ARGUMENT;
    }
    const char *begin = token.at;
    for (;;) {
        token = next(&r);
        if (token.kind != WEFT__JSON_NAME) break;
        if (!read_member(&r, &token, &seen)) return WEFT_INVALID_ARGUMENT;
    }
    if (token.kind == WEFT__JSON_OBJECT_END) token = next(&r);
    if (token.kind == WEFT__JSON_END && (seen & 1) == 0)
        weft_source_error(out, begin, "the version of the format is missing: {\"weft\": 1, ...}");
    return token.kind == WEFT__JSON_END ? WEFT_OK : WEFT_INVALID_ARGUMENT;
}

const weft_source_desc weft__source_text = {"text", ".weft .json", open_text, NULL};
