/* SPDX-License-Identifier: MIT */
/* screen_check.h: the brute-force check of a finished run (`--verify K`).
 *
 * At K steps chosen by a seeded generator all pairs of objects are compared (brute.h); their
 * approaches must be those of the run, equal to the last bit.
 */
#ifndef WEFT_SCREEN_SCREEN_CHECK_H
#define WEFT_SCREEN_SCREEN_CHECK_H

#include <weft/jobs.h>

#include "screen.h"

/* Fills result->check. Returns 0, or -1 without memory. Threads: the owner of the pool. */
int screen_check_run(weft_job_pool *pool, const struct screen_options *options,
                     struct screen_result *result);

#endif
