/* SPDX-License-Identifier: MIT */
/* inspect.c: where entities are stored and what archetypes take, for tools. Reads only; the figures
 * are those of the chunks, nothing is counted on the way. Owner. */
#include "format.h"
#include "world_state.h"

#include "archetype.h"
#include "entity_value.h"
#include "error.h"
#include "sized.h"

weft_result weft_entity_place_get(const weft_world *world, weft_entity entity,
                                  weft_entity_place *out, size_t out_bytes)
{
    if (out != NULL && out_bytes != 0) memset(out, 0, out_bytes);
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL)
        return weft__error_argument(world, "weft_entity_place_get",
                                    "out is NULL: give the address of a weft_entity_place");
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    weft_entity_place place = {.archetype = weft__archetype_give(world, chunk->archetype),
                               .chunk = chunk->list_index,
                               .row = row,
                               .chunk_rows = chunk->count,
                               .chunk_capacity = chunk->capacity};
    weft__sized_fill(out, out_bytes, &place, sizeof place);
    return WEFT_OK;
}

weft_archetype weft_archetype_at(const weft_world *world, uint32_t index)
{
    bool is_there = world != NULL && index < world->archetypes.count;
    return is_there ? weft__archetype_give(world, world->archetypes.at[index])
                    : (weft_archetype){0};
}

/* Tuples with chunks. */
static uint32_t tuples_used(const weft__archetype *archetype)
{
    uint32_t used = archetype->tuple0->chunk_count != 0;
    for (uint32_t i = 0; archetype->tuples != NULL && i <= archetype->tuple_mask; i++)
        for (const weft__tuple *tuple = archetype->tuples[i]; tuple != NULL; tuple = tuple->next)
            used += tuple->chunk_count != 0;
    return used;
}

weft_result weft_archetype_stats_get(const weft_world *world, weft_archetype handle,
                                     weft_archetype_stats *out, size_t out_bytes)
{
    if (out != NULL && out_bytes != 0) memset(out, 0, out_bytes);
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL)
        return weft__error_argument(world, "weft_archetype_stats_get",
                                    "out is NULL: give the address of a weft_archetype_stats");
    const weft__archetype *archetype = weft__archetype_at(world, handle);
    if (archetype == NULL) return WEFT_BAD_HANDLE;
    weft_archetype_stats stats = {.entities = archetype->entity_count,
                                  .chunks = archetype->chunk_count,
                                  .tuples = tuples_used(archetype),
                                  .row_bytes = archetype->format->row_bytes};
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        stats.capacity += chunk->capacity;
        stats.bytes += weft__class_bytes(chunk->layout->size_class);
        bool is_own_side = weft__chunk_side(chunk) == chunk->own_side;
        stats.bytes_metadata += sizeof *chunk + (is_own_side ? 0 : chunk->side_bytes);
    }
    stats.bytes_used = stats.entities * stats.row_bytes;
    stats.bytes_wasted = stats.bytes - stats.bytes_used;
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
    return WEFT_OK;
}

uint32_t weft_archetype_occupancy(const weft_world *world, weft_archetype handle, uint32_t *bands,
                                  uint32_t count)
{
    const weft__archetype *archetype = world == NULL ? NULL : weft__archetype_at(world, handle);
    if (archetype == NULL || bands == NULL || count == 0) return 0;
    memset(bands, 0, count * sizeof bands[0]);
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        uint64_t band = (uint64_t)chunk->count * count / chunk->capacity;
        bands[band < count ? band : count - 1]++;
    }
    return archetype->chunk_count;
}
