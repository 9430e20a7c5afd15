/* SPDX-License-Identifier: MIT */
/* directory_lend.h: whole blocks of the entity directory are lent to a thread that fills or ends
 * all their entities, while the world goes on.
 *
 * In the place of a lent block stands a block that every world has one of: it is full and nothing
 * in it lives, so that allocation passes over it and look-ups find dead handles. The block itself
 * is the borrower's alone until it is put back, which makes all its entities alive, or dead, at
 * once. Handing over and back is ordered by how the borrower is told and tells (stream_crew.h).
 * Owner, world idle. */
#pragma once

#include "directory.h"

/* A block that is out. A value. Always: the block's index has the stand-in. */
typedef struct weft__lent_block {
    weft__entity_block *block;
    uint32_t index;
    uint32_t version; /* that each slot has when it is filled; 0: weft__lent_level was not called */
} weft__lent_block;

/* Blocks that can be lent without making any; those beyond `most` are not counted. */
uint32_t weft__directory_lendable(const weft__directory *directory, uint32_t most);
/* Lends `count` blocks in which nothing lives: the lowest ones, then new ones. All or none. Errors:
 * LIMIT, OUT_OF_MEMORY. */
weft_result weft__directory_lend(weft__directory *directory, uint32_t count, weft__lent_block *out);
/* Lends the block at an index, whatever lives in it: it is dead for the world from now on. The
 * stand-in must be there: a block was lent before. */
weft__lent_block weft__directory_withdraw(weft__directory *directory, uint32_t index);
/* Puts a block back, as it is now. One that entities live in is not lent again before it was
 * withdrawn, or left. */
void weft__directory_put_back(weft__directory *directory, const weft__lent_block *lent);
/* A block that was put back is one like others again: its section leaves without it. */
void weft__directory_leave(weft__directory *directory, uint32_t index);

/* ---- the borrower: any thread ---- */

/* Finds a version that is new for all slots of a block in which nothing lives, so that handles are
 * known without a look at their slots. Before all below but weft__lent_kill; one thread. */
void weft__lent_level(weft__lent_block *lent);
/* Brings slots [slot, slot + count) of a lent block, which are dead, to life at locations
 * location, ...; writes the handles. The block's books are not touched. */
void weft__lent_fill(const weft__directory *directory, const weft__lent_block *lent, uint32_t slot,
                     uint32_t count, uint32_t location, weft_entity *out);
/* Makes the books of a block in which exactly the first `count` slots live. One thread. */
void weft__lent_settle(weft__entity_block *block, uint32_t count);
/* The handle that slot `slot` has when it is filled, before and after. */
static inline weft_entity weft__lent_handle(const weft__directory *directory,
                                            const weft__lent_block *lent, uint32_t slot)
{
    return (weft_entity){(lent->index * WEFT__BLOCK_SLOTS + slot) ^ directory->tag_bits,
                         lent->version};
}
/* Ends every entity of a block that had no retired slot, as weft__directory_free_owner would. One
 * thread. */
void weft__lent_kill(weft__entity_block *block);
