/* SPDX-License-Identifier: MIT */
/* side_memory.c: where the parts of side memory are, and whether it is a block or in the chunk:
 * what fits is, and has no chunk values. */
#include "side_memory.h"

#include "bits.h"

#include <string.h>

/* Byte offsets of the parts of side memory. A value. Always: values <= disabled <= versions <=
 * counts <= bytes. */
typedef struct side_map {
    size_t values; /* 64-aligned, first */
    size_t disabled;
    size_t versions;
    size_t counts;
    size_t bytes;
} side_map;

static side_map side_map_of(const weft__archetype *archetype, const weft__layout *layout)
{
    side_map map = {0};
    map.disabled = bits_align_up(archetype->chunk_value_bytes, 8);
    map.versions =
        map.disabled + (size_t)archetype->enableable_count * layout->mask_words * sizeof(weft_a64);
    map.counts =
        map.versions + (size_t)archetype->type_count * layout->slice_count * sizeof(weft_a32);
    map.bytes =
        map.counts + (size_t)archetype->enableable_count * layout->slice_count * sizeof(weft_a32);
    return map;
}

static size_t side_alignment(bool has_chunk_values)
{
    return has_chunk_values ? 64 : 8;
}

/* Where the parts are in a block. */
static weft__side side_at(char *block, const weft__archetype *archetype, const side_map *map)
{
    return (weft__side){.block = block,
                        .chunk_values = archetype->chunk_value_bytes != 0 ? block : NULL,
                        .x_disabled = (weft_a64 *)(void *)(block + map->disabled),
                        .x_versions = (weft_a32 *)(void *)(block + map->versions),
                        .x_disabled_counts = (weft_a32 *)(void *)(block + map->counts),
                        .bytes = (uint32_t)map->bytes};
}

bool weft__side_allocate(weft__memory *memory, const weft__archetype *archetype,
                         const weft__layout *layout, weft__side *out)
{
    side_map map = side_map_of(archetype, layout);
    *out = (weft__side){0};
    if (map.bytes == 0) return true;
    char *block = weft__alloc_zeroed(memory, WEFT__MEMORY_METADATA, map.bytes, 1,
                                     side_alignment(archetype->chunk_value_bytes != 0));
    if (block != NULL) *out = side_at(block, archetype, &map);
    return block != NULL;
}

void weft__side_free(weft__memory *memory, const weft__side *side)
{
    weft__free(memory, WEFT__MEMORY_METADATA, side->block, side->bytes, 1,
               side_alignment(side->chunk_values != NULL));
}

static void side_install(weft__chunk *chunk, const weft__side *side)
{
    chunk->side_bytes = side->bytes;
    chunk->chunk_values = side->chunk_values;
    chunk->x_disabled = side->x_disabled;
    chunk->x_versions = side->x_versions;
    chunk->x_disabled_counts = side->x_disabled_counts;
}

/* Side memory of a size lies within the chunk. */
static bool is_own_side(const weft__archetype *archetype, size_t bytes)
{
    return archetype->chunk_value_bytes == 0 && bytes <= WEFT__OWN_SIDE;
}

bool weft__side_begin(weft__memory *memory, weft__chunk *chunk)
{
    side_map map = side_map_of(chunk->archetype, chunk->layout);
    weft__side side = side_at(chunk->own_side, chunk->archetype, &map);
    if (!is_own_side(chunk->archetype, map.bytes) &&
        !weft__side_allocate(memory, chunk->archetype, chunk->layout, &side))
        return false;
    side_install(chunk, &side);
    return true;
}

void weft__side_end(weft__memory *memory, const weft__chunk *chunk)
{
    weft__side side = {.block = weft__chunk_side(chunk),
                       .chunk_values = chunk->chunk_values,
                       .bytes = chunk->side_bytes};
    if (side.block != chunk->own_side) weft__side_free(memory, &side);
}

void weft__side_put(weft__memory *memory, weft__chunk *chunk, const weft__archetype *archetype,
                    const weft__layout *layout, const weft__side *side)
{
    side_map map = side_map_of(archetype, layout);
    if (!is_own_side(archetype, map.bytes)) {
        side_install(chunk, side);
        return;
    }
    if (map.bytes != 0) memcpy(chunk->own_side, side->block, map.bytes);
    weft__side_free(memory, side);
    weft__side own = side_at(chunk->own_side, archetype, &map);
    side_install(chunk, &own);
}

void weft__side_replace(weft__memory *memory, weft__chunk *chunk, const weft__archetype *archetype,
                        const weft__layout *layout, const weft__side *side)
{
    weft__side_end(memory, chunk);
    weft__side_put(memory, chunk, archetype, layout, side);
}

bool weft__side_check(const weft__chunk *chunk)
{
    const char *block = weft__chunk_side(chunk), *versions = (const char *)chunk->x_versions;
    if (chunk->side_bytes == 0) return true;
    return (block == chunk->own_side) == is_own_side(chunk->archetype, chunk->side_bytes) &&
           versions >= block && versions < block + chunk->side_bytes;
}
