/* SPDX-License-Identifier: MIT */
/* screen_plain.h: the job without the engine: one thread, plain loops, the same functions.
 *
 * It is what `weft screen` is measured against and, in tests, compared with: both must find the
 * same approaches to the last bit.
 */
#ifndef WEFT_SCREEN_SCREEN_PLAIN_H
#define WEFT_SCREEN_SCREEN_PLAIN_H

#include "screen.h"

/* Screens result->catalogue over result->window into result->approaches and ->losses, sorted as
 * always; screen_result_fini ends it. Returns 0, or -1 without memory. */
int screen_plain(struct screen_result *result);

#endif
