/* SPDX-License-Identifier: MIT */
/* screen_report.h: the summary of a run for people (screen_report.c) and for machines
 * (screen_json.c).
 */
#ifndef WEFT_SCREEN_SCREEN_REPORT_H
#define WEFT_SCREEN_SCREEN_REPORT_H

#include "screen.h"

/* What the result is, in every form of it. */
extern const char screen_disclaimer[];

/* The summary on stdout, a block of text. */
void screen_report_text(const struct screen_options *options, const struct screen_result *result);
/* Elements of more than SCREEN_STALE_DAYS from the window, and the oldest of all. */
struct screen_old {
    uint32_t count, oldest; /* an object */
    double oldest_days;
};
struct screen_old screen_count_old(const struct screen_result *result);
/* Warns on stderr of them. */
void screen_report_warn(const struct screen_result *result);

/* Approaches below a distance; approaches of two members of one group. */
uint32_t screen_count_below(const struct screen_result *result, double km);
uint32_t screen_count_inside(const struct screen_result *result);

#endif
