/* SPDX-License-Identifier: MIT */
/* moment.h: a moment in UTC as Julian day and fraction of a day: together they resolve
 * microseconds over centuries, which a single double does not. Calendar conversions are
 * proleptic Gregorian; leap seconds are not counted, as in two-line elements.
 */
#ifndef WEFT_SCREEN_MOMENT_H
#define WEFT_SCREEN_MOMENT_H

#include <stddef.h>

struct moment {
    double day;      /* Julian date of a midnight: ends in .5 */
    double fraction; /* of a day, [0, 1) */
};

enum { MOMENT_TEXT_BYTES = 32 };

/* Midnight of a calendar date; `day` may be any day of the year when month is 1. */
struct moment moment_of_date(int year, int month, int day);

/* The moment `seconds` later; any sign. */
struct moment moment_add_seconds(struct moment from, double seconds);

/* Seconds from `from` to `to`. */
double moment_seconds_between(struct moment from, struct moment to);

/* Reads YYYY-MM-DD or YYYY-MM-DDThh:mm[:ss[.fff]][Z]; returns 0, or -1 when the text is anything
 * else. */
int moment_parse(const char *text, struct moment *moment);

/* Writes YYYY-MM-DDThh:mm:ss.fffZ, rounded to the millisecond. */
void moment_format(struct moment moment, char text[MOMENT_TEXT_BYTES]);

#endif
