/* SPDX-License-Identifier: MIT */
/* value_error.h: errors about described values: where in a text, which field, what to do. Private;
 * filled on the stack of a reading. */
#ifndef WEFT_VALUE_ERROR_H
#define WEFT_VALUE_ERROR_H

#include <weft/value.h>

#include "door.h"

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

/* Fills an error (NULL: nothing to fill). `at` is the place in the text; NULL: it is not about one.
 */
WEFT__DOOR __attribute__((format(printf, 5, 6))) void
weft__value_error(weft_value_error *error, const weft_text *text, const char *at,
                  const weft__trail *trail, const char *format, ...);

/* The name in a list that is most like a word: at most two letters off; NULL: none is. `stride`:
 * bytes from name pointer to name pointer. */
WEFT__DOOR const char *weft__name_like(const char *const *names, size_t stride, uint32_t count,
                                       const char *word, size_t length);

/* Whether a number is in the range of its field. */
bool weft__in_range(const weft_field *field, double value);
/* Checks what a type says of a value, by ranges and functions; false: the error is filled. */
bool weft__value_allowed(const weft_type *type, const char *value, weft__trail *trail,
                         const weft_text *text, const char *at, weft_value_error *error);

#endif
