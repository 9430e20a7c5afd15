/* SPDX-License-Identifier: MIT */
/* field.h: sizes of described fields, and the values that a type is made of, one by one. Pure; see
 * weft/type.h. Types that are given were checked (weft_type_check). */
#ifndef WEFT_FIELD_H
#define WEFT_FIELD_H

#include <weft/type.h>

#include "door.h"

/* Bytes of one element of a kind that says it: not STRUCT, ENUM, BITS (0). */
uint32_t weft__kind_bytes(weft_field_kind kind);
/* The number of a kind in files and in hashes of layouts; WEFT__KIND_NONE: such a field is in none.
 */
#define WEFT__KIND_NONE 255u
uint32_t weft__kind_number(weft_field_kind kind);
/* The kind of a number; false: there is none. */
bool weft__kind_of_number(uint32_t number, weft_field_kind *kind);
/* Bytes of one element; of BYTES and TEXT, which are one value whatever their length: all of them.
 * 0: `kind` is unknown, or its type is missing. */
WEFT__DOOR size_t weft__field_size(const weft_field *field);
/* Elements: 1 for BYTES and TEXT. */
WEFT__DOOR uint32_t weft__field_count(const weft_field *field);

/* What is wrong with the unit and the range of a field; NULL: nothing. */
const char *weft__field_range_problem(const weft_field *field);

/* The field that a type is, when it is one value without a name; else NULL. */
const weft_field *weft__type_sole(const weft_type *type);
/* Bits of an integer of 1, 2, 4 or 8 bytes, as they stand. */
uint64_t weft__integer_load(const void *at, size_t bytes);
void weft__integer_store(void *at, size_t bytes, uint64_t bits);
/* The same, by the sign of the kind. */
double weft__field_number(const weft_field *field, const void *at);

/* Whether a name is UTF-8 of at most 255 bytes without control characters, and without those in
 * `without`: it can stand between quotes as it is when these are a quote and a backslash. */
bool weft__name_is_plain(const char *name, const char *without);

/* The position of a field by its name; UINT32_MAX: there is none. `hint`: looked at first. */
uint32_t weft__field_find(const weft_type *type, const char *name, size_t length, uint32_t hint);

/* Called for each field of the type and of nested structs that is no STRUCT, elements of arrays of
 * structs one by one, other arrays as a whole. `path` is its text. False ends the visit. */
typedef bool weft__leaf_visit(const weft_field *field, uint32_t offset, const char *path,
                              void *user);
bool weft__type_leaves(const weft_type *type, weft__leaf_visit *visit, void *user);

#endif
