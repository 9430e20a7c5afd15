/* SPDX-License-Identifier: MIT */
/* spare_chunk.h: small chunks kept when they became empty, for the next row of their archetype.
 *
 * An archetype whose only entity comes and goes would make and free a chunk each time: ten times
 * what a row costs. So the last small chunk of an archetype stays beside it, in no list and
 * without id; the world keeps the WEFT__SPARES youngest ones. They count as memory in use;
 * compaction frees them, and so does a chunk for which there is no memory. Owner, world idle. */
#ifndef WEFT_SPARE_CHUNK_H
#define WEFT_SPARE_CHUNK_H

#include "archetype_state.h"
#include "format.h"
#include "world_state.h"

/* Keeps an unlinked, empty chunk. Returns what is to be freed: it, where it is none to keep, or the
 * oldest one, or NULL. */
weft__chunk *weft__spare_keep(weft_world *world, weft__chunk *chunk);
/* The spare chunk of a tuple, as new but for bytes in its rows; NULL: there is none of this
 * size. */
weft__chunk *weft__spare_take(weft_world *world, weft__tuple *tuple, uint32_t size_class);
/* A spare chunk, which is one no longer; NULL: there is none. */
weft__chunk *weft__spare_drop(weft_world *world);
/* An empty chunk is as new but for bytes in its rows. */
void weft__spare_forget(weft__chunk *chunk);
/* The world goes back in time, and comes to the versions of spare chunks once more. */
void weft__spares_forget_versions(weft_world *world);

/* The spare chunk of a tuple without rows, if one row would get a new chunk like it. Its only slice
 * is stamped with that row, so its side memory and its ready rows may stay as they are. NULL: there
 * is none. */
static inline weft__chunk *weft__spare_for_one(const weft__tuple *tuple)
{
    weft__chunk *chunk = tuple->archetype->spare;
    if (chunk == NULL || tuple->chunk_count != 0 || tuple != tuple->archetype->tuple0) return NULL;
    const weft__layout *layout = chunk->layout;
    WEFT_ASSERT(layout->slice_count == 1); /* format.c: the slices of long chunks have 64 rows */
    bool is_of_size = layout->size_class == tuple->archetype->format->smallest_class;
    return is_of_size && layout->capacity != 1 && chunk->chunk_values == NULL ? chunk : NULL;
}

/* The spare chunk is one no longer. */
static inline void weft__spare_leave(weft_world *world, weft__chunk *chunk)
{
    world->spares.ring[chunk->id % WEFT__SPARES] = NULL;
    world->spares.count--;
    chunk->archetype->spare = NULL;
    chunk->id = 0;
}

#endif
