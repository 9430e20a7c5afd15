/* SPDX-License-Identifier: MIT */
/* archetype.h: the registry of archetypes: from a set of components to its archetype, and from one
 * archetype to those that are made of it.
 *
 * Archetypes live as long as the world, or until weft__archetypes_trim. Threads: owner, world
 * idle. */
#ifndef WEFT_ARCHETYPE_H
#define WEFT_ARCHETYPE_H

#include "archetype_state.h"
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
void weft__components_free(const weft_world *world, uint32_t *list, uint32_t count);

/* Compaction: where most archetypes have no rows, these leave the order, and those of them whose
 * handle was never given out and that nothing holds end. What leaves is a function of the rows
 * alone; an archetype that is asked for again comes last. Nothing is in hand that knows archetypes
 * but what the world keeps. */
void weft__archetypes_trim(weft_world *world);
void weft__archetypes_fini(weft_world *world);

/* The archetype of a handle that rows may be made of; NULL: there is none. Any thread, also while
 * the owner makes others. */
static inline weft__archetype *weft__archetype_for_rows(const weft_world *world,
                                                        weft_archetype handle)
{
    if (handle.world != world->front.number) return NULL;
    weft__archetype *archetype = weft__roll_at(&world->archetypes.known, handle.id - 1);
    bool is_usable = archetype != NULL && (archetype->flags & WEFT__IS_RESIDUE) == 0;
    return is_usable ? archetype : NULL;
}

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
/* Ends the plans to archetypes that end, which have id 0, or all of one that ends itself. */
void weft__plans_forget(weft_world *world, weft__archetype *from);
void weft__plans_fini(weft_world *world, weft__archetype *archetype);

#endif
