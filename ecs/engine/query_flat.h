/* SPDX-License-Identifier: MIT */
/* query_flat.h: the list of all chunks of a query.
 *
 * Owner makes it current while the world is idle; workers read it. */
#ifndef WEFT_QUERY_FLAT_H
#define WEFT_QUERY_FLAT_H

#include "query_state.h"

#define WEFT__FLAT_ALIGNMENT ((size_t)64) /* an entry is a line */

/* Makes the flat list current. Owner, world idle. Errors: OUT_OF_MEMORY. O(1) when nothing changed
 * structure since, else O(matches + chunks). */
weft_result weft__query_flat_prepare(weft__query *query);
/* Slices of the query: positions are [0, count). After prepare. */
static inline uint32_t weft__query_slice_count(const weft__query *query)
{
    return query->flat.entries == NULL ? 0 : query->flat.entries[query->flat.count].first_slice;
}
/* Rows of the query, filters and enable bits not counted. After prepare. */
static inline uint64_t weft__query_row_count(const weft__query *query)
{
    return query->flat.entries == NULL ? 0 : query->flat.entries[query->flat.count].first_row;
}
/* The entry that holds slice position `slice` (< slice count). O(log chunks). */
uint32_t weft__query_flat_find(const weft__query *query, uint32_t slice);

#endif
