/* SPDX-License-Identifier: MIT */
/* archetype_order.h: which archetypes are in the order of iteration, and where.
 *
 * Numbers, and what leaves and enters the order: archetype_order.c. Threads: owner, world idle. */
#ifndef WEFT_ARCHETYPE_ORDER_H
#define WEFT_ARCHETYPE_ORDER_H

#include "archetype_state.h"

/* Archetypes in an order, which holds them. Owned by the snapshot that noted it. */
typedef struct weft__archetype_list {
    weft__archetype **items;
    uint32_t count;
} weft__archetype_list;

/* Puts an archetype that is not in the order at its end. OUT_OF_MEMORY (error set) changes
 * nothing. O(1) when it is in it, else O(its components + queries filed under one of them). */
weft_result weft__archetype_enter(weft_world *world, weft__archetype *archetype);
/* Copies the order; the caller frees the list. OUT_OF_MEMORY (error set): it is empty. */
weft_result weft__archetypes_note(weft_world *world, weft__archetype_list *out);
/* Makes a noted order the order, and leaves all other archetypes out: rows that they have must end
 * before anything else is done. OUT_OF_MEMORY (error set): the order has only some of the list;
 * arranging what was the order before cannot fail then. O(length of the list) when nothing differs,
 * else O(archetypes, edges, component types and queries). */
weft_result weft__archetypes_arrange(weft_world *world, const weft__archetype_list *list);
/* Where most archetypes have no rows, and not few: takes these out of the order. False: nothing
 * was done (too few, or no memory). */
bool weft__archetypes_leave(weft_world *world);
void weft__archetype_list_free(weft_world *world, weft__archetype_list *list);

#endif
