/* SPDX-License-Identifier: MIT */
/* spare_chunk.c: keeping the youngest spare chunks: a ring of them, from which the oldest goes.
 *
 * A spare is always of its archetype's first tuple, which never ends, and of less than a unit. */
#include "spare_chunk.h"

#include "chunk.h"

#include <string.h>

static void spare_free(weft_world *world, weft__chunk *chunk)
{
    chunk->archetype->spare = NULL;
    world->spares.count--;
    weft__chunk_memory_free(world, chunk);
    weft__chunk_free(&world->memory, chunk);
}

bool weft__spare_keep(weft_world *world, weft__chunk *chunk)
{
    weft__archetype *archetype = chunk->archetype;
    bool is_small = chunk->unit_count == 0 && chunk->base != NULL;
    if (!is_small || chunk->tuple != archetype->tuple0 || archetype->spare != NULL) return false;
    weft__chunk **place = &world->spares.ring[world->spares.next++ % WEFT__SPARES];
    if (*place != NULL) spare_free(world, *place);
    *place = archetype->spare = chunk;
    chunk->id = world->spares.next - 1; /* its number in the ring */
    world->spares.count++;
    return true;
}

weft__chunk *weft__spare_take(weft_world *world, weft__tuple *tuple, uint32_t size_class)
{
    weft__chunk *chunk = tuple->archetype->spare;
    if (chunk == NULL || tuple != tuple->archetype->tuple0 ||
        chunk->layout->size_class != size_class)
        return NULL;
    tuple->archetype->spare = NULL;
    world->spares.ring[chunk->id % WEFT__SPARES] = NULL;
    world->spares.count--;
    if (chunk->side_bytes != 0) memset(chunk->side, 0, chunk->side_bytes);
    weft__chunk_soil(chunk);
    chunk->stamped_version = chunk->ready_version = chunk->order_version = 0;
    chunk->id = 0;
    return chunk;
}

bool weft__spares_free(weft_world *world)
{
    bool has_any = world->spares.count != 0;
    for (uint32_t i = 0; i < WEFT__SPARES; i++) {
        if (world->spares.ring[i] == NULL) continue;
        spare_free(world, world->spares.ring[i]);
        world->spares.ring[i] = NULL;
    }
    return has_any;
}
