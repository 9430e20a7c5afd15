/* SPDX-License-Identifier: MIT */
/* sector_move.h: gids for new rows, and rows to the sectors that their keys say: weft_shard_sync.
 *
 * The one door of this room for those above: what is new, moves, leaves and comes is behind it.
 *
 * Rows are lost on no rank and doubled on none where memory is refused: when rows have left and
 * come, all ranks agree; after an error those that came are taken out again, and those that left
 * come back from the messages that they went in. That may be refused, too: the next call does
 * it. */
#pragma once

#include "row_block.h"

struct weft__gid_pair;

/* Collective. `result`: what this rank has met so far; nothing moves where one rank has an
 * error. Returns the same on all ranks. */
weft_result weft__rows_sync(weft_shard *shard, weft_result result);
/* The same again where the last one has failed: before what looks at rows, and at sectors. */
weft_result weft__rows_resume(weft_shard *shard);
/* The memory of syncs, as long as the shard. False: it was refused. */
bool weft__moving_make(weft_shard *shard);
void weft__moving_free(weft_shard *shard);
