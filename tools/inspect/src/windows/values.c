/* SPDX-License-Identifier: MIT */
/* values.c: values as JSON, by weft_value_format; structs of structs as a flat list of leaves,
 * which is what a page shows and edits. */
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/blob.h>
#include <weft/entity.h>

enum { BYTES_SHOWN = 32, LEAVES_SHOWN = 256, BLOB_SHOWN = 1 << 16 };

bool weft__value_type(const weft__session *session, weft_component component, weft_type *made,
                      const weft_type **type)
{
    const weft_component_desc *info = weft_component_info(session->world, component);
    *type = weft_component_type(session->world, component);
    if (*type != NULL) return true;
    if (info == NULL || info->field_count == 0 || info->fields == NULL) return false;
    *made = (weft_type){.name = info->name,
                        .size = info->size,
                        .alignment = info->alignment,
                        .fields = info->fields,
                        .field_count = info->field_count};
    *type = made;
    return true;
}

const void *weft__value_of(const weft__session *session, weft_entity entity,
                           weft_component component)
{
    const weft_component_desc *info = weft_component_info(session->world, component);
    if (info == NULL || (info->flags & (WEFT_CHUNK | WEFT_RESOURCE)) != 0) return NULL;
    if (info->flags & WEFT_SHARED)
        return weft_entity_read_shared(session->world, entity, component);
    return info->size == 0 ? NULL : weft_entity_read(session->world, entity, component);
}

/* What weft_value_format and its like wrote to: room, then the length it wanted. */
static void add_written(weft__wire *out, size_t capacity, size_t length)
{
    if (length < capacity) out->count += length;
}

void weft__wire_bytes(weft__wire *out, const char *name, const void *value, size_t count)
{
    const unsigned char *bytes = value;
    char text[2 * BYTES_SHOWN + 16] = "0x";
    size_t at = 2;
    for (size_t i = 0; i < count && i < BYTES_SHOWN; i++, at += 2)
        snprintf(text + at, sizeof text - at, "%02x", bytes[i]);
    if (count > BYTES_SHOWN) snprintf(text + at, sizeof text - at, "...");
    weft__wire_text(out, name, text);
}

void weft__wire_value(weft__wire *out, const char *name, const weft__session *session,
                      weft_component component, const void *value)
{
    weft_type made;
    const weft_type *type;
    const weft_component_desc *info = weft_component_info(session->world, component);
    if (value == NULL || info == NULL) {
        weft__wire_json(out, name, "null");
    } else if (info->flags & WEFT_BUFFER) {
        weft__wire_open(out, name, '{');
        weft__wire_count(out, "elements", ((const weft_buffer *)value)->count);
        weft__wire_close(out, '}');
    } else if (!weft__value_type(session, component, &made, &type)) {
        weft__wire_bytes(out, name, value, info->size);
    } else {
        size_t length = weft_value_format(NULL, type, value, NULL, 0);
        weft__wire_json(out, name, " ");
        char *room = weft__wire_room(out, length + 1);
        if (room != NULL)
            add_written(out, length + 1, weft_value_format(NULL, type, value, room, length + 1));
    }
}

enum { FEW = 256 };

/* The value of a path as text: in `few`, or for the caller to free; NULL: no memory. */
static char *format_path(const weft_type *type, const weft_path *path, const void *value, char *few)
{
    size_t length = weft_path_value_format(NULL, type, path, value, few, FEW);
    char *text = length < FEW ? few : malloc(length + 1);
    if (text != NULL && text != few)
        weft_path_value_format(NULL, type, path, value, text, length + 1);
    return text;
}

void weft__wire_path(weft__wire *out, const char *name, const weft_type *type,
                     const weft_path *path, const void *value)
{
    char few[FEW], *text = format_path(type, path, value, few);
    out->has_failed |= text == NULL;
    if (text != NULL) weft__wire_text(out, name, text);
    if (text != few) free(text);
}

/* ---- leaves ---- */

const char *weft__value_kind(weft_field_kind kind)
{
#define WORD(name, word, ...) [WEFT_FIELD_##name] = word,
    static const char *const names[] = {WEFT_FIELD_KINDS(WORD)};
    return kind < sizeof names / sizeof names[0] ? names[kind] : "bytes";
}

/* A walk over the leaves of a value. Owner: one call. */
typedef struct leaves {
    weft__wire *out;
    weft_world *world;
    const weft_type *type; /* the outermost */
    const void *value;
    uint32_t count;
} leaves;

/* What a blob is; its values where the field describes its root. */
static void add_blob(leaves *l, const weft_field *field, const void *at)
{
    weft_blob_ref ref;
    weft_blob_info info;
    const weft_blob_store *store = weft_world_blobs(l->world);
    memcpy(&ref, at, sizeof ref);
    if (weft_blob_info_get(store, ref, &info, sizeof info) != WEFT_OK) return;
    weft__wire_open(l->out, "blob", '{');
    weft__wire_count(l->out, "bytes", info.block_bytes);
    weft__wire_count(l->out, "references", info.reference_count);
    weft__wire_bool(l->out, "mapped", info.is_mapped);
    const void *root = weft_blob_read(store, ref, NULL);
    if (root != NULL && field->type != NULL) {
        size_t length = weft_value_format(NULL, field->type, root, NULL, 0);
        char *room = malloc(length + 1);
        l->out->has_failed |= room == NULL;
        if (room != NULL) weft_value_format(NULL, field->type, root, room, length + 1);
        weft__wire_json(l->out, "root", room == NULL || length > BLOB_SHOWN ? "" : room);
        free(room);
    } else if (root != NULL) {
        weft__wire_bytes(l->out, "first", root, info.block_bytes);
    }
    weft__wire_close(l->out, '}');
}

static void add_leaf(leaves *l, const char *path_text, const weft_field *field)
{
    weft_path path;
    if (l->count++ >= LEAVES_SHOWN) return;
    if (weft_path_parse(l->type, path_text, &path, NULL) != WEFT_OK) return;
    weft__wire_open(l->out, NULL, '{');
    weft__wire_text(l->out, "path", path_text);
    weft__wire_text(l->out, "kind", weft__value_kind(field->kind));
    if (path.count > 1) weft__wire_count(l->out, "length", path.count);
    if (field->unit != NULL) weft__wire_text(l->out, "unit", field->unit);
    if (field->text != NULL) weft__wire_text(l->out, "text", field->text);
    if (field->least < field->most) {
        weft__wire_number(l->out, "least", field->least);
        weft__wire_number(l->out, "most", field->most);
    }
    if (field->flags & WEFT_FIELD_READ_ONLY) weft__wire_bool(l->out, "fixed", true);
    if (field->flags & WEFT_FIELD_COLOUR) weft__wire_bool(l->out, "colour", true);
    bool is_chosen = field->kind == WEFT_FIELD_ENUM || field->kind == WEFT_FIELD_BITS;
    if (is_chosen && field->type != NULL) {
        weft__wire_open(l->out, "constants", '[');
        for (uint32_t i = 0; i < field->type->constant_count; i++)
            weft__wire_text(l->out, NULL, field->type->constants[i].name);
        weft__wire_close(l->out, ']');
    }
    weft__wire_path(l->out, "value", l->type, &path, l->value);
    if (field->kind == WEFT_FIELD_ENTITY && path.count == 1) {
        weft_entity entity;
        memcpy(&entity, (const char *)l->value + path.offset, sizeof entity);
        weft__wire_text(l->out, "name", weft_entity_name(l->world, entity));
    }
    if (field->kind == WEFT_FIELD_BLOB && path.count == 1)
        add_blob(l, field, (const char *)l->value + path.offset);
    weft__wire_close(l->out, '}');
}

static void add_leaves(leaves *l, const weft_type *type, const char *before, uint32_t depth)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_field *field = &type->fields[i];
        char path[512];
        if (field->flags & WEFT_FIELD_HIDDEN) continue;
        int length = snprintf(path, sizeof path, "%s%s%s", before, before[0] == '\0' ? "" : ".",
                              field->name);
        if (length < 0 || (size_t)length >= sizeof path) continue;
        bool is_one = field->kind == WEFT_FIELD_STRUCT && field->type != NULL &&
                      (field->count <= 1 && field->bytes <= field->type->size);
        if (is_one && depth < WEFT_TYPE_DEPTH)
            add_leaves(l, field->type, path, depth + 1);
        else
            add_leaf(l, path, field);
    }
}

void weft__wire_leaves(weft__wire *out, const char *name, const weft__session *session,
                       const weft_type *type, const void *value)
{
    leaves l = {.out = out, .world = session->world, .type = type, .value = value};
    weft__wire_open(out, name, '[');
    add_leaves(&l, type, "", 0);
    weft__wire_close(out, ']');
    if (l.count > LEAVES_SHOWN) weft__wire_count(out, "more_fields", l.count - LEAVES_SHOWN);
}

/* ---- edits ---- */

/* "12:3", or a name. */
static const char *read_entity(const char *word, size_t length, weft_entity *out, void *user)
{
    char text[64];
    const weft__session *session = user;
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    if (length == 0) *out = (weft_entity){0};
    if (length == 0 || sscanf(text, "%u:%u", &out->index, &out->version) == 2) return NULL;
    *out = weft_entity_find(session->world, text);
    return weft_entity_is_null(*out) ? "no entity has this name" : NULL;
}

/* Reads the new text into `value`, a copy of the old one. */
static uint32_t read_text(const weft__session *session, const weft__request *request,
                          const weft_type *type, const weft_path *path, void *value,
                          weft__wire *out)
{
    const weft_value_io io = {.read_entity = read_entity, .user = (void *)session};
    weft_error error;
    weft_text text = {.file = "value"};
    text.bytes = weft__request_raw(request, "value", &text.count);
    if (text.bytes == NULL) return weft__window_fail(out, 400, "a value is missing");
    if (weft_path_value_parse(&io, &text, type, path, value, &error) == WEFT_OK &&
        weft_value_check(type, value, &error) == WEFT_OK)
        return 200;
    const char *said = error.text; /* "value:1:4: ": the page shows where it stands */
    if (error.line != 0 && strncmp(said, "value:", 6) == 0 && strstr(said, ": ") != NULL)
        said = strstr(said, ": ") + 2;
    return weft__window_fail(out, 422, "%.*s", (int)strcspn(said, "\n"), said);
}

/* Refuses an edit whose "was" is no longer there: an undo does not take back what the program made
 * of the value since. */
static uint32_t check_was(const weft__request *request, const weft_type *type,
                          const weft_path *path, const void *old, weft__wire *out)
{
    size_t length;
    const char *was = weft__request_raw(request, "was", &length);
    if (was == NULL) return 200;
    char few[FEW], *text = format_path(type, path, old, few);
    if (text == NULL) return weft__window_fail(out, 503, "no memory");
    uint32_t status = 200;
    if (strlen(text) != length || memcmp(text, was, length) != 0)
        status = weft__window_fail(out, 409, "it is %.60s now, no longer %.*s as it was written",
                                   text, length < 60 ? (int)length : 60, was);
    if (text != few) free(text);
    return status;
}

uint32_t weft__value_edit(const weft__session *session, const weft__request *request,
                          weft_component component, const void *old, void **copy, weft__wire *out)
{
    char word[WEFT__REQUEST_WORD];
    weft_type made;
    const weft_type *type;
    weft_path path;
    const weft_component_desc *info = weft_component_info(session->world, component);
    if (old == NULL || (info->flags & WEFT_BUFFER) != 0 ||
        !weft__value_type(session, component, &made, &type))
        return weft__window_fail(out, 422, "%s has no described value that could be changed",
                                 info->name);
    if (!weft__request_text(request, "path", word, sizeof word) ||
        weft_path_parse(type, word, &path, NULL) != WEFT_OK)
        return weft__window_fail(out, 422, "%s has no field \"%s\"", info->name, word);
    if (path.field != NULL && (path.field->flags & WEFT_FIELD_READ_ONLY) != 0)
        return weft__window_fail(out, 422, "%s.%s is not to be edited", info->name, word);
    uint32_t status = check_was(request, type, &path, old, out);
    if (status != 200) return status;
    *copy = aligned_alloc(64, (info->size + 63) / 64 * 64);
    if (*copy == NULL) return weft__window_fail(out, 503, "no memory");
    memcpy(*copy, old, info->size);
    return read_text(session, request, type, &path, *copy, out);
}
