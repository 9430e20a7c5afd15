/* SPDX-License-Identifier: MIT */
/* sparse_quick.h: single rows of SPARSE components whose values are plain bytes come, go and are
 * set, where nothing has to be made: inline, for the calls of users. sparse.c has the rest.
 *
 * Calls come last and nothing lives beyond them, so that the functions around these save no
 * register. Owner, world idle, so every load and store of a shared word is relaxed. `entity`:
 * weft__entity_bits; may be dead, not a residue. False: it is otherwise, and nothing was done. */
#ifndef WEFT_SPARSE_QUICK_H
#define WEFT_SPARSE_QUICK_H

#include "row_move.h"
#include "sparse.h"

#include <string.h>

/* Writes the value of a row, NULL: zeroes. True. */
static inline bool weft__sparse_value_put(const weft__chunk *chunk, uint32_t row, const void *value)
{
    size_t bytes = chunk->layout->columns[1].bytes;
    char *to = weft__chunk_value(chunk, 1, row);
    if (bytes == 4) { /* one store: they are what limits additions in order */
        uint32_t word = 0;
        if (value != NULL) memcpy(&word, value, sizeof word);
        memcpy(to, &word, sizeof word);
        return true;
    }
    if (__builtin_expect(bytes - 4 > 12, 0)) return weft__sparse_value_put_long(to, value, bytes);
    if (value == NULL)
        weft__value_zero(to, bytes);
    else
        weft__value_copy(to, value, bytes);
    return true;
}

/* The chunk that has a next row for plain bytes; NULL: it needs more than that. */
static inline weft__chunk *weft__sparse_chunk_with_room(const weft__sparse *sparse)
{
    const weft__archetype *archetype = sparse->archetype;
    if (archetype == NULL || (archetype->flags & WEFT__IS_SPECIAL) != 0) return NULL;
    weft__chunk *chunk = archetype->tuple0->room;
    /* the first row, and the last one, change lists of the archetype */
    return chunk == NULL || chunk->count == 0 || chunk->count + 1 == chunk->capacity ? NULL : chunk;
}

/* `value`: NULL: zeroes, and true also when the entity has the component. */
static inline __attribute__((always_inline)) bool weft__sparse_add_quickly(weft_world *world,
                                                                           const weft__type *type,
                                                                           uint64_t entity,
                                                                           const void *value)
{
    uint32_t index = (uint32_t)entity, version = world->front.version;
    const weft__sparse *sparse = type->sparse;
    const weft_a64 *x_own = weft__directory_slot(&world->directory, index);
    uint64_t own = x_own == NULL ? 0 : at_load_rlx(x_own); /* relaxed: the world is idle */
    if ((own ^ entity) >> 32 != 0 || (uint32_t)own == 0) return false; /* dead, or not placed */
    weft__entity_block *block = sparse->blocks[index / WEFT__BLOCK_SLOTS];
    weft__chunk *chunk = weft__sparse_chunk_with_room(sparse);
    if (__builtin_expect(block == NULL || chunk == NULL, 0)) return false;
    weft_a64 *x_slot = &block->x_slots[index % WEFT__BLOCK_SLOTS];
    if (at_load_rlx(x_slot) != 0) return value == NULL; /* relaxed: idle; it has one */
    uint32_t row = chunk->count, slice = row >> chunk->layout->slice_shift;
    if (!weft__slice_is_stamped(chunk, slice, version)) {
        weft__stamp(&weft__chunk_versions(chunk, 0)[slice], version);
        chunk->stamped_slice = slice;
        chunk->stamped_version = version;
    }
    chunk->count = row + 1;
    weft__chunk_count_plain(world, chunk, 1);
    memcpy(&weft__chunk_entities(chunk)[row], &entity, sizeof entity);
    /* relaxed: idle */
    at_store_rlx(x_slot, entity >> 32 << 32 | weft__location(chunk, row));
    bool is_written = chunk->layout->column_count > 1 && (value != NULL || !chunk->is_zero);
    return is_written ? weft__sparse_value_put(chunk, row, value) : true;
}

/* `value` is not NULL, and the type has no destruct hook. */
static inline bool weft__sparse_set_quickly(weft_world *world, const weft__type *type,
                                            uint64_t entity, const void *value)
{
    const weft_entity handle = {(uint32_t)entity, (uint32_t)(entity >> 32)};
    uint32_t row;
    weft__chunk *chunk = weft__sparse_find(world, type, handle, &row);
    if (chunk == NULL) return weft__sparse_add_quickly(world, type, entity, value);
    weft__stamp(&weft__chunk_versions(chunk, 0)[row >> chunk->layout->slice_shift],
                world->front.version);
    return weft__sparse_value_put(chunk, row, value);
}

static inline bool weft__sparse_remove_quickly(weft_world *world, const weft__type *type,
                                               uint64_t entity)
{
    const weft__sparse *sparse = type->sparse;
    uint32_t index = (uint32_t)entity;
    weft__entity_block *block = sparse->blocks[index / WEFT__BLOCK_SLOTS];
    if (__builtin_expect(block == NULL || type->needs_destruct, 0)) return false;
    weft_a64 *x_slot = &block->x_slots[index % WEFT__BLOCK_SLOTS];
    uint64_t slot = at_load_rlx(x_slot); /* relaxed: the world is idle */
    uint32_t location = (uint32_t)slot;
    if (__builtin_expect((slot ^ entity) >> 32 != 0 || location == 0, 0)) return false;
    weft__chunk *chunk = world->berths.at[location >> WEFT__BERTH_SHIFT].chunk;
    uint32_t row = location - chunk->location, last = chunk->count - 1;
    uint32_t shift = chunk->layout->slice_shift;
    /* a full chunk, or one row */
    if (__builtin_expect(last - 1 >= chunk->capacity - 2, 0)) return false;
    if (row >> shift != last >> shift && !weft__slices_agree(chunk, row >> shift, last >> shift))
        return false;
    at_store_rlx(x_slot, 0); /* relaxed: idle */
    chunk->count = last;
    weft__chunk_soil(chunk);
    weft__chunk_count_plain(world, chunk, -1);
    if (row == last) return true;
    uint64_t moved;
    memcpy(&moved, &weft__chunk_entities(chunk)[last], sizeof moved);
    memcpy(&weft__chunk_entities(chunk)[row], &moved, sizeof moved);
    block = sparse->blocks[(uint32_t)moved / WEFT__BLOCK_SLOTS];
    /* relaxed: idle */
    at_store_rlx(&block->x_slots[(uint32_t)moved % WEFT__BLOCK_SLOTS],
                 moved >> 32 << 32 | location);
    return chunk->layout->column_count < 2 ||
           weft__sparse_value_put(chunk, row, weft__chunk_value(chunk, 1, last));
}

#endif
