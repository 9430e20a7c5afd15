/* SPDX-License-Identifier: MIT */
/* component_fields.c: the flat list of a described component. The same visit of the description
 * counts and fills; constants become integers of their size and text becomes bytes, because visits
 * of references, hashes and files ask no more. See component_fields.h. */
#include "component_fields.h"

#include "field.h"

#include <string.h>

/* One listing. On the stack of weft__component_fields_list. */
typedef struct listing {
    weft_field *fields; /* NULL: counting */
    char *names;
    uint32_t count;
    size_t name_bytes;
    const char *problem;
} listing;

static bool list_leaf(const weft_field *field, uint32_t offset, const char *path, void *user)
{
    listing *l = user;
    size_t bytes = strlen(path) + 1;
    weft__kind_class class = weft__class_of(field->kind);
    weft_field_kind kind = class == WEFT__CLASS_TEXT ? WEFT_FIELD_BYTES : field->kind;
    if (class == WEFT__CLASS_ENUM || class == WEFT__CLASS_BITS)
        weft__kind_of_class(WEFT__CLASS_UNSIGNED, field->type->size, &kind);
    if (weft__kind_number(kind) == WEFT__KIND_NONE) {
        l->problem = field->name;
        return false;
    }
    if (l->fields != NULL) {
        l->fields[l->count] = (weft_field){.name = memcpy(l->names + l->name_bytes, path, bytes),
                                           .kind = kind,
                                           .offset = offset,
                                           .count = weft__field_length(field)};
    }
    l->count++;
    l->name_bytes += bytes;
    return true;
}

weft_result weft__component_fields_list(weft__memory *memory, const weft_type *type,
                                        weft__component_fields *out, const char **problem)
{
    listing l = {.fields = NULL};
    *out = (weft__component_fields){.fields = NULL};
    if (!weft__type_leaves(type, list_leaf, &l)) {
        *problem = l.problem;
        return WEFT_UNSUPPORTED;
    }
    if (l.count == 0) return WEFT_OK;
    size_t bytes = l.count * sizeof(weft_field) + l.name_bytes;
    char *block = weft__alloc_zeroed(memory, WEFT__MEMORY_TYPES, 1, bytes, _Alignof(weft_field));
    if (block == NULL) return WEFT_OUT_OF_MEMORY;
    *out = (weft__component_fields){(weft_field *)(void *)block, l.count, bytes};
    l = (listing){.fields = out->fields, .names = block + l.count * sizeof(weft_field)};
    weft__type_leaves(type, list_leaf, &l);
    return WEFT_OK;
}

void weft__component_fields_free(weft__memory *memory, weft__component_fields *list)
{
    weft__free(memory, WEFT__MEMORY_TYPES, list->fields, list->bytes == 0 ? 0 : 1, list->bytes,
               _Alignof(weft_field));
    *list = (weft__component_fields){.fields = NULL};
}
