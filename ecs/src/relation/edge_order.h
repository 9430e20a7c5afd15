/* SPDX-License-Identifier: MIT */
/* edge_order.h: changes of edges in the order of target and source.
 *
 * Pure: any thread, each with its own arrays. */
#ifndef WEFT_EDGE_ORDER_H
#define WEFT_EDGE_ORDER_H

#include "relation_state.h"

#define WEFT__EDGE_COUNTING_FROM 256u /* changes of a page: fewer are sorted by comparison */

static inline uint64_t weft__edge_target_key(const weft__edge_change *change)
{
    return (uint64_t)change->target.index << 32 | change->target.version;
}

static inline uint64_t weft__edge_source_key(const weft__edge_change *change)
{
    return (uint64_t)(change->source.index & ~WEFT__EDGE_WENT) << 32 | change->source.version;
}

/* Sorts changes of one page by target (index, version), then source. `room`: as many items; the
 * result is in one of the two. */
weft__edge_change *weft__edges_sort(weft__edge_change *items, uint32_t count,
                                    weft__edge_change *room);

#endif
