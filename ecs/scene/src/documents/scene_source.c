/* SPDX-License-Identifier: MIT */
/* scene_source.c: objects and properties of a file as a source adds them; after that, one number
 * for each object, which differs when anything of it does. Then the source of documents in weft's
 * text: JSON with comments. Objects and properties are spans of the text; values are read when they
 * are baked. Grammar: docs/guide/scenes.md. */
#include "scene_source.h"

#include "hash.h"
#include "json_pull.h"
#include "text.h"
#include "utf8.h"

#include <string.h>

/* Four chains at once: records of 100 to 200 bytes are long for one and short for hash_lanes.h,
 * which takes 8 ns more. */
static uint64_t value_hash(const char *bytes, size_t count)
{
    uint64_t chains[4] = {HASH_K0, HASH_K1, ~HASH_K0, ~HASH_K1};
    size_t at = 0;
    for (; count - at >= sizeof chains; at += sizeof chains)
        for (uint32_t i = 0; i < 4; i++) {
            uint64_t word;
            memcpy(&word, bytes + at + 8 * i, 8);
            chains[i] = hash_word(chains[i], word);
        }
    uint64_t hash = hash_word(hash_bytes(HASH_K0, bytes + at, count - at), count);
    for (uint32_t i = 0; i < 4; i++) hash = hash_word(hash, chains[i]);
    return hash_end(hash);
}

/* weft_source_add for any role, with a place for errors. */
static uint32_t source_add(weft_source *out, const weft_source_object *object, weft__role role,
                           const char *at)
{
    weft__scene_file *file = out->file;
    if (object->parent != WEFT_SOURCE_ROOT && object->parent >= file->objects.count) {
        weft_source_error(out, at, "object \"%.*s\" has a parent that was not added before it",
                          (int)object->name_bytes, object->name);
        return WEFT__NONE;
    }
    uint32_t index = file->objects.count;
    weft__file_object *added = WEFT__SCENE_ADD(out->files->memory, &file->objects);
    if (added == NULL) {
        out->is_refused = true;
        return WEFT__NONE;
    }
    *added = (weft__file_object){.file = file,
                                 .name = object->name,
                                 .name_bytes = (uint32_t)object->name_bytes,
                                 .role = role,
                                 .parent = object->parent,
                                 .first = WEFT__NONE,
                                 .last = WEFT__NONE,
                                 .next = WEFT__NONE,
                                 .first_property = WEFT__NONE,
                                 .last_property = WEFT__NONE,
                                 .at = at,
                                 .value = {object->value, object->value_bytes, file->path},
                                 .data = object->data,
                                 .hash = object->hash};
    if (object->hash == 0 && object->value != NULL)
        added->hash = value_hash(object->value, object->value_bytes);
    bool is_root = object->parent == WEFT_SOURCE_ROOT, is_prefab = role == WEFT__PREFAB;
    weft__file_object *parent = is_root ? NULL : &file->objects.at[object->parent];
    uint32_t *first = !is_root ? &parent->first : is_prefab ? &file->first_prefab : &file->first;
    uint32_t *last = !is_root ? &parent->last : is_prefab ? &file->last_prefab : &file->last;
    if (*last == WEFT__NONE)
        *first = index;
    else
        file->objects.at[*last].next = index;
    *last = index;
    return index;
}

/* Whether a name can be a part of a path; of WITH: a path. */
static bool name_fits(const char *name, size_t bytes, weft__role role)
{
    if (name == NULL || bytes == 0 || bytes > 255) return false;
    if (name[0] == '.' && role != WEFT__WITH) return false;
    unsigned char all = 0; /* bytes */
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)name[i];
        if ((c == '/' && role != WEFT__WITH) || c == '#' || c < 0x20) return false;
        all |= c;
    }
    return all < 0x80 || weft__utf8_span(name, bytes) == bytes;
}

uint32_t weft_source_add(weft_source *out, const weft_source_object *object)
{
    const char *at = object->value;
    if (name_fits(object->name, object->name_bytes, WEFT__CHILD))
        return source_add(out, object, WEFT__CHILD, at);
    weft_source_error(out, at,
                      "an object needs a name of 1 to 255 bytes of UTF-8, without '/' and '#', and "
                      "without a dot in front");
    return WEFT__NONE;
}

void weft_source_property(weft_source *out, uint32_t object, const char *name, size_t name_bytes,
                          const char *json, size_t json_bytes)
{
    weft__scene_file *file = out->file;
    if (object >= file->objects.count || name_bytes > UINT32_MAX / 2) return;
    if (weft__utf8_span(name, name_bytes) != name_bytes) {
        weft_source_error(out, json, "the name of a property is not UTF-8");
        return;
    }
    uint32_t index = file->properties.count;
    weft__property *added = WEFT__SCENE_ADD(out->files->memory, &file->properties);
    if (added == NULL) {
        out->is_refused = true;
        return;
    }
    *added = (weft__property){.name = name,
                              .name_bytes = (uint32_t)name_bytes,
                              .json = json,
                              .json_bytes = json_bytes,
                              .next = WEFT__NONE,
                              .name_hash = hash_bytes(HASH_K1, name, name_bytes),
                              .hash = hash_bytes(HASH_K0, json, json_bytes)};
    weft__file_object *owner = &file->objects.at[object];
    if (owner->last_property == WEFT__NONE)
        owner->first_property = index;
    else
        file->properties.at[owner->last_property].next = index;
    owner->last_property = index;
}

void *weft_source_memory(weft_source *out, size_t bytes)
{
    void *memory = weft__pile_take(&out->file->arena, bytes);
    if (memory == NULL) out->is_refused = true;
    return memory;
}

weft_result weft_source_file(weft_source *out, const char *path, weft_text *bytes)
{
    char whole[WEFT__PATH_BYTES];
    *bytes = (weft_text){0};
    if (!weft__path_join(out->file->path, path, strlen(path), whole)) return WEFT_LIMIT;
    const weft__scene_file *part = weft__files_bytes(out->files, whole);
    weft__part *kept = part == NULL ? NULL : WEFT__SCENE_ADD(out->files->memory, &out->file->parts);
    if (kept == NULL) {
        out->is_refused = true;
        return WEFT_OUT_OF_MEMORY;
    }
    *kept = (weft__part){weft__pile_text(&out->file->arena, whole, strlen(whole)), part->hash};
    if (kept->path == NULL) {
        out->file->parts.count--;
        out->is_refused = true;
        return WEFT_OUT_OF_MEMORY;
    }
    if (part->is_missing) return part->result;
    /* The file may change while the objects of this one live: they keep a copy. */
    char *copy = weft_source_memory(out, part->text.count + 1);
    if (copy == NULL) return WEFT_OUT_OF_MEMORY;
    memcpy(copy, part->text.bytes, part->text.count);
    copy[part->text.count] = '\0';
    *bytes = (weft_text){copy, part->text.count, kept->path};
    return WEFT_OK;
}

void weft_source_error(weft_source *out, const char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    out->file->is_broken = true;
    const weft__spot spot = {&out->file->text, at, ""};
    if (!weft__problem_add(&out->file->arena, &out->file->problems, &spot, format, arguments))
        out->is_refused = true;
    va_end(arguments);
}

/* Everything that an object is without its children, as one number. */
static void finish(weft__scene_file *file)
{
    uint64_t kind = hash_string(file->source->kind);
    for (uint32_t i = 0; i < file->objects.count; i++) {
        weft__file_object *object = &file->objects.at[i];
        uint64_t hash = hash_word(object->hash, kind);
        for (uint32_t p = object->first_property; p != WEFT__NONE; p = file->properties.at[p].next)
            hash = hash_word(hash_word(hash, file->properties.at[p].name_hash),
                             file->properties.at[p].hash);
        object->hash = hash;
    }
}

bool weft__source_open(weft__files *files, weft__scene_file *file)
{
    weft_source out = {.files = files, .file = file};
    bool is_text = file->source == &weft__source_text;
    uint64_t good = is_text ? weft__utf8_span(file->text.bytes, file->text.count) : 0;
    if (is_text && good != file->text.count) {
        weft_source_error(&out, file->text.bytes + good, "not UTF-8: save the file as UTF-8");
        return !out.is_refused;
    }
    weft_result result = file->source->open(&out, &file->text, file->source->user);
    if (out.is_refused || result == WEFT_OUT_OF_MEMORY) return false;
    if (result != WEFT_OK && !file->is_broken)
        weft_source_error(&out, NULL, "it cannot be opened: %s", weft_result_text(result));
    finish(file);
    return !out.is_refused;
}

/* ---- documents in weft's text ---- */

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

static bool read_object(reading *r, uint32_t parent, weft__role role, const weft__json_token *name)
{
    weft_source_object added = {.parent = parent};
    uint32_t bytes;
    if (!characters(r, name, &added.name, &bytes)) return false;
    if (!name_fits(added.name, bytes, role))
        return fail(r, name,
                    "an object needs a name of 1 to 255 bytes, without '/' and '#', and "
                    "without a dot in front");
    added.name_bytes = bytes;
    uint32_t object = source_add(r->out, &added, role, name->at - 1);
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
