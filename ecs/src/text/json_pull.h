/* SPDX-License-Identifier: MIT */
/* json_pull.h: a pull parser of JSON with comments and trailing commas, which keeps the place of
 * every token in the text, for errors and for writing back. It allocates nothing and follows
 * nesting in bits of a word. One thread per parser; the text is borrowed. Beside it numbers.
 *
 * Grammar (RFC 8259) and: comments of C between tokens, a comma before ] and }, + in front of
 * numbers, hexadecimal integers. Strings must be UTF-8. */
#pragma once

#include "door.h"

#include <weft/value.h>

/* ---- numbers; pure: the locale of the program does not count ---- */

/* A number of a text. A value.
 *   is_exact: the text is an integer, and `magnitude` is it without its sign */
typedef struct weft__number {
    uint64_t magnitude;
    bool is_negative;
    bool is_exact;
    double value;
} weft__number;

enum { WEFT__NUMBER_BYTES = 40 }; /* any number that is written */

/* Parses a JSON number, or a hexadecimal integer (0x...), at `at`; returns where it ends, or NULL
 * when there is none. A value beyond the range of double is infinite. */
const char *weft__number_parse(const char *at, const char *end, weft__number *out);
/* Whether a finite number is an integer that doubles count exactly. */
static inline bool weft__number_is_whole(double value)
{
    return value > -9007199254740992.0 && value < 9007199254740992.0 &&
           (double)(int64_t)value == value;
}

/* The float that the text stands for: not rounded twice. */
float weft__number_float(const weft__number *number, const char *at, const char *end);

/* Writes a finite number (is_float: as a float), NUL-terminated: the shortest text that reads back
 * to the same bits; returns its length. */
size_t weft__number_write(double value, bool is_float, char out[WEFT__NUMBER_BYTES]);

/* -1: none. */
static inline int weft__hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* ---- tokens ---- */

typedef enum weft__json_kind {
    WEFT__JSON_ERROR, /* json->problem says what; the place is the token's */
    WEFT__JSON_END,
    WEFT__JSON_NULL,
    WEFT__JSON_FALSE,
    WEFT__JSON_TRUE,
    WEFT__JSON_NUMBER,
    WEFT__JSON_STRING,
    WEFT__JSON_NAME, /* of a member; its value follows */
    WEFT__JSON_OBJECT,
    WEFT__JSON_OBJECT_END,
    WEFT__JSON_ARRAY,
    WEFT__JSON_ARRAY_END,
} weft__json_kind;

/* A token. A value; `at` points into the text.
 *   STRING, NAME: [at, end) is what stands between the quotes; has_escapes: it is not the string */
typedef struct weft__json_token {
    weft__json_kind kind;
    bool has_escapes;
    const char *at, *end;
    weft__number number; /* NUMBER */
} weft__json_token;

/* What may come next. */
typedef enum weft__json_state {
    WEFT__JSON_VALUE, /* a value */
    WEFT__JSON_FIRST, /* a value or member, or the end of the array or object */
    WEFT__JSON_COMMA, /* a comma or the end */
    WEFT__JSON_DONE,  /* nothing */
} weft__json_state;

/* Owner: the caller, on its stack.
 *   start <= at <= end; bit d of is_object: level d is an object, for d < depth */
typedef struct weft__json {
    const char *start, *at, *end;
    uint64_t is_object;
    uint32_t depth;
    weft__json_state state;
    const char *problem; /* static text; set by an ERROR, which stays */
} weft__json;

WEFT__DOOR void weft__json_open(weft__json *json, const char *text, size_t count);
/* Passes by blanks and comments; false: the text ends there. For texts of several values, one
 * opened behind the other. */
bool weft__json_has_more(weft__json *json);
/* The next token. After ERROR and END the same comes again. */
WEFT__DOOR weft__json_token weft__json_next(weft__json *json);
/* Passes by the value that begins with `token`. False: an ERROR, in *token. */
WEFT__DOOR bool weft__json_skip(weft__json *json, weft__json_token *token);
/* The characters of a STRING or NAME, without escapes: up to `capacity` bytes, and a NUL behind
 * them where there is room for it; returns how many bytes they are. */
WEFT__DOOR size_t weft__json_string(const weft__json_token *token, char *out, size_t capacity);
WEFT__DOOR bool weft__json_is(const weft__json_token *token, const char *string);
