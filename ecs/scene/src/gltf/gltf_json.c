/* SPDX-License-Identifier: MIT */
/* gltf_json.c: the table of values. The values are counted first, so that the table has its size
 * before it is filled. See gltf_json.h. */
#include "gltf_json.h"

#include "utf8.h"

#include <string.h>

enum { DEPTH = 64 }; /* of weft__json */

static bool is_value(weft__json_kind kind)
{
    return kind != WEFT__JSON_NAME && kind != WEFT__JSON_OBJECT_END &&
           kind != WEFT__JSON_ARRAY_END && kind != WEFT__JSON_END;
}

/* How many values a text has; 0: a mistake. */
static uint32_t count_values(weft_source *out, const char *text, size_t bytes)
{
    weft__json json;
    uint32_t count = 0;
    weft__json_open(&json, text, bytes);
    for (;;) {
        weft__json_token token = weft__json_next(&json);
        if (token.kind == WEFT__JSON_END) break;
        if (token.kind == WEFT__JSON_ERROR || count == UINT32_MAX / 2) {
            weft_source_error(out, token.at, "%s",
                              token.kind == WEFT__JSON_ERROR ? json.problem : "too many values");
            return 0;
        }
        count += is_value(token.kind);
    }
    if (count == 0) weft_source_error(out, NULL, "the file has no JSON in it");
    return count;
}

static weft__gltf_value make_value(const weft__json_token *token, const weft__json_token *name)
{
    bool is_text = token->kind == WEFT__JSON_STRING;
    weft__gltf_value value = {.kind = token->kind,
                              .span = 1,
                              .has_escapes = token->has_escapes,
                              .at = token->at - is_text,
                              .end = token->end + is_text};
    if (token->kind == WEFT__JSON_NUMBER)
        value.number = token->number.is_negative && token->number.value > 0 ? -token->number.value
                                                                            : token->number.value;
    if (name->kind == WEFT__JSON_NAME) {
        value.name = name->at;
        value.name_end = name->end;
        value.name_has_escapes = name->has_escapes;
    }
    return value;
}

static void fill_values(weft__gltf_value *values, const char *text, size_t bytes)
{
    weft__json json;
    weft__json_token name = {.kind = WEFT__JSON_END}, token;
    uint32_t open[DEPTH + 1], depth = 0, count = 0;
    weft__json_open(&json, text, bytes);
    while ((token = weft__json_next(&json)).kind != WEFT__JSON_END) {
        if (token.kind == WEFT__JSON_NAME) {
            name = token;
        } else if (!is_value(token.kind)) {
            weft__gltf_value *closed = &values[open[--depth]];
            closed->span = count - open[depth];
            closed->end = json.at;
        } else {
            if (depth != 0) values[open[depth - 1]].count++;
            values[count] = make_value(&token, &name);
            name.kind = WEFT__JSON_END;
            if (token.kind == WEFT__JSON_OBJECT || token.kind == WEFT__JSON_ARRAY)
                open[depth++] = count;
            count++;
        }
    }
}

const weft__gltf_value *weft__gltf_parse(weft_source *out, const char *text, size_t bytes)
{
    uint32_t count = count_values(out, text, bytes);
    if (count == 0) return NULL;
    weft__gltf_value *values = weft_source_memory(out, (size_t)count * sizeof *values);
    if (values == NULL) return NULL;
    fill_values(values, text, bytes);
    if (values->kind == WEFT__JSON_OBJECT) return values;
    weft_source_error(out, values->at, "a glTF file is one JSON object");
    return NULL;
}

const weft__gltf_value *weft__gltf_member(const weft__gltf_value *object, const char *name)
{
    if (object == NULL || object->kind != WEFT__JSON_OBJECT) return NULL;
    size_t bytes = strlen(name);
    const weft__gltf_value *member = object + 1;
    for (uint32_t i = 0; i < object->count; i++, member += member->span)
        if ((size_t)(member->name_end - member->name) == bytes &&
            memcmp(member->name, name, bytes) == 0)
            return member;
    return NULL;
}

static bool is_whole(const weft__gltf_value *value)
{
    return value->kind == WEFT__JSON_NUMBER && value->number >= 0 &&
           weft__number_is_whole(value->number);
}

bool weft__gltf_integer(weft_source *out, const weft__gltf_value *object, const char *name,
                        uint64_t limit, uint64_t *value)
{
    const weft__gltf_value *member = weft__gltf_member(object, name);
    if (member == NULL) return true;
    if (is_whole(member) && (uint64_t)member->number < limit) {
        *value = (uint64_t)member->number;
        return true;
    }
    if (limit == 0)
        weft_source_error(out, member->at, "\"%s\" refers to a list that is empty", name);
    else
        weft_source_error(out, member->at, "\"%s\" should be a whole number from 0 to %llu", name,
                          (unsigned long long)limit - 1);
    return false;
}

uint64_t weft__gltf_known(const weft__gltf_value *object, const char *name, uint64_t absent)
{
    const weft__gltf_value *member = weft__gltf_member(object, name);
    return member == NULL || !is_whole(member) ? absent : (uint64_t)member->number;
}

bool weft__gltf_numbers(const weft__gltf_value *array, double *out, uint32_t count)
{
    if (array == NULL || array->kind != WEFT__JSON_ARRAY || array->count != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (array[1 + i].kind != WEFT__JSON_NUMBER) return false;
        out[i] = array[1 + i].number;
    }
    return true;
}

bool weft__gltf_says(const weft__gltf_value *string, const char *text)
{
    size_t bytes = strlen(text);
    return string != NULL && string->kind == WEFT__JSON_STRING &&
           (size_t)(string->end - string->at) == bytes + 2 &&
           memcmp(string->at + 1, text, bytes) == 0;
}

size_t weft__gltf_string(const weft__gltf_value *string, char *out, size_t capacity)
{
    out[0] = '\0';
    if (string == NULL || string->kind != WEFT__JSON_STRING) return 0;
    const weft__json_token token = {.kind = WEFT__JSON_STRING,
                                    .has_escapes = string->has_escapes,
                                    .at = string->at + 1,
                                    .end = string->end - 1};
    size_t bytes = weft__utf8_cut(out, weft__json_string(&token, out, capacity), capacity - 1);
    out[bytes] = '\0';
    return bytes;
}

bool weft__gltf_list(weft_source *out, const weft__gltf_value *root, const char *name,
                     weft__gltf_table *table)
{
    const weft__gltf_value *array = weft__gltf_member(root, name);
    *table = (weft__gltf_table){NULL, 0};
    if (array == NULL) return true;
    if (array->kind != WEFT__JSON_ARRAY) {
        weft_source_error(out, array->at, "\"%s\" should be an array", name);
        return false;
    }
    table->at = weft_source_memory(out, (array->count + (size_t)1) * sizeof *table->at);
    if (table->at == NULL) return false;
    const weft__gltf_value *element = array + 1;
    for (uint32_t i = 0; i < array->count; i++, element += element->span) {
        if (element->kind != WEFT__JSON_OBJECT) {
            weft_source_error(out, element->at, "\"%s\" should be an array of objects", name);
            return false;
        }
        table->at[table->count++] = element;
    }
    return true;
}
