/* SPDX-License-Identifier: MIT */
/* screen_report.h: what a run leaves behind: conjunctions.csv, and the summary for people or
 * machines.
 */
#ifndef WEFT_SCREEN_SCREEN_REPORT_H
#define WEFT_SCREEN_SCREEN_REPORT_H

#include "screen.h"

enum { SCREEN_PATH_BYTES = 4096 };

/* Makes the directory if it is missing and a file in it that can be written, before the work is
 * done. Returns 0, or -1 after saying on stderr what is wrong. */
int screen_report_prepare(const struct screen_options *options);

/* Writes conjunctions.csv: into a file beside it first, renamed when complete. Returns 0, or -1
 * after saying on stderr what is wrong. */
int screen_report_csv(const struct screen_options *options, const struct screen_result *result);

/* The summary on stdout: a block of text, or one line of JSON. */
void screen_report_summary(const struct screen_options *options,
                           const struct screen_result *result);

#endif
