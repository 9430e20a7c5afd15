/* SPDX-License-Identifier: MIT */
/* query_create.h: the queries of a world come and go.
 *
 * Owner. */
#ifndef WEFT_QUERY_CREATE_H
#define WEFT_QUERY_CREATE_H

#include "world_state.h"

/* Makes world->front.queries. Before the first archetype. Errors: OUT_OF_MEMORY. */
weft_result weft__queries_create(weft_world *world);
/* Frees all queries, handles and filters. Filters drop their shared values, so it comes before the
 * end of the shared store. */
void weft__queries_destroy(weft_world *world);

/* How queries follow the archetypes: world->matching. The functions are in query_match.c. */
extern const weft__matching weft__query_matching;

#endif
