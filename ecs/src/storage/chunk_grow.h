/* SPDX-License-Identifier: MIT */
/* chunk_grow.h: the only chunk of a tuple grows in place while it is smaller than a unit.
 *
 * A small population lives in one chunk of the smallest class. When it is full it gets more memory
 * and not a neighbour: one slice to iterate, one set of metadata. The chunk object, its id, its
 * berths and the locations of its rows stay; its memory and its layout are others, which is why
 * values move and the chunk gets a new serial number. Chunks of a unit or more do not grow: copying
 * them would cost more than a second chunk. Owner, world idle. */
#ifndef WEFT_CHUNK_GROW_H
#define WEFT_CHUNK_GROW_H

#include "archetype_state.h"
#include "world_state.h"

/* A growth that can be taken back: what the chunk had is kept. A list, the last one first. Owner:
 * the spans of the operation (structure.h). */
typedef struct weft__growth {
    struct weft__growth *next;
    weft__chunk *chunk;
    weft__chunk was; /* its fields before: memory, layout, side memory and rows as they were */
    uint32_t first;  /* spans that there were before */
} weft__growth;

/* Gives the only chunk of a tuple, which is full, room for `count` more rows, or as many as a unit
 * holds. With `list` the growth can be taken back until it is kept. NULL: it cannot grow, or there
 * is no memory; nothing has changed, and no error is set. */
weft__chunk *weft__chunk_grow(weft_world *world, weft__tuple *tuple, uint64_t count,
                              weft__growth **list);
/* The chunks stay as they are; frees the list. */
void weft__growths_keep(weft_world *world, weft__growth **list);
/* Takes back growths from the first one with `first` >= from; the rows that came have gone. */
void weft__growths_undo(weft_world *world, weft__growth **list, uint32_t from);

#endif
