/* SPDX-License-Identifier: MIT */
/* number.h: numbers as text: parsing with correct rounding, and the shortest text that reads back
 * to the same bits. Pure functions; the locale of the program does not count. Any thread. */
#ifndef WEFT_NUMBER_H
#define WEFT_NUMBER_H

#include <weft/base.h>

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

/* Writes a finite number, NUL-terminated; returns its length. */
size_t weft__number_write(double value, char out[WEFT__NUMBER_BYTES]);
size_t weft__number_write_float(float value, char out[WEFT__NUMBER_BYTES]);

#endif
