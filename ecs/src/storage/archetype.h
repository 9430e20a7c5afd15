/* SPDX-License-Identifier: MIT */
/* archetype.h: the registry of archetypes: from a set of components to its archetype, from one
 * archetype to those that are made of it, and how rows go there; their order, which is that of
 * iteration; and their tuples, one for each combination of shared values that rows have.
 *
 * Archetypes live as long as the world, or until weft__archetypes_trim; a tuple while a chunk uses
 * it or it is held. Threads: owner, world idle. */
#pragma once

#include "world_state.h"

/* The archetype of a handle, or NULL (BAD_HANDLE is set). It may be outside the order. */
weft__archetype *weft__archetype_at(const weft_world *world, weft_archetype handle);
/* The same for a call that gets the handle of weft_archetype_create: a null one keeps the error
 * that made it null. */
weft__archetype *weft__archetype_given(const weft_world *world, weft_archetype handle);
/* The archetype of `count` ascending valid component ids without duplicates, made when it is new,
 * in the order. NULL: error set (LIMIT when a row does not fit a megachunk, OUT_OF_MEMORY). */
weft__archetype *weft__archetype_obtain(weft_world *world, const uint32_t *components,
                                        uint32_t count);
/* The archetype (NULL: no components) with `add` put in and `remove` taken out (any order,
 * duplicates fine). What was not there comes with what it requires, unless that is in `remove`. */
weft__archetype *weft__archetype_change(weft_world *world, weft__archetype *archetype,
                                        const uint32_t *add, uint32_t add_count,
                                        const uint32_t *remove, uint32_t remove_count);
/* Where destroyed rows of an archetype with CLEANUP types go: these and the residue tag. Itself
 * when it has nothing else. */
weft__archetype *weft__archetype_residue(weft_world *world, weft__archetype *archetype);
/* A residue with nothing left but its tag: rows that come to this archetype die
 * (weft__rows_die). */
bool weft__archetype_is_spent(const weft_world *world, const weft__archetype *archetype);
/* What instances are made of: without types that weft__type_is_not_copied names. */
weft__archetype *weft__archetype_instance(weft_world *world, weft__archetype *archetype);

/* Ascending ids of a caller's list, checked: valid, no RESOURCE, no duplicates. NULL: error
 * set. */
uint32_t *weft__components_sort(const weft_world *world, const weft_component *components,
                                uint32_t count, const char *what);
/* A list of ids or indices, zeroed. NULL: error set, it names `what`. */
uint32_t *weft__ids_alloc(const weft_world *world, uint32_t count, const char *what);
void weft__ids_free(const weft_world *world, uint32_t *list, uint32_t count);

/* Compaction: where most archetypes have no rows, these leave the order, and those of them whose
 * handle was never given out and that nothing holds end. What leaves is a function of the rows
 * alone; an archetype that is asked for again comes last. Nothing is in hand that knows archetypes
 * but what the world keeps. */
void weft__archetypes_trim(weft_world *world);
void weft__archetypes_fini(weft_world *world);

/* ---- plans of moves ---- */

/* Plans: which columns and types go where when a row changes archetype; made once per
 * pair of archetypes and kept. Threads: owner, world idle. */

/* Way by one component, cached. Adding a present or removing an absent one: a plan from the
 * archetype to itself. NULL: error set. */
const weft__plan *weft__archetype_edge_make(weft_world *world, weft__archetype *archetype,
                                            uint32_t component, bool is_remove);
static inline const weft__plan *weft__archetype_edge(weft_world *world, weft__archetype *archetype,
                                                     uint32_t component, bool is_remove)
{
    const weft__plan *plan = weft__archetype_edge_find(archetype, component, is_remove);
    return plan != NULL ? plan : weft__archetype_edge_make(world, archetype, component, is_remove);
}
/* Plan between any two archetypes, cached. NULL: error set. */
const weft__plan *weft__plan_obtain(weft_world *world, weft__archetype *from, weft__archetype *to);

/* ---- the order of archetypes ---- */

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
void weft__archetype_list_free(weft_world *world, weft__archetype_list *list);

/* ---- tuples of shared values ---- */

/* The tuple with these values (shared_count indices), made when it is new: a new tuple takes one
 * reference on each value. Held until weft__tuple_release. NULL: error set. */
weft__tuple *weft__tuple_obtain(weft_world *world, weft__archetype *archetype,
                                const uint32_t *values);
/* The tuple of `to` that a row of `from` goes to: values of shared types in both are kept, new ones
 * are default. Held. NULL: error set. */
weft__tuple *weft__tuple_follow(weft_world *world, const weft__tuple *from, weft__archetype *to);
/* The tuple of `to` for rows of `from`, with one shared value replaced. Held. NULL: error set. */
weft__tuple *weft__tuple_with_value(weft_world *world, const weft__tuple *from, weft__archetype *to,
                                    uint32_t component, uint32_t value);
/* Drops a hold; an unused tuple goes. */
void weft__tuple_release(weft_world *world, weft__tuple *tuple);
