/* SPDX-License-Identifier: MIT */
/* component_fields.h: the fields of a component that is described by a weft_type, as a flat list:
 * what visits of references, hashes and files go by. */
#ifndef WEFT_COMPONENT_FIELDS_H
#define WEFT_COMPONENT_FIELDS_H

#include <weft/component.h>

#include "heap.h"

/* A flat list. Owner: the registration of a component, on its stack; fields and names are one
 * block. */
typedef struct weft__component_fields {
    weft_field *fields; /* kinds up to WEFT_FIELD_BLOB, named by their path */
    uint32_t count;
    size_t bytes; /* of the block; 0: no block */
} weft__component_fields;

/* Lists the fields of a checked type. OUT_OF_MEMORY; UNSUPPORTED: *problem names a field that only
 * blobs can have. */
weft_result weft__component_fields_list(weft__memory *memory, const weft_type *type,
                                        weft__component_fields *out, const char **problem);
void weft__component_fields_free(weft__memory *memory, weft__component_fields *list);

#endif
