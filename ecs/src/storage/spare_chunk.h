/* SPDX-License-Identifier: MIT */
/* spare_chunk.h: small chunks kept when they became empty, for the next row of their archetype.
 *
 * An archetype whose only entity comes and goes would make and free a chunk each time: ten times
 * what a row costs. So the last small chunk of an archetype stays beside it, in no list, without
 * id and berths; the world keeps the WEFT__SPARES youngest ones. They count as memory in use;
 * compaction frees them, and so does a chunk for which there is no memory. Owner, world idle. */
#ifndef WEFT_SPARE_CHUNK_H
#define WEFT_SPARE_CHUNK_H

#include "archetype_state.h"
#include "world_state.h"

/* Keeps an unlinked, empty chunk. Returns what is to be freed: it, where it is none to keep, or the
 * oldest one, or NULL. */
weft__chunk *weft__spare_keep(weft_world *world, weft__chunk *chunk);
/* The spare chunk of a tuple, as new but for bytes in its rows; NULL: there is none of this
 * size. */
weft__chunk *weft__spare_take(weft_world *world, weft__tuple *tuple, uint32_t size_class);
/* A spare chunk, which is one no longer; NULL: there is none. */
weft__chunk *weft__spare_drop(weft_world *world);

#endif
