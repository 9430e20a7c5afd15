/* SPDX-License-Identifier: MIT */
/* unit.h: units of measurement: words like "km", "rad/min", "kg m^2/s^3" as a factor to SI and the
 * exponents of its base units. Pure. */
#ifndef WEFT_UNIT_H
#define WEFT_UNIT_H

#include <weft/base.h>

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

#endif
