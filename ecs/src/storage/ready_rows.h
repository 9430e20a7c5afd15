/* SPDX-License-Identifier: MIT */
/* ready_rows.h: rows beyond the last one that single births take as they are: zeroed and stamped
 * some at a time (chunk_state.h, ready_end). Owner, world idle; no archetype whose births are more
 * than bytes. */
#ifndef WEFT_READY_ROWS_H
#define WEFT_READY_ROWS_H

#include "error.h"
#include "format.h"
#include "structure.h"
#include "world_state.h"

#include <string.h>

/* Entities may be created, and the handle is one. */
static inline bool weft__may_create(const weft_world *world, weft_archetype handle)
{
    return __builtin_expect(world != NULL, 1) && weft__is_idle(world) &&
           __builtin_expect(weft__archetype_is(world, handle), 1);
}

/* The first chunk with room of the archetype; NULL: none, or it must not be used. */
static inline weft__chunk *weft__chunk_for_one(const weft_world *world, weft_archetype handle)
{
    if (!weft__may_create(world, handle)) return NULL;
    return world->archetypes.by_id[handle.id - 1]->tuple0->room;
}

/* Zeroes the rows [row, end). */
static inline void weft__rows_zero(const weft__chunk *chunk, uint32_t row, uint32_t end)
{
    for (uint32_t column = 1; column < chunk->layout->column_count; column++)
        memset(weft__chunk_value(chunk, column, row), 0,
               (size_t)(end - row) * chunk->layout->columns[column].bytes);
}

/* Rows to zero at once, up to the next multiple of a power of two: 16, but at most
 * WEFT__READY_BYTES. */
enum { WEFT__READY_ROWS = 16, WEFT__READY_BYTES = 512 };

/* Makes the next row of a chunk ready, which is not the last one that fits, and the rows behind it
 * with it where that is cheap: to the end of the slice when the chunk is fresh. */
static inline void weft__rows_ready(const weft_world *world, weft__chunk *chunk)
{
    const weft__layout *layout = chunk->layout;
    uint32_t row = chunk->count, slice = row >> layout->slice_shift;
    uint32_t end = (slice + 1) << layout->slice_shift;
    if (end > chunk->capacity - 1) end = chunk->capacity - 1;
    if (!weft__slice_is_stamped(chunk, slice, world->front.version)) {
        for (uint32_t type = 0; type < chunk->archetype->type_count; type++)
            weft__stamp(weft__chunk_versions(chunk, type) + slice, world->front.version);
        chunk->stamped_slice = slice;
        chunk->stamped_version = world->front.version;
    }
    if (!chunk->is_zero) {
        uint32_t run = WEFT__READY_ROWS;
        while (run > 1 && run * chunk->archetype->format->row_bytes > WEFT__READY_BYTES) run /= 2;
        uint32_t run_end = (row | (run - 1)) + 1;
        if (end > run_end) end = run_end;
        if (row < chunk->ready_end) row = chunk->ready_end;
        if (row < end) weft__rows_zero(chunk, row, end);
    }
    chunk->ready_end = end;
    chunk->ready_version = world->front.version;
    chunk->order_version = chunk->archetype->order_version = world->front.version;
}

/* Whether the row behind the last one is ready. */
static inline bool weft__row_is_ready(const weft_world *world, const weft__chunk *chunk)
{
    return chunk->count < chunk->ready_end && chunk->ready_version == world->front.version;
}

/* That row is the one of an entity (weft__entity_bits). The versions are those of now already. */
static inline void weft__row_ready_enter(weft_world *world, weft__chunk *chunk, uint64_t entity)
{
    /* one store of eight bytes: two of four would stall the next load of the handle */
    memcpy(weft__chunk_entities(chunk) + chunk->count, &entity, sizeof entity);
    chunk->count++;
    world->front.structure_version++;
    chunk->archetype->entity_count++;
}

#endif
