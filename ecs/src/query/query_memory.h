/* SPDX-License-Identifier: MIT */
/* query_memory.h: arrays of the query room: they grow by doubling, and count as memory of queries.
 *
 * Owner. */
#ifndef WEFT_QUERY_MEMORY_H
#define WEFT_QUERY_MEMORY_H

#include "query_state.h"
#include "world_state.h"

/* Makes an array hold `needed` items: the array (moved perhaps) with *capacity changed, or NULL and
 * everything as it was. */
static inline void *weft__query_grow(weft_world *world, void *old, uint32_t *capacity,
                                     uint32_t needed, size_t size)
{
    if (needed <= *capacity && old != NULL) return old;
    uint32_t count = *capacity < 4 ? 4 : *capacity * 2;
    if (count < needed) count = needed;
    void *items = weft__realloc(&world->memory, WEFT__MEMORY_QUERIES, old, *capacity, count, size,
                                WEFT__QUERY_ALIGNMENT);
    if (items != NULL) *capacity = count;
    return items;
}

static inline void weft__query_free(weft_world *world, void *items, uint32_t capacity, size_t size)
{
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, items, capacity, size, WEFT__QUERY_ALIGNMENT);
}

#endif
