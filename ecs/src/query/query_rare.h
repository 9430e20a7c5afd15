/* SPDX-License-Identifier: MIT */
/* query_rare.h: where the few entities with a SPARSE component are among the rows of a query.
 *
 * A query of rows that names a SPARSE component asks every row for it. Where few entities have it,
 * these are looked up instead, from the component's side, and rows are told by a bit map. */
#ifndef WEFT_QUERY_RARE_H
#define WEFT_QUERY_RARE_H

#include "query_state.h"

/* Makes flat.rare for a query with SPARSE terms. Owner. Cost: O(terms), or O(locations / 64 +
 * entities that have the component). */
void weft__query_rare_make(weft__query *query);
void weft__query_rare_free(weft__query *query);
/* The first slice of [slice, end) of a chunk in which an entity has flat.rare, which is not NULL;
 * `end`: none. Any thread. */
uint32_t weft__query_rare_next(const weft__query *query, const weft__chunk *chunk, uint32_t slice,
                               uint32_t end);

#endif
