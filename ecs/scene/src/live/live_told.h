/* SPDX-License-Identifier: MIT */
/* live_told.h: what live links tell of themselves to tools: which there are, their last conflicts,
 * where their objects stand.
 *
 * See live_told.c. Owner. */
#ifndef WEFT_LIVE_TOLD_H
#define WEFT_LIVE_TOLD_H

#include "live_state.h"

/* The link has begun, or ends: it stands in the list, or no longer. */
void weft__live_list_add(weft_live *live);
void weft__live_list_remove(weft_live *live);
/* Keeps a conflict as text, in the place of the oldest. */
void weft__live_conflict_keep(weft_live *live, const weft_live_conflict *conflict);

#endif
