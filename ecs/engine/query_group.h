/* SPDX-License-Identifier: MIT */
/* query_group.h: write groups: which descriptions lose rows of an archetype to other queries.
 *
 * Owner, while archetypes are offered to queries. */
#ifndef WEFT_QUERY_GROUP_H
#define WEFT_QUERY_GROUP_H

#include "query_state.h"

/* Of the descriptions that match an archetype with the terms at these places, those whose rows its
 * components do not take over; overrides by enable bits are appended to query->overrides, which has
 * room for them. */
uint64_t weft__query_filter_groups(weft__query *query, const weft__archetype *archetype,
                                   const weft__place *places, uint64_t alternatives);
/* Components that may take over what the query writes: writes up to `capacity` ids, returns how
 * many there are. 0 unless the query filters write groups. O(types). */
uint32_t weft__query_overriding(const weft__query *query, uint32_t *out, uint32_t capacity);

#endif
