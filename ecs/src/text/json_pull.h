/* SPDX-License-Identifier: MIT */
/* json_pull.h: a pull parser of JSON with comments and trailing commas, which keeps the place of
 * every token in the text, for errors and for writing back. It allocates nothing and follows
 * nesting in bits of a word. One thread per parser; the text is borrowed.
 *
 * Grammar (RFC 8259) and: comments of C between tokens, a comma before ] and }, + in front of
 * numbers, hexadecimal integers. Strings must be UTF-8. */
#ifndef WEFT_JSON_PULL_H
#define WEFT_JSON_PULL_H

#include "door.h"
#include "number.h"

#include <weft/value.h>

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

#endif
