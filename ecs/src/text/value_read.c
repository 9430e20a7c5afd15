/* SPDX-License-Identifier: MIT */
/* value_read.c: text into described values. See weft/value.h. A value is read into a copy, which
 * takes its place when all of it was right. Tokens come from json_pull.c, numbers and words from
 * value_word.c. */
#include "value_read.h"
#include "field.h"
#include "json_pull.h"
#include "value_error.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_BYTES 1024

static bool fail_at(weft__reading *r, const char *at, const char *what)
{
    return weft__reading_fail(r, at, "%s", what);
}

/* The next token; an ERROR has been reported. */
static weft__json_token next(weft__reading *r)
{
    weft__json_token token = weft__json_next(&r->json);
    if (token.kind == WEFT__JSON_ERROR) fail_at(r, token.at, r->json.problem);
    return token;
}

/* ---- one value ---- */

/* {"bytes": "0x..."}, maybe with a size: what is not described, or no text. */
static bool read_bytes_object(weft__reading *r, char *at, size_t size)
{
    for (weft__json_token token = next(r); token.kind != WEFT__JSON_OBJECT_END; token = next(r)) {
        if (token.kind != WEFT__JSON_NAME) return false;
        weft__json_token value = next(r);
        if (value.kind == WEFT__JSON_ERROR) return false;
        if (weft__json_is(&token, "bytes")) {
            if (!weft__word_bytes(r, &value, at, size)) return false;
        } else if (!weft__json_is(&token, "size") || value.kind != WEFT__JSON_NUMBER) {
            return fail_at(r, token.at, "here are only \"bytes\" and \"size\"");
        }
    }
    return true;
}

static bool read_one(weft__reading *r, const weft_field *field, char *at,
                     const weft__json_token *token)
{
    switch (weft__class_of(field->kind)) {
    case WEFT__CLASS_BOOL:
        return weft__word_bool(r, token, at);
    case WEFT__CLASS_SIGNED:
    case WEFT__CLASS_UNSIGNED:
    case WEFT__CLASS_REAL:
        return weft__word_number(r, field, token, at);
    case WEFT__CLASS_ENTITY:
        return weft__word_entity(r, token, at);
    case WEFT__CLASS_BLOB:
        return weft__word_blob(r, token, at);
    case WEFT__CLASS_STRUCT:
        return weft__reading_value(r, field->type, at, token);
    case WEFT__CLASS_ENUM:
        return weft__word_enum(r, field, token, at);
    case WEFT__CLASS_BITS:
        return weft__word_bits(r, field, token, at);
    case WEFT__CLASS_TEXT:
        return token->kind == WEFT__JSON_OBJECT
                   ? read_bytes_object(r, at, weft__field_size(field))
                   : weft__word_text(r, token, at, weft__field_size(field));
    case WEFT__CLASS_BYTES:
        return weft__word_bytes(r, token, at, weft__field_size(field));
    case WEFT__CLASS_IN_BLOB:
        break;
    }
    return fail_at(r, token->at,
                   "a field inside a blob: build the blob (weft_blob_builder_create)");
}

/* Arrays have all their elements: which ones a shorter list means, it does not say. */
static bool read_array(weft__reading *r, const weft_field *field, char *at, uint32_t count,
                       const weft__json_token *token)
{
    size_t size = weft__field_size(field);
    uint32_t *index = &r->trail.steps[r->trail.count - 1].index;
    if (token->kind != WEFT__JSON_ARRAY)
        return weft__reading_fail(r, token->at, "an array of %u should be here: [...]", count);
    weft__json_token element = next(r);
    for (uint32_t k = 0; k < count; k++, element = next(r)) {
        if (element.kind == WEFT__JSON_ERROR) return false;
        *index = k;
        if (element.kind == WEFT__JSON_ARRAY_END)
            return weft__reading_fail(r, element.at,
                                      "the array has %u elements, this is the end "
                                      "after %u",
                                      count, k);
        if (!read_one(r, field, at + k * size, &element)) return false;
    }
    *index = UINT32_MAX;
    if (element.kind == WEFT__JSON_ERROR) return false;
    if (element.kind == WEFT__JSON_ARRAY_END) return true;
    return weft__reading_fail(r, element.at, "the array has only %u elements", count);
}

static bool read_elements(weft__reading *r, const weft_field *field, char *at, uint32_t count,
                          const weft__json_token *token)
{
    weft__trail *trail = &r->trail;
    trail->steps[trail->count].field = field;
    trail->steps[trail->count].index = UINT32_MAX;
    trail->count++;
    bool is_read =
        count == 1 ? read_one(r, field, at, token) : read_array(r, field, at, count, token);
    if (is_read) trail->count--;
    return is_read;
}

/* ---- structs ---- */

static bool unknown_field(weft__reading *r, const weft_type *type, const weft__json_token *token)
{
    const char *like =
        weft__name_like(&type->fields->name, sizeof type->fields[0], type->field_count, token->at,
                        (size_t)(token->end - token->at));
    return weft__reading_fail(r, token->at - 1, "no field \"%.*s\" in %s%s%s%s",
                              (int)(token->end - token->at), token->at, type->name,
                              like == NULL ? "" : ": is \"", like == NULL ? "" : like,
                              like == NULL ? "" : "\" meant?");
}

static uint32_t field_of(const weft_type *type, const weft__json_token *token, uint32_t hint)
{
    char name[256];
    if (!token->has_escapes)
        return weft__field_find(type, token->at, (size_t)(token->end - token->at), hint);
    size_t length = weft__json_string(token, name, sizeof name);
    return length < sizeof name ? weft__field_find(type, name, length, hint) : UINT32_MAX;
}

static bool read_members(weft__reading *r, const weft_type *type, char *value)
{
    uint64_t seen[WEFT_TYPE_FIELDS / 64] = {0};
    uint32_t hint = 0;
    for (weft__json_token token = next(r); token.kind != WEFT__JSON_OBJECT_END; token = next(r)) {
        if (token.kind != WEFT__JSON_NAME) return false;
        uint32_t found = field_of(type, &token, hint);
        if (found == UINT32_MAX) return unknown_field(r, type, &token);
        if ((seen[found / 64] >> found % 64 & 1) != 0)
            return weft__reading_fail(r, token.at - 1, "\"%s\" stands here twice: remove one",
                                      type->fields[found].name);
        seen[found / 64] |= UINT64_C(1) << found % 64;
        hint = found + 1;
        const weft_field *field = &type->fields[found];
        token = next(r);
        if (token.kind == WEFT__JSON_ERROR ||
            !read_elements(r, field, value + field->offset, weft__field_count(field), &token))
            return false;
    }
    return true;
}

bool weft__reading_value(weft__reading *r, const weft_type *type, char *value,
                         const weft__json_token *token)
{
    const char *at = token->at;
    const weft_field *sole = weft__type_sole(type);
    bool is_read;
    if (sole != NULL)
        is_read = read_elements(r, sole, value + sole->offset, weft__field_count(sole), token);
    else if (token->kind != WEFT__JSON_OBJECT)
        is_read = weft__reading_fail(r, at, "an object should be here: {\"%s\": ...}",
                                     type->field_count == 0 ? "bytes" : type->fields[0].name);
    else if (type->field_count == 0 && type->size != 0)
        is_read = read_bytes_object(r, value, type->size);
    else
        is_read = read_members(r, type, value);
    const char *refusal = is_read && type->check != NULL ? type->check(value) : NULL;
    return refusal == NULL ? is_read : weft__reading_fail(r, at, "%s", refusal);
}

/* ---- the whole text ---- */

static weft_result read_all(weft__reading *r, const weft_type *type, const weft_path *path,
                            char *value)
{
    weft__json_open(&r->json, r->text->bytes, r->text->count);
    weft__json_token token = next(r);
    bool is_read = token.kind != WEFT__JSON_ERROR;
    if (is_read && path == NULL) is_read = weft__reading_value(r, type, value, &token);
    if (is_read && path != NULL)
        is_read = read_elements(r, path->field, value, path->count, &token);
    if (is_read) is_read = next(r).kind == WEFT__JSON_END;
    return is_read ? WEFT_OK : r->result;
}

static weft_result read_copy(weft__reading *r, const weft_type *type, const weft_path *path,
                             char *value, size_t bytes)
{
    _Alignas(64) char small[SMALL_BYTES];
    char *copy = small, *large = NULL;
    if (bytes > sizeof small) {
        large = malloc(bytes + 64); /* checks of the program may want the alignment */
        if (large == NULL) return WEFT_OUT_OF_MEMORY;
        copy = large + (64 - (uintptr_t)large % 64) % 64;
    }
    memcpy(copy, value, bytes);
    weft_result result = read_all(r, type, path, copy);
    if (result == WEFT_OK) memcpy(value, copy, bytes);
    free(large);
    return result;
}

static weft__reading begin(const weft_value_io *io, const weft_text *text, const weft_type *type,
                           weft_value_error *error)
{
    static const weft_value_io plain = {.indent = 0};
    if (error != NULL) *error = (weft_value_error){.offset = 0};
    return (weft__reading){.io = io == NULL ? &plain : io,
                           .text = text,
                           .error = error,
                           .result = WEFT_INVALID_ARGUMENT,
                           .trail.root = type};
}

weft_result weft_value_read(const weft_value_io *io, const weft_text *text, const weft_type *type,
                            void *value, weft_value_error *error)
{
    if (text == NULL || type == NULL || value == NULL || text->bytes == NULL)
        return WEFT_INVALID_ARGUMENT;
    weft__reading r = begin(io, text, type, error);
    return read_copy(&r, type, NULL, value, type->size);
}

weft_result weft_path_read(const weft_value_io *io, const weft_text *text, const weft_type *type,
                           const weft_path *path, void *value, weft_value_error *error)
{
    if (text == NULL || type == NULL || value == NULL || text->bytes == NULL || path == NULL ||
        path->field == NULL)
        return WEFT_INVALID_ARGUMENT;
    weft__reading r = begin(io, text, type, error);
    return read_copy(&r, type, path, (char *)value + path->offset,
                     (size_t)path->bytes * path->count);
}

void weft_value_initial(const weft_type *type, void *value)
{
    if (type == NULL || value == NULL) return;
    if (type->initial != NULL)
        memcpy(value, type->initial, type->size);
    else
        memset(value, 0, type->size);
}
