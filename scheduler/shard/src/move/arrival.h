/* SPDX-License-Identifier: MIT */
/* arrival.h: rows that come from other ranks or from a checkpoint, put into the world, and stubs:
 * entities that stand for rows of other ranks and for dead ones, where references lead to.
 *
 * A row that leaves becomes its stub, so references to it stay as they are; a row that comes takes
 * the place of its stub. A row that dies here stays as a residue with its gid (ShardGid is CLEANUP
 * then) until the next sync, in which all ranks end it and its stubs: so a reference leads to
 * nothing from then on, whether its target was here or elsewhere, and relations see a death at the
 * same time everywhere. Worlds without ENTITY fields have neither. */
#pragma once

#include "row_block.h"

/* Turns `count` rows into their stubs. Called again after an error it does the rest. */
weft_result weft__stubs_leave(weft_shard *shard, const weft_entity *entities, const uint64_t *gids,
                              uint32_t count);
/* Appends the gids of the residues. False: memory is refused. */
bool weft__deaths_list(weft_shard *shard, weft__bytes *gids);
/* Ends the stubs of gids that died on other ranks. Errors: OUT_OF_MEMORY. */
weft_result weft__deaths_take(weft_shard *shard, const weft__bytes *gids);
/* Ends the residues; relations see these deaths, and those of stubs, which may make new residues.
 * Errors: OUT_OF_MEMORY. */
weft_result weft__deaths_settle(weft_shard *shard);
/* Ends stubs that no ENTITY field leads to, where there are many more than after the last time.
 * Errors: OUT_OF_MEMORY. */
weft_result weft__stubs_sweep(weft_shard *shard);

/* Puts the rows of all blocks into the world. The blocks' bytes must stay meanwhile. entities[row]
 * of all rows: null before; what was made when it fails, or a stub of the gid. Errors: those of
 * creating entities, OUT_OF_MEMORY. Cost: a copy of the values; blocks are best sorted by
 * sector. */
weft_result weft__arrivals_place(weft_shard *shard, const weft__block *blocks, uint32_t count,
                                 weft_entity *entities);
