/* SPDX-License-Identifier: MIT */
/* sparse_quick.h: single rows of SPARSE components whose values are plain bytes come, go and are
 * set, where nothing has to be made: inline, for the calls of users. sparse.c has the rest.
 *
 * Additions take rows that are ready (ready_rows.h). Functions around these call others at their
 * end only, so that they save no register. Owner, world idle, so every load and store of a shared
 * word is relaxed. `entity`: weft__entity_bits; may be dead. */
#ifndef WEFT_SPARSE_QUICK_H
#define WEFT_SPARSE_QUICK_H

#include "column_map.h"
#include "ready_rows.h"
#include "sparse.h"

#include <string.h>

#define LIKELY(x) __builtin_expect(x, 1)
#define UNLIKELY(x) __builtin_expect(x, 0)

/* The slot in a block of a table as weft__sparse.blocks; NULL: there is no block. */
static inline weft_a64 *weft__sparse_slot_at(weft__entity_block *const *blocks, uint64_t entity)
{
    weft__entity_block *block = blocks[(uint32_t)entity / WEFT__BLOCK_SLOTS];
    if (UNLIKELY(block == NULL)) return NULL;
    return &block->x_slots[(uint32_t)entity % WEFT__BLOCK_SLOTS];
}

/* Whether the entity is alive and has a row. False also where that is not seen quickly. */
static inline bool weft__sparse_is_alive(const weft_world *world, uint64_t entity)
{
    weft__entity_block *const *seen = world->front.maps.seen;
    if (UNLIKELY(seen == NULL)) return false;
    const weft_a64 *x_own = weft__sparse_slot_at(seen, entity);
    if (UNLIKELY(x_own == NULL)) return false;
    uint64_t own = at_load_rlx(x_own); /* relaxed: idle */
    if (UNLIKELY((own ^ entity) >> 32 != 0)) return false;
    return LIKELY((uint32_t)own != 0);
}

/* The chunk whose next row is ready; NULL: there is none. */
static inline weft__chunk *weft__sparse_chunk_ready(const weft_world *world,
                                                    const weft__sparse *sparse)
{
    weft__chunk *chunk = sparse->tuple->room;
    if (UNLIKELY(chunk == NULL) || UNLIKELY(!weft__row_is_ready(world, chunk))) return NULL;
    return chunk;
}

/* The next row, which is ready, is the entity's, whose slot this is, empty. */
static inline void weft__sparse_row_enter(weft_world *world, weft__chunk *chunk, weft_a64 *x_slot,
                                          uint64_t entity)
{
    uint32_t location = weft__location(chunk, chunk->count);
    at_store_rlx(x_slot, entity >> 32 << 32 | location); /* relaxed: idle */
    weft__row_ready_enter(world, chunk, entity);
}

/* The chunk and location that a slot leads to; NULL: the entity has none. */
static inline weft__chunk *weft__sparse_chunk_of(const weft_world *world, const weft_a64 *x_slot,
                                                 uint64_t entity, uint32_t *location)
{
    *location = 0;
    if (__builtin_expect(x_slot == NULL, 0)) return NULL;
    uint64_t slot = at_load_rlx(x_slot); /* relaxed: idle */
    if (UNLIKELY((slot ^ entity) >> 32 != 0) || UNLIKELY((uint32_t)slot == 0)) return NULL;
    *location = (uint32_t)slot;
    return world->berths.at[(uint32_t)slot >> WEFT__BERTH_SHIFT].chunk;
}

/* Writes a value. OK, for a call at the end. */
static inline weft_result weft__sparse_value_put(char *to, const void *value, size_t bytes)
{
    if (bytes == 4) { /* one store: they are what limits additions in order */
        memcpy(to, value, 4);
        return WEFT_OK;
    }
    if (__builtin_expect(bytes - 4 > 12, 0)) return weft__sparse_value_put_long(to, value, bytes);
    weft__value_copy(to, value, bytes);
    return WEFT_OK;
}

/* Whether row `last` of `tail`, its last one, may take the place of a row by copying bytes: it is
 * not the only one of its chunk, and the slices of both have one version. */
static inline bool weft__sparse_may_fill(const weft__sparse *sparse, const weft__chunk *chunk,
                                         uint32_t row, const weft__chunk *tail, uint32_t last)
{
    if (UNLIKELY(last == 0)) return false;
    uint32_t shift = sparse->slice_shift;
    uint32_t version = at_load_rlx(&chunk->x_versions[row >> shift]);        /* relaxed: idle */
    return LIKELY(version == at_load_rlx(&tail->x_versions[last >> shift])); /* relaxed: idle */
}

/* A row of `chunk` goes, and the last one of `tail`, row `last`, takes its place. */
static inline void weft__sparse_row_leave(weft_world *world, weft__chunk *chunk, weft__chunk *tail,
                                          uint32_t last)
{
    chunk->order_version = world->front.version;
    tail->count = last;
    weft__chunk_count_plain(world, tail, -1);
}

#endif
