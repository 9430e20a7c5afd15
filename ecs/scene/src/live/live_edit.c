/* SPDX-License-Identifier: MIT */
/* live_edit.c: one value of a document is replaced in its text, or added to it; nothing else of the
 * text changes. The document is read again for each edit, so the place is that of the file as it is
 * now. Undo looks for the field of the object again, wherever it stands by then, and puts back the
 * bytes that were there, if it holds those that were written. See live_edit.h. */
#include "live_edit.h"

#include "error.h"
#include "file_problem.h"
#include "file_replace.h"
#include "hash.h"
#include "json_pull.h"

#include <stdio.h>
#include <string.h>

#define FILE_BYTES_MOST (UINT64_C(1) << 30)

/* A part of a text. A value. */
typedef struct span {
    const char *at, *end;
} span;

/* A document that is edited. On the stack. */
typedef struct editing {
    weft_live *live;
    const char *path; /* of the file */
    char *text;
    size_t bytes;
    weft__file_problem problem; /* why it could not be read or written */
} editing;

/* The result of a call; the world's error says why it failed. */
static weft_result told(const editing *e, weft_result result, const char *call)
{
    if (result == WEFT_OK) return WEFT_OK;
    const char *why = e->problem.text[0] != '\0' ? e->problem.text : weft_result_text(result);
    return weft__error(e->live->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "%s: %s", call,
                       why);
}

/* ---- files ---- */

static weft_result text_read(editing *e)
{
    weft__file_source source;
    weft_result result = weft__file_open(weft__os_default(), e->path, &source);
    e->problem = source.problem;
    if (result != WEFT_OK) return result;
    e->bytes = source.bytes;
    e->text = source.bytes > FILE_BYTES_MOST
                  ? NULL
                  : weft__alloc(&e->live->memory, WEFT__MEMORY_OTHER, e->bytes + 1, 1, 16);
    result = e->text == NULL ? WEFT_OUT_OF_MEMORY : weft__file_read(&source, e->text, e->bytes, 0);
    e->problem = source.problem;
    weft__file_close(&source);
    return result;
}

static void text_free(editing *e)
{
    weft__free(&e->live->memory, WEFT__MEMORY_OTHER, e->text, e->bytes + 1, 1, 16);
}

/* The text with `count` bytes in the place of a part of it goes to the file, whole or not at
 * all. */
static weft_result text_write(editing *e, span part, const char *bytes, size_t count)
{
    const weft__file_piece pieces[3] = {{e->text, (size_t)(part.at - e->text)},
                                        {bytes, count},
                                        {part.end, (size_t)(e->text + e->bytes - part.end)}};
    return weft__file_replace(weft__os_default(), e->path, pieces, 3, &e->problem);
}

/* ---- places in a document ---- */

/* The value that comes next; false: there is none. */
static bool value_span(weft__json *json, span *out)
{
    weft__json_token token = weft__json_next(json);
    out->at = token.kind == WEFT__JSON_STRING ? token.at - 1 : token.at;
    if (token.kind == WEFT__JSON_ERROR || token.kind == WEFT__JSON_END ||
        !weft__json_skip(json, &token))
        return false;
    out->end = json->at;
    return true;
}

/* The value of a member of an object. */
static bool member_find(span object, const char *name, size_t bytes, span *out)
{
    weft__json json;
    char text[256];
    weft__json_open(&json, object.at, (size_t)(object.end - object.at));
    if (weft__json_next(&json).kind != WEFT__JSON_OBJECT) return false;
    for (;;) {
        weft__json_token token = weft__json_next(&json);
        if (token.kind != WEFT__JSON_NAME) return false;
        size_t length = weft__json_string(&token, text, sizeof text);
        if (!value_span(&json, out)) return false;
        if (length == bytes && memcmp(text, name, bytes) == 0) return true;
    }
}

static bool is_object(span value)
{
    return value.at < value.end && *value.at == '{';
}

/* The object of a path, in the document. */
static bool object_find(const editing *e, const char *path, span *out)
{
    weft__json json;
    const char *group = "objects";
    weft__json_open(&json, e->text, e->bytes);
    if (!value_span(&json, out)) return false;
    while (*path != '\0') {
        size_t bytes = strcspn(path, "/");
        if (!member_find(*out, group, strlen(group), out) || !member_find(*out, path, bytes, out))
            return false;
        path += bytes + (path[bytes] == '/' ? 1 : 0);
        group = "children";
    }
    return is_object(*out);
}

/* The file and the path in it: with several roots paths begin with the name of one. */
static bool file_find(editing *e, const char **path)
{
    const weft_live *live = e->live;
    e->path = live->paths[0];
    if (live->desc.path_count == 1) return true;
    size_t bytes = strcspn(*path, "/");
    for (uint32_t i = 0; i < live->desc.path_count; i++) {
        const char *slash = strrchr(live->paths[i], '/');
        const char *name = slash == NULL ? live->paths[i] : slash + 1;
        if (strncmp(name, *path, bytes) != 0 || (name[bytes] != '.' && name[bytes] != '\0'))
            continue;
        e->path = live->paths[i];
        *path += bytes + ((*path)[bytes] == '/' ? 1 : 0);
        return true;
    }
    return false;
}

/* ---- edits ---- */

static bool is_value(const char *json)
{
    weft__json parser;
    span whole;
    weft__json_open(&parser, json, strlen(json));
    return value_span(&parser, &whole) && weft__json_next(&parser).kind == WEFT__JSON_END;
}

/* What is written in the place of what, and the part of `field` that is added with it (NULL: none):
 * the value, or members around it that are missing. */
typedef struct splice {
    span part;
    const char *text, *added;
} splice;

static weft_result splice_find(span object, const char *field, const char *json, weft__pile *pile,
                               splice *out)
{
    span value;
    size_t bytes = strcspn(field, ".");
    while (member_find(object, field, bytes, &value)) {
        *out = (splice){value, json, NULL};
        if (field[bytes] == '\0') return WEFT_OK;
        if (!is_object(value)) return WEFT_INVALID_ARGUMENT;
        object = value;
        field += bytes + 1;
        bytes = strcspn(field, ".");
    }
    out->added = field;
    size_t room = strlen(json) + 2 * strlen(field) + 64, depth = 0, at = 0;
    if (bytes == 0) return WEFT_INVALID_ARGUMENT;
    char *made = weft__pile_take(pile, room + 8 * strlen(field));
    if (made == NULL) return WEFT_OUT_OF_MEMORY;
    for (;; field += bytes + 1, bytes = strcspn(field, ".")) {
        at += (size_t)snprintf(made + at, room - at, "%s\"%.*s\": ", depth == 0 ? "" : "{",
                               (int)bytes, field);
        if (field[bytes] == '\0') break;
        depth++;
    }
    at += (size_t)snprintf(made + at, room - at, "%s", json);
    while (depth-- != 0) made[at++] = '}';
    weft__json parser;
    weft__json_open(&parser, object.at, (size_t)(object.end - object.at));
    weft__json_next(&parser);
    bool is_empty = weft__json_next(&parser).kind == WEFT__JSON_OBJECT_END;
    made[at] = '\0';
    if (!is_empty) memcpy(made + at, ", ", 3);
    out->part = (span){object.at + 1, object.at + 1};
    out->text = made;
    return WEFT_OK;
}

static void edit_free(weft_live *live, const weft__live_edit *edit)
{
    weft__free(&live->memory, WEFT__MEMORY_OTHER, edit->path, edit->block_bytes, 1, 16);
}

/* Remembers what an edit of a field of an object replaces. */
static weft_result edit_keep(const editing *e, const char *object, const char *field,
                             const splice *made)
{
    weft_live *live = e->live;
    const size_t old_bytes = (size_t)(made->part.end - made->part.at), new = strlen(made->text);
    const size_t lengths[] = {strlen(e->path) + 1, strlen(object) + 1, strlen(field) + 1};
    weft__live_edit edit = {.old_bytes = old_bytes,
                            .new_bytes = new,
                            .block_bytes = lengths[0] + lengths[1] + lengths[2] + old_bytes,
                            .new_hash = hash_bytes(HASH_K0, made->text, new)};
    edit.path = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, edit.block_bytes, 1, 16);
    weft__live_edit *added = edit.path == NULL ? NULL : WEFT__LIST_ADD(&live->memory, &live->edits);
    if (added == NULL) {
        edit_free(live, &edit);
        return WEFT_OUT_OF_MEMORY;
    }
    char *at = edit.path + lengths[0];
    memcpy(edit.path, e->path, lengths[0]);
    edit.object = memcpy(at, object, lengths[1]);
    edit.field = memcpy(at + lengths[1], field, lengths[2]);
    edit.old_text = memcpy(at + lengths[1] + lengths[2], made->part.at, old_bytes);
    if (made->added != NULL) edit.added = edit.field + (made->added - field);
    *added = edit;
    return WEFT_OK;
}

/* Where the text of an edit is now; false: that object does not have it, or says something else. */
static bool edit_find(const editing *e, const weft__live_edit *edit, span *part)
{
    span value;
    if (!object_find(e, edit->object, &value)) return false;
    for (const char *field = edit->field; field != edit->added && field != NULL;) {
        size_t bytes = strcspn(field, ".");
        if (!member_find(value, field, bytes, &value)) return false;
        field = field[bytes] == '\0' ? NULL : field + bytes + 1;
    }
    *part = value;
    if (edit->added != NULL) { /* behind the brace */
        if (!is_object(value) || (size_t)(value.end - value.at) <= edit->new_bytes) return false;
        *part = (span){value.at + 1, value.at + 1 + edit->new_bytes};
    }
    return (size_t)(part->end - part->at) == edit->new_bytes &&
           hash_bytes(HASH_K0, part->at, edit->new_bytes) == edit->new_hash;
}

void weft__live_edits_free(weft_live *live)
{
    for (uint32_t i = 0; i < live->edits.count; i++) edit_free(live, &live->edits.at[i]);
    WEFT__LIST_FREE(&live->memory, &live->edits);
}

weft_result weft_live_edit(weft_live *live, const char *path, const char *field, const char *json)
{
    if (live == NULL || path == NULL || field == NULL || field[0] == '\0' || json == NULL)
        return WEFT_INVALID_ARGUMENT;
    if (!is_value(json)) return WEFT_INVALID_ARGUMENT;
    editing e = {.live = live};
    if (!file_find(&e, &path)) return WEFT_NOT_FOUND;
    weft_result result = text_read(&e);
    weft__pile pile = {.memory = &live->memory};
    span object;
    splice made;
    if (result == WEFT_OK && !object_find(&e, path, &object)) result = WEFT_NOT_FOUND;
    if (result == WEFT_OK) result = splice_find(object, field, json, &pile, &made);
    if (result == WEFT_OK) result = edit_keep(&e, path, field, &made);
    if (result == WEFT_OK) {
        result = text_write(&e, made.part, made.text, strlen(made.text));
        if (result != WEFT_OK) edit_free(live, &live->edits.at[--live->edits.count]);
    }
    weft__pile_free(&pile);
    text_free(&e);
    return told(&e, result, "weft_live_edit");
}

weft_result weft_live_undo(weft_live *live)
{
    if (live == NULL) return WEFT_INVALID_ARGUMENT;
    if (live->edits.count == 0) return WEFT_NOT_FOUND;
    const weft__live_edit edit = live->edits.at[live->edits.count - 1];
    editing e = {.live = live, .path = edit.path};
    weft_result result = text_read(&e);
    span part;
    if (result == WEFT_OK && !edit_find(&e, &edit, &part)) result = WEFT_BUSY;
    if (result == WEFT_OK) result = text_write(&e, part, edit.old_text, edit.old_bytes);
    text_free(&e);
    if (result == WEFT_OK || result == WEFT_BUSY) {
        live->edits.count--;
        edit_free(live, &edit);
    }
    return told(&e, result, "weft_live_undo");
}
