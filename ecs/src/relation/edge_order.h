/* SPDX-License-Identifier: MIT */
/* edge_order.h: changes of edges in the order of target and source.
 *
 * Pure: any thread, each with its own arrays. */
#ifndef WEFT_EDGE_ORDER_H
#define WEFT_EDGE_ORDER_H

#include "relation_state.h"

#define WEFT__EDGE_COUNTING_FROM 256u /* changes of a page: fewer are sorted by comparison */

/* index << 32 | version, by one load. */
static inline uint64_t weft__edge_key(const weft_entity *entity)
{
    uint64_t bits;
    memcpy(&bits, entity, sizeof bits);
    return bits << 32 | bits >> 32;
}

static inline uint64_t weft__edge_target_key(const weft__edge_change *change)
{
    return weft__edge_key(&change->target);
}

static inline uint64_t weft__edge_source_key(const weft__edge_change *change)
{
    return weft__edge_key(&change->source);
}

/* Sorts changes of one bucket by target (index, version), then source, in place: the bucket is read
 * again after its lists. `room`: as many items, of any content. */
void weft__edges_sort(weft__edge_change *items, uint32_t count, weft__edge_change *room);

#endif
