/* SPDX-License-Identifier: MIT */
/* live_bake.h: the baker of a live link: from changed files to a set of changed entities.
 *
 * The thread of the link, or the owner of a link without one; never both. */
#ifndef WEFT_LIVE_BAKE_H
#define WEFT_LIVE_BAKE_H

#include "live_state.h"

/* A world with the types of the followed one; NULL: memory. Owner, at the start: its components are
 * copied now. */
weft_world *weft__live_world_make(const weft_live *live);
/* Bakes, compares with the last bake, and lists the set, if anything became different or wrong. */
weft_result weft__live_bake(weft_live *live, uint64_t wake_ns);

#endif
