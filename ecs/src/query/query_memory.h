/* SPDX-License-Identifier: MIT */
/* query_memory.h: blocks of the query room.
 *
 * Owner. */
#ifndef WEFT_QUERY_MEMORY_H
#define WEFT_QUERY_MEMORY_H

#include "query_state.h"
#include "world_state.h"

static inline void weft__query_free(weft_world *world, void *items, uint32_t capacity, size_t size)
{
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, items, capacity, size, WEFT__QUERY_ALIGNMENT);
}

#endif
