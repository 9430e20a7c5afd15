/* SPDX-License-Identifier: MIT */
/* component_index.h: per component, the archetypes that have it and where.
 *
 * New queries walk the shortest list that can hold their matches (query_match.c). An archetype
 * is in the lists while it is in the order (archetype_order.c); its number is its place there.
 * Owned by the world; changed by the owner while the world is idle, read by all otherwise. */
#ifndef WEFT_COMPONENT_INDEX_H
#define WEFT_COMPONENT_INDEX_H

#include "world_front.h"

#define WEFT__NO_PLACE UINT16_MAX

/* Where a component is in an archetype; NO_PLACE: nowhere. A value. */
typedef struct weft__place {
    uint16_t type;       /* position among the types: versions */
    uint16_t column;     /* of the format; NO_PLACE: no column */
    uint16_t enableable; /* position among the enableable types */
    uint16_t shared;     /* position in the tuple */
} weft__place;

/* One archetype that has the component. Owner: the list. place = weft__place_find(archetype). */
typedef struct weft__index_entry {
    uint32_t archetype; /* number */
    weft__place place;
} weft__index_entry;

/* Of one component. Owner: the world's component index. Always:
 *   at[i].archetype < at[i + 1].archetype;
 *   sum of count over all components = sum of type_count over the archetypes in the order. */
typedef struct weft__component_list {
    weft__index_entry *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
} weft__component_list;

static inline weft__place weft__place_none(void)
{
    return (weft__place){WEFT__NO_PLACE, WEFT__NO_PLACE, WEFT__NO_PLACE, WEFT__NO_PLACE};
}
/* Where an archetype has a component. */
weft__place weft__place_find(const weft__archetype *archetype, uint32_t component);

/* The list of a component; an empty one when no archetype has had it. */
const weft__component_list *weft__component_list_at(const weft_world *world, uint32_t component);

/* Room for one more archetype in the lists of its components. False: no memory; nothing changed
 * that can be seen. */
bool weft__component_index_reserve(weft_world *world, const weft__archetype *archetype);
/* Enters an archetype, whose number is the highest, into the lists; they have room. */
void weft__component_index_enter(weft_world *world, const weft__archetype *archetype);
/* Takes the archetypes from number `count` on out again; lists keep their capacity, so entering as
 * many of the same cannot fail. Cost: O(component types + entries). */
void weft__component_index_cut(weft_world *world, uint32_t count);
/* Whether the lists are those of the archetypes in the order. Cost: O(their types). */
bool weft__component_index_check(const weft_world *world);
void weft__component_index_fini(weft_world *world);

#endif
