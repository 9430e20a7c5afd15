/* SPDX-License-Identifier: MIT */
/* sparse_quick.h: single rows of SPARSE components whose values are plain bytes come, go and are
 * set, where nothing has to be made: inline, for the calls of users. sparse.c has the rest.
 *
 * Additions take rows that are ready (structure.h). Functions around these call others at their
 * end only, so that they save no register. Owner, world idle, so every load and store of a shared
 * word is relaxed. `entity`: weft__entity_bits; may be dead. */
#pragma once

#include "column_map.h"
#include "sparse.h"
#include "structure.h"

#include <string.h>

/* The slot of an entity whose block is there, of a table as weft__sparse.blocks. */
static inline weft_a64 *weft__sparse_slot_in(weft__entity_block *const *blocks, uint64_t entity)
{
    weft__entity_block *block = blocks[(uint32_t)entity / WEFT__BLOCK_SLOTS];
    return &block->x_slots[(uint32_t)entity % WEFT__BLOCK_SLOTS];
}

/* The same of any entity; NULL: there is no block. */
static inline weft_a64 *weft__sparse_slot_at(weft__entity_block *const *blocks, uint64_t entity)
{
    if (__builtin_expect(blocks[(uint32_t)entity / WEFT__BLOCK_SLOTS] == NULL, 0)) return NULL;
    return weft__sparse_slot_in(blocks, entity);
}

/* Whether the entity is alive and has a row. False also where that is not seen quickly. */
static inline bool weft__sparse_is_alive(const weft_world *world, uint64_t entity)
{
    weft__entity_block *const *seen = world->front.maps.seen;
    if (__builtin_expect(seen == NULL, 0)) return false;
    const weft_a64 *x_own = weft__sparse_slot_at(seen, entity);
    if (__builtin_expect(x_own == NULL, 0)) return false;
    uint64_t own = at_load_rlx(x_own); /* relaxed: idle */
    if (__builtin_expect((own ^ entity) >> 32 != 0, 0)) return false;
    return __builtin_expect((uint32_t)own != 0, 1);
}

/* The chunk whose next row is ready; NULL: there is none. */
static inline weft__chunk *weft__sparse_chunk_ready(const weft_world *world,
                                                    const weft__sparse *sparse)
{
    weft__chunk *chunk = sparse->tuple->room;
    return chunk != NULL && weft__row_is_ready(world, chunk) ? chunk : NULL;
}

/* The next row, which is ready, is the entity's, whose slot this is, empty. */
static inline void weft__sparse_row_enter(weft_world *world, weft__chunk *chunk, weft_a64 *x_slot,
                                          uint64_t entity)
{
    uint32_t location = weft__location(chunk, chunk->count);
    at_store_rlx(x_slot, entity >> 32 << 32 | location); /* relaxed: idle */
    weft__row_ready_enter(world, chunk, entity);
}

/* The location that a slot leads to; 0: the entity has none. */
static inline uint32_t weft__sparse_location(const weft_a64 *x_slot, uint64_t entity)
{
    if (__builtin_expect(x_slot == NULL, 0)) return 0;
    uint64_t slot = at_load_rlx(x_slot); /* relaxed: idle */
    return __builtin_expect((slot ^ entity) >> 32 == 0, 1) ? (uint32_t)slot : 0;
}

/* The chunk of a location that is in use. */
static inline weft__chunk *weft__sparse_chunk(const weft_world *world, uint32_t location)
{
    return world->berths.at[location >> WEFT__BERTH_SHIFT].chunk;
}

/* Whether rows of a chunk are ready, or would be without being zeroed: in one load. */
static inline bool weft__sparse_may_be_ready(const weft__chunk *chunk)
{
    uint64_t both;
    _Static_assert(offsetof(weft__chunk, is_zero) == offsetof(weft__chunk, ready_end) + 4, "");
    memcpy(&both, (const char *)chunk + offsetof(weft__chunk, ready_end), sizeof both);
    return both != 0;
}

/* A row of `chunk` goes, and the last one of `tail`, row `last`, takes its place. */
static inline void weft__sparse_row_leave(weft_world *world, weft__chunk *chunk, weft__chunk *tail,
                                          uint32_t last)
{
    chunk->order_version = world->front.version;
    tail->count = last;
    weft__chunk_count_plain(world, tail, -1);
}
