/* SPDX-License-Identifier: MIT */
/* directory_outside.h: ids for rows that recorders outside of systems make, on any thread, while
 * the owner works with the world.
 *
 * The owner's functions take no lock and count on the room that they have found. So these ids come
 * from blocks of their own: x_count of such a block is that of a full one for ever, and all that
 * allocates passes over it. A thread reserves slots there, which are free for all others to see,
 * until playback settles them: then the handles that it got are alive. A lock guards the books of
 * these blocks; entities that die there are the owner's only reason to take it.
 *
 * Edges:
 * U1  the lock (lock.h): `used` of these blocks, their books, and the chain
 * D3  a block is made as any other (directory.c), with the lock: who has seen the end pass it and
 *     takes the lock finds it in the chain */
#ifndef WEFT_DIRECTORY_OUTSIDE_H
#define WEFT_DIRECTORY_OUTSIDE_H

#include "directory.h"

/* A block whose free slots only weft__outside_take gives out. Guarded by the lock of the directory;
 * `block.used` is changed by the owner alone, with the lock. Always: x_count == WEFT__BLOCK_SLOTS;
 * reserved and used have no bit in common; x_alive + x_retired == bits of used; taken == bits of
 * reserved. */
typedef struct weft__outside_block {
    weft__entity_block block;
    struct weft__outside_block *next;
    uint32_t index;
    weft_a32 x_alive; /* statistics read it at any time */
    uint32_t taken;
    uint64_t reserved[WEFT__BLOCK_WORDS];
} weft__outside_block;

/* Reserves `count` slots and writes the handles that they will have. All or none. Errors: LIMIT,
 * OUT_OF_MEMORY. Threads: any. Cost: now and then a look at each of these blocks. */
weft_result weft__outside_take(weft__directory *directory, uint32_t count, weft_entity *out);
/* Gives slots back that were not settled. Null handles are passed over. Threads: any. */
void weft__outside_return(weft__directory *directory, const weft_entity *entities, uint32_t count);
/* Handles that were taken are alive, not placed; others are passed over. Owner. */
void weft__outside_settle(weft__directory *directory, const weft_entity *entities, uint32_t count);

/* Keeps slots from being taken until weft__outside_open: the owner changes versions as it likes.
 * False: some are taken, and nothing is kept. Owner. */
bool weft__outside_close(weft__directory *directory);
void weft__outside_open(weft__directory *directory);

/* ---- for the directory alone ---- */

/* Whether a block that was made is one of these. */
bool weft__outside_has(weft__directory *directory, uint32_t index);

static inline weft__outside_block *weft__outside_of(weft__entity_block *block)
{
    return (weft__outside_block *)(void *)block;
}

/* Adds to the entities that live in a block, with the lock. */
static inline void weft__outside_count(weft__entity_block *block, uint32_t count)
{
    weft_a32 *x_alive = &weft__outside_of(block)->x_alive;
    at_store_rlx(x_alive, at_load_rlx(x_alive) + count); /* relaxed: guarded by the lock (U1) */
}

/* Takes the lock, unless it is closed: then the owner has it. */
void weft__outside_lock(weft__directory *directory);
void weft__outside_unlock(weft__directory *directory);
void weft__outside_fini(weft__directory *directory);
/* NULL when the books of a block are right. */
const char *weft__outside_check(weft__entity_block *block);

#endif
