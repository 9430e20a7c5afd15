/* SPDX-License-Identifier: MIT */
/* value_diff.c: weft_value_diff: the fields in which two values differ, by their bits. Structs
 * that are equal as a whole are passed by; a path is built while the walk goes down, and copied
 * out where something differs. */
#include "field.h"

#include <weft/value.h>

#include <string.h>

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
