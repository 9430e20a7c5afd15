/* SPDX-License-Identifier: MIT */
/* query_change.h: which rows a change is of: those of a query, or all of the world, one part per
 * chunk, whole or a list of rows, in query order; and changes of the rows of arrays. Owner, world
 * idle. */
#pragma once

#include "query_state.h"
#include "row_moves.h"

/* Collects the rows of a query. Errors: BAD_HANDLE, WRONG_PHASE, OUT_OF_MEMORY (error set). */
weft_result weft__change_select(weft__change *change, weft_query query, const char *what);
/* Collects every row of the world: a part per chunk. Errors: WRONG_PHASE, OUT_OF_MEMORY. */
weft_result weft__change_select_all(weft__change *change, const char *what);
/* Stamps a component's change version in the slices of rows [first, first + count). */
void weft__component_stamp(const weft_world *world, const weft__chunk *chunk, uint32_t component,
                           uint32_t first, uint32_t count);
/* Ends all rows of a linked chunk, as weft_query_destroy_entities would: those with CLEANUP
 * components become residues. Errors: OUT_OF_MEMORY, LIMIT (error set; nothing changed). */
weft_result weft__chunk_destroy_rows(weft_world *world, weft__chunk *chunk);

/* ---- what is said of a component or a value that a change cannot take ---- */

/* OK when the component is there and of none of the kinds `refused` (weft_component_flags). */
weft_result weft__kind_check(const weft_world *world, weft_component component, uint32_t refused,
                             const char *what);
/* OK when `size` bytes at `value` are a value of this component, which has values of its own; tags
 * take size 0. */
weft_result weft__value_check(const weft_world *world, weft_component component, const void *value,
                              size_t size, const char *what);

/* ---- the Prefab tag, which goes with linked groups ---- */

/* How named entities change: lists of components, or to one archetype. A value; borrows all. */
typedef struct weft__prefab_request {
    weft__archetype *to; /* NULL: the lists count */
    const uint32_t *add;
    const uint32_t *remove;
    uint32_t add_count;
    uint32_t remove_count;
} weft__prefab_request;

/* Changes the entities as asked, and the tag of the members of their linked groups with them: it
 * is added where they get it or have it, else removed. All or none; `what` for errors. */
weft_result weft__prefab_change(weft_world *world, const weft_entity *entities, uint32_t count,
                                const weft__prefab_request *request, const char *what);

/* Whether a component that is added to or removed from rows of an archetype takes members along. */
static inline bool weft__prefab_follows(const weft_world *world, const weft__archetype *archetype,
                                        uint32_t component)
{
    return component == world->builtin.prefab.id &&
           (archetype->flags & WEFT__HAS_LINKED_GROUP) != 0;
}

/* weft_entity_set_shared_many for values that decide what is iterated together: whole chunks change
 * in place only when they are three quarters full, others are merged. */
weft_result weft__entities_group(weft_world *world, const weft_entity *entities, uint32_t count,
                                 weft_component component, const void *value);
