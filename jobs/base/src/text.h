/* SPDX-License-Identifier: MIT */
/* text.h: text made piece by piece into a buffer of the caller, counted beyond its end like
 * snprintf does; errors in words. For reports: nothing here is on the path of a frame. */
#pragma once

#include "door.h"

#include <stdarg.h>
#include <weft/base.h>

/* Owner: the caller, on its stack. `length` counts all text, also what did not fit. */
typedef struct weft__text {
    char *at; /* NULL only with capacity 0 */
    size_t capacity;
    size_t length;
} weft__text;

WEFT__DOOR __attribute__((format(printf, 2, 3))) void weft__text_add(weft__text *t,
                                                                     const char *format, ...);
/* As they are; may hold NULs. */
void weft__text_add_bytes(weft__text *t, const char *bytes, size_t count);
/* In quotes, as "0x...". */
void weft__text_add_hexadecimal(weft__text *t, const void *bytes, size_t count);
/* In quotes, escaped for JSON. */
WEFT__DOOR void weft__text_add_quoted(weft__text *t, const char *string);

/* "A", "A-B" or "A-", to UINT64_MAX. False: the text is no such range; then the two stay as they
 * are. */
bool weft__text_range(const char *text, uint64_t *first, uint64_t *last);

/* ---- errors ---- */

/* Fills an error that is about no entity, component or place, and counts it. An argument may be its
 * old text. Returns `code`. `error` may be NULL. */
WEFT__DOOR __attribute__((format(printf, 3, 4))) weft_result
weft__error_fill(weft_error *error, weft_result code, const char *format, ...);
WEFT__DOOR __attribute__((format(printf, 3, 0))) weft_result
weft__error_fill_list(weft_error *error, weft_result code, const char *format, va_list arguments);
/* Copies a name into error->file or error->path, cut between characters. */
WEFT__DOOR void weft__error_name(char *to, size_t room, const char *name);
