/* SPDX-License-Identifier: MIT */
/* live_apply.h: changes of the documents are applied to the followed world, in three phases:
 * entities come, values change, entities leave; so that references find their targets. Where the
 * world has changed a value, too, the three-way rule decides: base, file, world.
 *
 * Owner, world idle. */
#ifndef WEFT_LIVE_APPLY_H
#define WEFT_LIVE_APPLY_H

#include "live_state.h"

/* Goes on with live->current until `deadline` (weft__live_now; 0: none), or its end: then it is
 * NULL. Counts in live->report. */
weft_result weft__live_go_on(weft_live *live, uint64_t deadline);

#endif
