/* query_match.h: how the files of the query part share the work of making and matching queries;
 * private to query.c, query_match.c and query_registry.c. */
#ifndef WEFT_QUERY_MATCH_H
#define WEFT_QUERY_MATCH_H

#include "query_state.h"

#define WEFT__QUERY_ALIGNMENT ((size_t)16)
#define WEFT__FLAT_ALIGNMENT ((size_t)64) /* an entry is a line */

/* Makes an array of the query part hold `needed` items: the array (moved perhaps) with *capacity
 * changed, or NULL and everything as it was. */
void *weft__query_grow(weft_world *world, void *old, uint32_t *capacity, uint32_t needed,
                       size_t size);
void weft__query_free(weft_world *world, void *items, uint32_t capacity, size_t size);

/* Room for one more query. */
bool weft__query_list_reserve(weft_world *world, weft__query_list *list);
/* The queries filed under a component; the list is made when it is new. NULL: no memory. */
weft__query_list *weft__queries_keyed(weft_world *world, uint32_t component);

/* Bytes of the places of one match. */
static inline size_t weft__query_place_bytes(const weft__query *query)
{
    return (query->term_count == 0 ? 1 : query->term_count) * sizeof(weft__place);
}
/* Room for one more match, an archetype of `type_count` types. */
bool weft__query_match_reserve(weft__query *query, uint32_t type_count);
/* Of the descriptions that match an archetype with the terms at these places, those whose rows its
 * components do not take over; overrides by enable bits are appended to query->overrides, which has
 * room for them. */
uint64_t weft__query_filter_groups(weft__query *query, const weft__archetype *archetype,
                                   const weft__place *places, uint64_t alternatives);
/* True for prefabs and disabled entities, unless the query wants them. */
bool weft__query_excludes(const weft__query *query, const weft__archetype *archetype);
/* Appends the archetype (read only if the query filters write groups) if it matches. `places` is
 * the tail of query->places, after reserve. */
void weft__query_match_append(weft__query *query, weft__archetype *archetype, uint32_t number,
                              const weft__place *places);

/* Makes the list of chunks current; systems that ask may only find it so. On failure: error set. */
weft_result weft__query_ready(const weft_world *world, weft__query *query);
/* The term whose plain values are to be copied; WEFT__NONE: error set, code in *result. */
uint32_t weft__query_copied_term(const weft_world *world, const weft__query *query,
                                 weft_component component, const char *what, weft_result *result);

/* Frees a handle with its share of the query. NULL is fine. */
void weft__query_handle_free(weft_world *world, weft__query_handle *handle);

#endif
