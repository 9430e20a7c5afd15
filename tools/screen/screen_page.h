/* SPDX-License-Identifier: MIT */
/* screen_page.h: index.html beside conjunctions.csv: the result with pictures, read from disk, with
 * nothing from a network.
 */
#ifndef WEFT_SCREEN_SCREEN_PAGE_H
#define WEFT_SCREEN_SCREEN_PAGE_H

#include "screen.h"

/* Returns 0, or -1 after saying what is wrong. */
int screen_page_write(const struct screen_options *options, const struct screen_result *result);

#endif
