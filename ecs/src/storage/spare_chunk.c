/* SPDX-License-Identifier: MIT */
/* spare_chunk.c: keeping the youngest spare chunks: a ring of them, from which the oldest goes.
 *
 * A spare is always of its archetype's first tuple, which never ends, and of less than a unit. */
#include "spare_chunk.h"

#include <string.h>

/* The chunk takes the place of a spare of another size: populations that come and go keep what they
 * began with. Returns the one that goes. */
static weft__chunk *spare_replace(weft_world *world, weft__chunk *chunk)
{
    weft__chunk *spare = chunk->archetype->spare;
    if (spare->layout == chunk->layout) return chunk;
    chunk->id = spare->id;
    world->spares.ring[chunk->id % WEFT__SPARES] = chunk->archetype->spare = chunk;
    return spare;
}

weft__chunk *weft__spare_keep(weft_world *world, weft__chunk *chunk)
{
    weft__archetype *archetype = chunk->archetype;
    bool is_small = chunk->layout->size_class < WEFT__UNIT_CLASS;
    if (!is_small || chunk->tuple != archetype->tuple0) return chunk;
    if (archetype->spare != NULL) return spare_replace(world, chunk);
    uint32_t number = world->spares.next++;
    weft__chunk *oldest = world->spares.ring[number % WEFT__SPARES];
    if (oldest != NULL) weft__spare_leave(world, oldest);
    world->spares.ring[number % WEFT__SPARES] = archetype->spare = chunk;
    world->spares.count++;
    chunk->id = number;
    return oldest;
}

void weft__spare_forget(weft__chunk *chunk)
{
    if (chunk->side_bytes != 0) memset(weft__chunk_side(chunk), 0, chunk->side_bytes);
    weft__chunk_soil(chunk);
    chunk->stamped_version = chunk->ready_version = chunk->order_version = 0;
}

weft__chunk *weft__spare_take(weft_world *world, weft__tuple *tuple, uint32_t size_class)
{
    weft__chunk *chunk = tuple->archetype->spare;
    if (chunk == NULL || tuple != tuple->archetype->tuple0 ||
        chunk->layout->size_class != size_class)
        return NULL;
    weft__spare_leave(world, chunk);
    weft__spare_forget(chunk);
    return chunk;
}

weft__chunk *weft__spare_drop(weft_world *world)
{
    if (world->spares.count == 0) return NULL;
    uint32_t i = 0;
    while (world->spares.ring[i] == NULL) i++;
    weft__chunk *chunk = world->spares.ring[i];
    weft__spare_leave(world, chunk);
    return chunk;
}

void weft__spares_forget_versions(weft_world *world)
{
    for (uint32_t i = 0; i < WEFT__SPARES; i++) {
        weft__chunk *chunk = world->spares.ring[i];
        if (chunk != NULL) chunk->stamped_version = chunk->ready_version = 0;
    }
}
