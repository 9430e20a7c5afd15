/* SPDX-License-Identifier: MIT */
/* query_match.h: which archetypes a query matches, and where its terms are in them.
 *
 * Owner matches while the world is idle; workers read matches between. */
#ifndef WEFT_QUERY_MATCH_H
#define WEFT_QUERY_MATCH_H

#include "query_state.h"

static inline const weft__place *weft__match_places(const weft__query *query, uint32_t match)
{
    return query->places + (size_t)match * query->term_count;
}
/* Index of the match of an archetype number, or WEFT__NONE. O(log matches). */
uint32_t weft__query_match_find(const weft__query *query, uint32_t number);
/* Index of the first term on this component that is not ABSENT, or WEFT__NONE. */
uint32_t weft__query_term_find(const weft__query *query, uint32_t component);
/* Matches a new query against the archetypes that exist and files it. Errors: OUT_OF_MEMORY. */
weft_result weft__query_match_all(weft__query *query);

/* Bytes of the places of one match. */
static inline size_t weft__query_place_bytes(const weft__query *query)
{
    return (query->term_count == 0 ? 1 : query->term_count) * sizeof(weft__place);
}

#endif
