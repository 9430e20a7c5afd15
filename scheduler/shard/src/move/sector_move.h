/* SPDX-License-Identifier: MIT */
/* sector_move.h: gids for new rows, and rows to the sectors that their keys say: weft_shard_sync.
 *
 * The one door of this room for those above: what is new, moves, leaves and comes is behind it. */
#ifndef WEFT_SECTOR_MOVE_H
#define WEFT_SECTOR_MOVE_H

#include "shard_state.h"

/* Collective. `result`: what this rank has met so far; nothing moves where one rank has an
 * error. */
weft_result weft__rows_sync(weft_shard *shard, weft_result result);
/* The memory of syncs, as long as the shard. False: it was refused. */
bool weft__moving_make(weft_shard *shard);
void weft__moving_free(weft_shard *shard);

#endif
