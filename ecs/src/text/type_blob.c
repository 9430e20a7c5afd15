/* SPDX-License-Identifier: MIT */
/* type_blob.c: weft_type_blob: the references of described structs as blob types. The structs that
 * a description reaches are listed first; counting and writing are the same walk over the list. */
#include "field.h"

#include <stdlib.h>
#include <string.h>

#define LISTED 256

/* One derivation. On the stack of weft_type_blob.
 *   types[0] is the root; blobs, fields: NULL while counting */
typedef struct deriving {
    const weft_type *types[LISTED];
    uint32_t count;
    bool is_full;
    weft_blob_type *blobs;
    weft_blob_field *fields;
    uint32_t field_count; /* of all types before and of the current one so far */
} deriving;

static bool is_reference(weft_field_kind kind)
{
    return kind == WEFT_FIELD_BLOB_ARRAY || kind == WEFT_FIELD_BLOB_STRING ||
           kind == WEFT_FIELD_BLOB_POINTER;
}

static uint32_t position_of(const deriving *d, const weft_type *type)
{
    uint32_t i = 0;
    while (i < d->count && d->types[i] != type) i++;
    return i;
}

static bool list_target(const weft_field *field, uint32_t offset, const char *path, void *user)
{
    deriving *d = user;
    (void)offset;
    (void)path;
    bool has_target = is_reference(field->kind) && field->type != NULL;
    if (!has_target || position_of(d, field->type) < d->count) return true;
    d->is_full =
        d->is_full || d->count == LISTED || weft_type_check(field->type, NULL, 0) != WEFT_OK;
    if (!d->is_full) d->types[d->count++] = field->type;
    return !d->is_full;
}

static bool add_field(const weft_field *field, uint32_t offset, const char *path, void *user)
{
    static const uint32_t kinds[] = {[WEFT_FIELD_BLOB_ARRAY] = WEFT_BLOB_KIND_ARRAY,
                                     [WEFT_FIELD_BLOB_STRING] = WEFT_BLOB_KIND_STRING,
                                     [WEFT_FIELD_BLOB_POINTER] = WEFT_BLOB_KIND_POINTER};
    deriving *d = user;
    (void)path;
    uint32_t count = is_reference(field->kind) ? weft__field_count(field) : 0;
    uint32_t size = (uint32_t)weft__field_size(field);
    for (uint32_t k = 0; k < count; k++, d->field_count++) {
        if (d->fields == NULL) continue;
        const weft_type *type = field->kind == WEFT_FIELD_BLOB_STRING ? NULL : field->type;
        size_t alignment = type == NULL || type->alignment == 0 ? 1 : type->alignment;
        d->fields[d->field_count] =
            (weft_blob_field){.offset = offset + k * size,
                              .kind = kinds[field->kind],
                              .bytes = type == NULL ? 1 : (uint32_t)type->size,
                              .alignment = (uint32_t)alignment,
                              .type = type == NULL ? NULL : &d->blobs[position_of(d, type)]};
    }
    return true;
}

static int compare_fields(const void *left, const void *right)
{
    const weft_blob_field *a = left, *b = right;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void add_types(deriving *d)
{
    d->field_count = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t first = d->field_count;
        weft__type_leaves(d->types[i], add_field, d);
        uint32_t count = d->field_count - first;
        if (d->blobs == NULL) continue;
        if (count > 1) qsort(d->fields + first, count, sizeof d->fields[0], compare_fields);
        size_t alignment = d->types[i]->alignment;
        d->blobs[i] = (weft_blob_type){.name = d->types[i]->name,
                                       .bytes = (uint32_t)d->types[i]->size,
                                       .alignment = alignment == 0 ? 1 : (uint32_t)alignment,
                                       .fields = count == 0 ? NULL : d->fields + first,
                                       .field_count = count};
    }
}

size_t weft_type_blob(const weft_type *type, void *memory, size_t bytes, const weft_blob_type **out)
{
    deriving d = {.types = {type}, .count = 1};
    if (weft_type_check(type, NULL, 0) != WEFT_OK) return 0;
    for (uint32_t i = 0; i < d.count; i++) weft__type_leaves(d.types[i], list_target, &d);
    if (d.is_full) return 0;
    add_types(&d);
    size_t wanted = d.count * sizeof d.blobs[0] + d.field_count * sizeof d.fields[0];
    if (memory == NULL || bytes < wanted || (uintptr_t)memory % 8 != 0) return wanted;
    d.blobs = memory;
    d.fields = (weft_blob_field *)(void *)(d.blobs + d.count);
    add_types(&d);
    if (out != NULL) *out = d.blobs;
    return wanted;
}
