/* SPDX-License-Identifier: MIT */
/* type_text.h: descriptions of types as text, for programs that do not have them: all of a
 * weft_type but its check function. Descriptions of components, which hold no BLOB_ARRAY,
 * BLOB_STRING and BLOB_POINTER and end.
 *
 *   {"name": "Orbit", "size": 16, "alignment": 8, "initial": "0x...", "fields": [
 *     {"name": "rate", "kind": "f64", "offset": 0, "count": 1, "unit": "rad/s", "most": 1, ...},
 *     {"name": "phase", "kind": "enum", "offset": 8, "count": 1, "type": {"name": "Phase", ...,
 *      "constants": [{"name": "coast", "value": 0}]}}]} */
#ifndef WEFT_TYPE_TEXT_H
#define WEFT_TYPE_TEXT_H

#include "value_read.h"

/* Writes a description; length as snprintf. */
size_t weft__type_write(const weft_type *type, char *text, size_t capacity);

/* Reads a description, behind its opening bracket, into one block, which is aligned to 16 and has
 * the weft_type at its start; *bytes: how many it takes. NULL: they are counted only, and the same
 * text must be read again. The description must be checked then (weft_type_check). */
bool weft__type_read(weft__reading *r, void *block, size_t *bytes);
/* The same for an array of fields, behind its opening bracket. */
bool weft__type_read_fields(weft__reading *r, void *block, size_t *bytes, weft_field **fields,
                            uint32_t *count);

#endif
