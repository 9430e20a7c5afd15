/* SPDX-License-Identifier: MIT */
/* field.h: sizes of described fields, units, and the values that a type is made of, one by one.
 * Pure; see weft/type.h. Types that are given were checked (weft_type_check). */
#pragma once

#include "door.h"

#include <weft/type.h>

/* What kinds of one class have in common. */
typedef enum weft__kind_class {
    WEFT__CLASS_BYTES,
    WEFT__CLASS_BOOL,
    WEFT__CLASS_SIGNED,
    WEFT__CLASS_UNSIGNED,
    WEFT__CLASS_REAL,
    WEFT__CLASS_ENTITY,
    WEFT__CLASS_BLOB,
    WEFT__CLASS_STRUCT,
    WEFT__CLASS_ENUM,
    WEFT__CLASS_BITS,
    WEFT__CLASS_TEXT,
    WEFT__CLASS_IN_BLOB,
} weft__kind_class;

#define WEFT__KIND_NONE 255u /* the number of a kind that components do not hold as it is */

/* A row of WEFT_FIELD_KINDS. Constant. */
typedef struct weft__kind {
    const char *word;
    uint8_t number, bytes;
    weft__kind_class class;
} weft__kind;
#define WEFT__KIND_ONE(...) +1
enum { WEFT__KIND_COUNT = WEFT_FIELD_KINDS(WEFT__KIND_ONE) };
extern const weft__kind weft__kinds[WEFT__KIND_COUNT];

static inline bool weft__kind_is(weft_field_kind kind)
{
    return (uint32_t)kind < WEFT__KIND_COUNT;
}
static inline weft__kind_class weft__class_of(weft_field_kind kind)
{
    return weft__kinds[kind].class;
}
static inline uint32_t weft__kind_number(weft_field_kind kind)
{
    return weft__kinds[kind].number;
}
/* Integers and real numbers. */
WEFT__DOOR bool weft__kind_is_number(weft_field_kind kind);
/* The kind of a number, of a class and a size. False: there is none. */
bool weft__kind_of_number(uint32_t number, weft_field_kind *kind);
bool weft__kind_of_class(weft__kind_class class, size_t bytes, weft_field_kind *kind);
/* Bytes of one element; of BYTES and TEXT, which are one value whatever their length: all of them.
 * 0: `kind` is unknown, or its type is missing. */
WEFT__DOOR size_t weft__field_size(const weft_field *field);
/* Elements: 1 for BYTES and TEXT. */
WEFT__DOOR uint32_t weft__field_count(const weft_field *field);
/* `count` of the field: of BYTES and TEXT their bytes. */
uint32_t weft__field_length(const weft_field *field);

/* What is wrong with the unit and the range of a field; NULL: nothing. */
const char *weft__field_range_problem(const weft_field *field);

/* The field that a type is, when it is one value without a name; else NULL. */
const weft_field *weft__type_sole(const weft_type *type);
/* Bits of an integer of 1, 2, 4 or 8 bytes, as they stand. */
uint64_t weft__integer_load(const void *at, size_t bytes);
void weft__integer_store(void *at, size_t bytes, uint64_t bits);

/* A number of any kind, a bool too. A value. Always: a whole one is not real; then is_negative says
 * how to read `bits`. */
typedef struct weft__scalar {
    union {
        double real;
        uint64_t bits;
    };
    bool is_real, is_negative;
} weft__scalar;
WEFT__DOOR weft__scalar weft__scalar_load(weft_field_kind kind, const void *at);
/* False: it does not fit. Whole numbers stay what they are, others are rounded to a real kind. All
 * that is known of the bytes of real numbers is in these two. */
bool weft__scalar_store(weft_field_kind kind, weft__scalar n, void *at);
static inline double weft__scalar_real(weft__scalar n)
{
    return n.is_real ? n.real : n.is_negative ? (double)(int64_t)n.bits : (double)n.bits;
}
/* The bits of a real kind that a number has. */
static inline uint64_t weft__scalar_bits(weft_field_kind kind, double real)
{
    uint64_t bits = 0;
    weft__scalar_store(kind, (weft__scalar){.real = real, .is_real = true}, &bits);
    return bits;
}

/* ---- units of measurement: "km", "rad/min", "kg m^2/s^3" ---- */

enum { WEFT__UNIT_BASES = 7 }; /* m kg s A K mol cd */

/* A unit. A value. */
typedef struct weft__unit {
    double factor;                      /* to SI */
    int8_t exponents[WEFT__UNIT_BASES]; /* of the base units; all 0: a number or an angle */
} weft__unit;

/* Parses a whole text. False: it is no unit; *problem (may be NULL) gets where it begins to be
 * none. "" is the number 1. */
bool weft__unit_parse(const char *at, const char *end, weft__unit *out, const char **problem);
bool weft__unit_is_alike(const weft__unit *a, const weft__unit *b);
/* "a time", "a length", or the base units: "m^2 s^-1". */
void weft__unit_describe(const weft__unit *unit, char *text, size_t capacity);

/* ---- names and leaves ---- */

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
