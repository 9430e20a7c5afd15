/* SPDX-License-Identifier: MIT */
/* value_read.h: a described value inside a larger text, as in worlds as text, and single tokens of
 * a text into fields: numbers with units, names of constants, references, text, bytes. The reading
 * is the caller's: its parser stands behind the first token of the value, and stands behind the
 * value afterwards. Each function stores at `at` and returns true, or reports and returns false. */
#pragma once

#include "json_pull.h"
#include "pile.h"

/* ---- errors: where in a text, which field, what to do ---- */

enum { WEFT__TRAIL_STEPS = WEFT_TYPE_DEPTH + 1 };

/* The field being read or checked. Owner: the reading.
 *   steps[i], i < count: fields from the outside in; index UINT32_MAX: no element of an array */
typedef struct weft__trail {
    const weft_type *root;
    struct {
        const weft_field *field;
        uint32_t index;
    } steps[WEFT__TRAIL_STEPS];
    uint32_t count;
} weft__trail;

/* A place in a text as a number that grows with it: line << 32 | column, both from 1; columns in
 * characters. */
WEFT__DOOR uint64_t weft__text_place(const weft_text *text, const char *at);

/* Fills an error (NULL: nothing to fill). `at` is the place in the text; NULL: it is not about one.
 */
WEFT__DOOR __attribute__((format(printf, 5, 6))) void
weft__value_error(weft_error *error, const weft_text *text, const char *at,
                  const weft__trail *trail, const char *format, ...);

/* The name in a list that is most like a word: at most two letters off; NULL: none is. `stride`:
 * bytes from name pointer to name pointer. */
WEFT__DOOR const char *weft__name_like(const char *const *names, size_t stride, uint32_t count,
                                       const char *word, size_t length);

/* ---- readings ---- */

#define WEFT__WORD_BYTES 4096 /* most of the word of a reference, with its NUL */

/* One reading of a text. On the stack of the call. */
typedef struct weft__reading {
    weft__json json;
    const weft_value_io *io;
    const weft_text *text;
    weft_error *error;  /* NULL: not asked for */
    weft_result result; /* what a failure returns */
    weft__trail trail;
} weft__reading;

/* Reports a mistake; always false. */
#define weft__reading_fail(r, at, ...)                                                             \
    (weft__value_error((r)->error, (r)->text, (at), &(r)->trail, __VA_ARGS__), false)

/* The value that begins with `token`, into memory that holds what absent fields keep; half of it
 * after a failure, which is reported. */
WEFT__DOOR bool weft__reading_value(weft__reading *r, const weft_type *type, char *value,
                                    const weft__json_token *token);

/* The next token; an ERROR has been reported, as has what the others refuse. */
weft__json_token weft__reading_next(weft__reading *r);
/* Passes by a value. */
bool weft__reading_skip(weft__reading *r);
/* The next token is of this kind. */
bool weft__reading_open(weft__reading *r, weft__json_kind kind, const char *what);
/* The same of an array or object: keeps where its elements begin, and passes by it. */
bool weft__reading_keep(weft__reading *r, weft__json_kind kind, const char *what, weft__json *out);
/* The next token is a string without NULs that fits, with its NUL. */
bool weft__reading_string(weft__reading *r, char *out, size_t capacity, const char *what);
/* The next token is a number of this kind. */
bool weft__reading_number(weft__reading *r, weft_field_kind kind, void *out);
/* The next tokens are an array of words; each is a bit. */
bool weft__reading_words(weft__reading *r, const char *const *words, uint32_t count,
                         const char *refusal, uint32_t *bits);

/* The names of an object so far. On the stack of who reads its members, which are few. */
typedef struct weft__reading_names {
    const char *at[16];
    uint32_t count;
} weft__reading_names;
/* Whether `token` is the name of a member, for the first time; the second is a mistake. */
bool weft__reading_name(weft__reading *r, const weft__json_token *token, weft__reading_names *seen);

bool weft__word_bool(weft__reading *r, const weft__json_token *token, void *at);
/* "index:version"; NULL, or what is wrong with the word. */
const char *weft__word_parse_entity(const char *word, size_t length, weft_entity *out);
bool weft__word_entity(weft__reading *r, const weft__json_token *token, void *at);
bool weft__word_bytes(weft__reading *r, const weft__json_token *token, char *at, size_t size);

/* ---- descriptions of types ----
 *
 * For programs that do not have them: all of a weft_type but its check function. Descriptions of
 * components, which hold no BLOB_ARRAY, BLOB_STRING and BLOB_POINTER and end.
 *
 *   {"name": "Orbit", "size": 16, "alignment": 8, "initial": "0x...", "fields": [
 *     {"name": "rate", "kind": "f64", "offset": 0, "count": 1, "unit": "rad/s", "most": 1, ...},
 *     {"name": "phase", "kind": "enum", "offset": 8, "count": 1, "type": {"name": "Phase", ...,
 *      "constants": [{"name": "coast", "value": 0}]}}]} */

/* Writes a description; length as snprintf. */
size_t weft__type_write(const weft_type *type, char *text, size_t capacity);

/* Reads a description, behind its opening bracket; what it points to is taken from the pile. False:
 * a mistake, or the pile was refused memory. It must be checked then (weft_type_check). */
bool weft__type_read(weft__reading *r, weft__pile *pile, weft_type *out);
/* The same for an array of fields, behind its opening bracket: the fields of `out`. */
bool weft__type_read_fields(weft__reading *r, weft__pile *pile, weft_type *out);
