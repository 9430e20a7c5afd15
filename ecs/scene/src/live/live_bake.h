/* SPDX-License-Identifier: MIT */
/* live_bake.h: the baker of a live link, from changed files to a set of changed entities: the
 * thread of the link, or the owner of one without it; never both. */
#ifndef WEFT_LIVE_BAKE_H
#define WEFT_LIVE_BAKE_H

#include "live_state.h"

/* Bakes, compares with the last bake, and lists the set, if anything became different or wrong. */
weft_result weft__live_bake(weft_live *live, uint64_t wake_ns);
/* Starts the thread, which sleeps until a directory of the documents changes, waits for quiet, and
 * bakes. THREAD_FAILED: no descriptor or no thread was to be had. Owner. */
weft_result weft__live_watch_start(weft_live *live);
/* Ends it, if there is one. Owner. */
void weft__live_watch_stop(weft_live *live);

#endif
