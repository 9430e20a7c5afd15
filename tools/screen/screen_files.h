/* SPDX-License-Identifier: MIT */
/* screen_files.h: the files a run leaves: conjunctions.csv, together.csv, meta.json.
 *
 * Their text depends on catalogue, window and filter only, not on workers, kernels or time.
 */
#ifndef WEFT_SCREEN_SCREEN_FILES_H
#define WEFT_SCREEN_SCREEN_FILES_H

#include "screen.h"

/* Tries the directory before the work is done; refuses to write over the catalogue. Returns
 * WEFT_CLI_OK, or another status after saying what is wrong. */
int screen_files_prepare(const struct screen_options *options);

/* Writes all of them. Returns 0, or -1 after saying what is wrong. */
int screen_files_write(const struct screen_options *options, const struct screen_result *result);

/* One of them. */
int screen_files_approaches(const struct screen_options *options,
                            const struct screen_result *result);

#endif
