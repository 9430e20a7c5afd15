/* SPDX-License-Identifier: MIT */
/* live_watch.h: the thread of a live link: it sleeps until a directory of the documents changes,
 * waits for quiet, and bakes.
 *
 * Started and ended by the owner. */
#ifndef WEFT_LIVE_WATCH_H
#define WEFT_LIVE_WATCH_H

#include "live_state.h"

/* Starts the thread. THREAD_FAILED: no descriptor or no thread was to be had. */
weft_result weft__live_watch_start(weft_live *live);
/* Ends it; NULL thread is fine. */
void weft__live_watch_stop(weft_live *live);

#endif
