/* SPDX-License-Identifier: MIT */
/* compact.c: merging of under-filled chunks, within a budget of moved rows, and return of empty
 * memory. Per tuple the emptiest chunk is moved into the room of the fuller ones as long as it
 * fits, or is much smaller than a chunk that the tuple would get now; a budget that ends in the
 * middle is taken up by the next call. Owner, world idle. */
#include "archetype.h"
#include "row_moves.h"

#include <stdlib.h>
#include <string.h>

static int fill_compare(const void *a, const void *b)
{
    const weft__chunk *x = *(weft__chunk *const *)a, *y = *(weft__chunk *const *)b;
    if (x->tuple != y->tuple) return x->tuple->first < y->tuple->first ? -1 : 1;
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

/* Moves the last `count` rows of a chunk into the room of others of its tuple, or into new
 * chunks as large as the tuple would grow by; *made gets the rows that fit these. */
static bool rows_merge(weft_world *world, weft__chunk *chunk, uint32_t count, uint64_t *made)
{
    weft__change_part part = weft__change_run(chunk, chunk->count - count, count);
    weft__change change = {.world = world, .moves_whole = true, .parts = {&part, 1, 0}};
    const weft__plan *plan = weft__plan_obtain(world, chunk->archetype, chunk->archetype);
    if (plan == NULL) return false;
    chunk->tuple->holders++;
    weft__change_route(&change, &part, plan, chunk->tuple);
    weft__chunk_room_remove(chunk);
    bool is_reserved = weft__change_prepare(&change) == WEFT_OK;
    if (is_reserved)
        weft__change_apply(&change);
    else
        weft__chunk_room_update(chunk);
    for (uint32_t i = 0; i < change.pieces.count; i++)
        if (change.pieces.at[i].row == 0) *made += change.pieces.at[i].chunk->capacity;
    weft__change_fini(&change);
    return is_reserved;
}

/* Chunks that are much smaller than those the tuple would grow by: many of them come together when
 * rows get the same shared value again. */
static bool is_undersized(const weft__chunk *chunk)
{
    return (uint64_t)chunk->capacity * 4 <= weft__growth_capacity(chunk->tuple);
}

/* The chunks of one tuple, emptiest first. Returns rows moved. */
static uint64_t group_compact(weft_world *world, weft__chunk **chunks, uint32_t count,
                              uint64_t budget)
{
    uint64_t room = 0, moved = 0;
    for (uint32_t i = 0; i < count; i++) {
        weft__chunk_room_remove(chunks[i]); /* in again, so that the fullest is used first */
        weft__chunk_room_update(chunks[i]);
        room += chunks[i]->capacity - chunks[i]->count;
    }
    for (uint32_t i = 0; i + 1 < count && moved < budget; i++) {
        room -= chunks[i]->capacity - chunks[i]->count;
        uint32_t rows = chunks[i]->count;
        if (rows > room && !is_undersized(chunks[i])) {
            room += chunks[i]->capacity - rows;
            continue;
        }
        if (rows > budget - moved) rows = (uint32_t)(budget - moved);
        uint64_t made = 0;
        if (!rows_merge(world, chunks[i], rows, &made)) break;
        moved += rows;
        room += made - rows;
    }
    return moved;
}

static uint64_t archetype_compact(weft_world *world, weft__archetype *archetype, uint64_t budget)
{
    uint32_t count = archetype->chunk_count;
    if (count < 2) return 0;
    weft__chunk **chunks = WEFT__NEW(&world->memory, WEFT__MEMORY_COMMANDS, count, *chunks);
    if (chunks == NULL) return 0;
    memcpy(chunks, archetype->chunks, count * sizeof *chunks);
    for (uint32_t i = count; i-- > 0;) chunks[i]->tuple->first = i;
    qsort(chunks, count, sizeof *chunks, fill_compare);
    uint64_t moved = 0;
    for (uint32_t i = 0, end; i < count && moved < budget; i = end) {
        const weft__tuple *tuple = chunks[i]->tuple;
        for (end = i + 1; end < count && chunks[end]->tuple == tuple;) end++;
        moved += group_compact(world, chunks + i, end - i, budget - moved);
    }
    WEFT__FREE(&world->memory, WEFT__MEMORY_COMMANDS, chunks, count);
    return moved;
}

uint64_t weft_world_compact(weft_world *world, uint64_t row_budget)
{
    if (world == NULL || weft__idle(world, "weft_world_compact") != WEFT_OK) return 0;
    uint64_t moved = 0;
    for (uint32_t i = 0; i < world->archetypes.count && moved < row_budget; i++)
        if ((world->archetypes.at[i]->flags & WEFT__IS_SPARSE) == 0)
            moved += archetype_compact(world, world->archetypes.at[i], row_budget - moved);
    weft__chunk_spares_free(world);
    weft__archetypes_trim(world);
    weft__units_trim(&world->units, 0);
    return moved;
}
