/* SPDX-License-Identifier: MIT */
/* path.c: paths to values within values: weft_path_parse, weft_path_format. A path is kept as
 * positions of fields and indices, so that it is compiled once and used on many values; its offset
 * from the outermost value is ready. */
#include "field.h"
#include "text.h"

#include <string.h>
#include <weft/value.h>

/* One compilation. On the stack of weft_path_parse. */
typedef struct compiling {
    const char *path; /* the whole of it */
    const char *at;
    weft_path *out;
    weft_error *error; /* NULL: not asked for */
} compiling;

static weft_result refuse(compiling *c, weft_result result, const weft_type *type, const char *what)
{
    weft__error_fill(c->error, result, "path \"%s\": %s", c->path, what);
    if (c->error == NULL) return result;
    weft__error_name(c->error->path, sizeof c->error->path, c->path);
    if (type == NULL) return result;
    weft__text t = {c->error->text, sizeof c->error->text, strlen(c->error->text)};
    weft__text_add(&t, " (in %s", type->name);
    for (uint32_t i = 0; i < type->field_count; i++)
        weft__text_add(&t, "%s%s", i == 0 ? ", which has " : ", ", type->fields[i].name);
    weft__text_add(&t, ")");
    return result;
}

/* "[3]" behind a name: its number; UINT32_MAX: none is there. */
static weft_result read_index(compiling *c, const weft_field *field, uint32_t *index)
{
    uint64_t value = 0;
    *index = UINT32_MAX;
    if (*c->at != '[') return WEFT_OK;
    const char *digits = ++c->at;
    for (; *c->at >= '0' && *c->at <= '9' && value <= UINT32_MAX; c->at++)
        value = value * 10 + (uint64_t)(*c->at - '0');
    if (c->at == digits || *c->at != ']')
        return refuse(c, WEFT_INVALID_ARGUMENT, NULL, "an index is written [0], [1], ...");
    c->at++;
    if (value >= weft__field_count(field))
        return refuse(c, WEFT_INVALID_ARGUMENT, NULL, "the index is beyond the array");
    *index = (uint32_t)value;
    return WEFT_OK;
}

static weft_result compile(compiling *c, const weft_type *type)
{
    for (;;) {
        size_t length = strcspn(c->at, ".[");
        uint32_t number = weft__field_find(type, c->at, length, 0), index;
        if (number == UINT32_MAX) return refuse(c, WEFT_NOT_FOUND, type, "no field of this name");
        if (c->out->step_count == WEFT_TYPE_DEPTH)
            return refuse(c, WEFT_LIMIT, NULL, "more than 8 fields within each other");
        const weft_field *field = &type->fields[number];
        c->at += length;
        weft_result result = read_index(c, field, &index);
        if (result != WEFT_OK) return result;
        weft_path *path = c->out;
        uint32_t size = (uint32_t)weft__field_size(field), count = weft__field_count(field);
        path->steps[path->step_count].field = number;
        path->steps[path->step_count++].index = index;
        path->field = field;
        path->offset += field->offset + (index == UINT32_MAX ? 0 : index * size);
        path->bytes = size;
        path->count = index == UINT32_MAX ? count : 1;
        if (*c->at == '\0') return WEFT_OK;
        if (*c->at != '.')
            return refuse(c, WEFT_INVALID_ARGUMENT, NULL, "a name is followed by . or [");
        if (field->kind != WEFT_FIELD_STRUCT || c->out->count != 1)
            return refuse(c, WEFT_INVALID_ARGUMENT, NULL,
                          field->kind == WEFT_FIELD_STRUCT ? "an array needs an index in front of ."
                                                           : "a value without fields");
        type = field->type;
        c->at++;
    }
}

weft_result weft_path_parse(const weft_type *type, const char *path, weft_path *out,
                            weft_error *error)
{
    compiling c = {.path = path, .at = path, .out = out, .error = error};
    if (error != NULL) *error = (weft_error){0};
    if (type == NULL || path == NULL || out == NULL)
        return weft__error_fill(error, WEFT_INVALID_ARGUMENT,
                                "weft_path_parse: type, path or out is NULL: give them");
    *out = (weft_path){.step_count = 0};
    return compile(&c, type);
}

size_t weft_path_format(const weft_type *type, const weft_path *path, char *text, size_t capacity)
{
    weft__text t = {text, text == NULL ? 0 : capacity, 0};
    if (t.capacity != 0) text[0] = '\0';
    if (type == NULL || path == NULL) return 0;
    for (uint32_t i = 0; i < path->step_count; i++) {
        const weft_field *field = &type->fields[path->steps[i].field];
        weft__text_add(&t, "%s%s", i == 0 ? "" : ".", field->name);
        if (path->steps[i].index != UINT32_MAX) weft__text_add(&t, "[%u]", path->steps[i].index);
        type = field->type;
    }
    return t.length;
}

/* ---- fields that differ ---- */

/* One comparison. On the stack of weft_value_diff; `path` grows and shrinks with the depth. */
typedef struct comparing {
    weft_path path;
    weft_path *out;
    uint32_t capacity, count;
} comparing;

static void report(comparing *c, const weft_field *field, uint32_t offset)
{
    if (c->count < c->capacity) {
        c->path.field = field;
        c->path.offset = offset;
        c->path.bytes = (uint32_t)weft__field_size(field);
        c->path.count = 1;
        c->out[c->count] = c->path;
    }
    c->count++;
}

/* Depth: WEFT_TYPE_DEPTH. */
static void compare(comparing *c, const weft_type *type, const char *a, const char *b,
                    uint32_t offset)
{
    if (memcmp(a + offset, b + offset, type->size) == 0) return;
    uint32_t step = c->path.step_count++;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_field *field = &type->fields[i];
        uint32_t count = weft__field_count(field), size = (uint32_t)weft__field_size(field);
        c->path.steps[step].field = i;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t at = offset + field->offset + k * size;
            c->path.steps[step].index = count > 1 ? k : UINT32_MAX;
            if (field->kind == WEFT_FIELD_STRUCT)
                compare(c, field->type, a, b, at);
            else if (memcmp(a + at, b + at, size) != 0)
                report(c, field, at);
        }
    }
    c->path.step_count--;
}

uint32_t weft_value_diff(const weft_type *type, const void *a, const void *b, weft_path *out,
                         uint32_t capacity)
{
    comparing c = {.out = out, .capacity = out == NULL ? 0 : capacity};
    if (type == NULL || a == NULL || b == NULL) return 0;
    compare(&c, type, a, b, 0);
    return c.count;
}
