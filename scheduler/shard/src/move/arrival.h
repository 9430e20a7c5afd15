/* SPDX-License-Identifier: MIT */
/* arrival.h: rows that come from other ranks or from a checkpoint, put into the world: those of a
 * block that have the same sector and follow each other at once. */
#ifndef WEFT_ARRIVAL_H
#define WEFT_ARRIVAL_H

#include "row_block.h"

/* Puts the rows of all blocks into the world. The blocks' bytes must stay meanwhile. entities[row]
 * of all rows: null before; what was made when it fails, or a stub of the gid. Errors: those of
 * creating entities, OUT_OF_MEMORY. Cost: a copy of the values; blocks are best sorted by
 * sector. */
weft_result weft__arrivals_place(weft_shard *shard, const weft__block *blocks, uint32_t count,
                                 weft_entity *entities);

#endif
