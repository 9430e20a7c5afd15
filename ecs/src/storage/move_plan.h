/* SPDX-License-Identifier: MIT */
/* move_plan.h: plans: which columns and types go where when a row changes archetype; made once per
 * pair of archetypes and kept. Threads: owner, world idle. */
#ifndef WEFT_MOVE_PLAN_H
#define WEFT_MOVE_PLAN_H

#include "archetype_state.h"

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
