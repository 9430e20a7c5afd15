/* SPDX-License-Identifier: MIT */
/* sector_move.h: gids for new rows, and rows to the sectors that their keys say: weft_shard_sync.
 *
 * The one door of this room for those above: what is new, moves, leaves and comes is behind it.
 *
 * Rows are lost on no rank and doubled on none where memory is refused: those that come are put
 * into the world first; then all ranks agree; then those that left are taken out of it, or, after
 * an error, those that came. Taking out may be refused, too: it is done by the next call. */
#ifndef WEFT_SECTOR_MOVE_H
#define WEFT_SECTOR_MOVE_H

#include "shard_state.h"

/* Collective. `result`: what this rank has met so far; nothing moves where one rank has an
 * error. Returns the same on all ranks. */
weft_result weft__rows_sync(weft_shard *shard, weft_result result);
/* Rows that are on another rank, but could not leave this one for want of memory in the last sync,
 * leave. First of what looks at rows. */
weft_result weft__rows_settle(weft_shard *shard);
/* The memory of syncs, as long as the shard. False: it was refused. */
bool weft__moving_make(weft_shard *shard);
void weft__moving_free(weft_shard *shard);

#endif
