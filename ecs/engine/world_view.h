/* SPDX-License-Identifier: MIT */
/* world_view.h: what layers above read of the parts of a world that are private to ecs.
 *
 * Calls, not fields: none of them is made per slice, but for the look-ups of single entities.
 * Threads: any while no thread changes structure, unless said otherwise. */
#pragma once

#include "archetype_state.h"

#include <weft/entity.h>

/* Where the world's memory is counted. */
WEFT__DOOR weft__memory *weft__world_memory(weft_world *world);
/* The last error, to be changed by the owner. */
weft_error *weft__world_error_record(const weft_world *world);
/* With resolved limits. */
const weft_world_desc *weft__world_desc(const weft_world *world);

/* Highest component id. */
uint32_t weft__type_count(const weft_world *world);
/* NULL: null, or of another world. */
const weft__type *weft__type_find(const weft_world *world, weft_component component);

/* Archetypes by their place in the order of queries, [0, count); `order` changes whenever numbers
 * may mean other archetypes. */
uint32_t weft__archetype_count(const weft_world *world);
uint64_t weft__archetype_order(const weft_world *world);
weft__archetype *weft__archetype_numbered(const weft_world *world, uint32_t number);
/* By the id in handles. */
weft__archetype *weft__archetype_of_id(const weft_world *world, uint32_t id);

uint32_t weft__chunk_count(const weft_world *world);
/* Every chunk's id is below it. */
uint32_t weft__chunk_id_end(const weft_world *world);

uint64_t weft__entity_count(const weft_world *world);
/* The chunk and row of an alive entity; NULL when it is not alive or not placed. */
weft__chunk *weft__entity_row(const weft_world *world, weft_entity entity, uint32_t *row);
/* The chunk and row of a SPARSE component of an entity; NULL: it is not SPARSE, or the entity has
 * none. */
weft__chunk *weft__entity_sparse_row(const weft_world *world, weft_entity entity,
                                     weft_component component, uint32_t *row);
/* The SPARSE types of an entity: the one after `type`, from NULL to NULL. */
const weft__type *weft__entity_next_sparse(const weft_world *world, weft_entity entity,
                                           const weft__type *type);
/* Whether instances come without it: Prefab, CLEANUP and NOT_COPIED types. */
bool weft__type_is_not_copied(const weft_world *world, const weft__type *type);
/* The value of an entity by the map of its component; NULL: it has none, or another way may find
 * it. */
const void *weft__entity_mapped(const weft_world *world, weft_entity entity, uint32_t component);
/* Makes maps current. Owner, before systems run. */
void weft__entity_maps_refresh(weft_world *world);
/* Makes the map of a component, where there is memory for it. Owner, world idle. */
void weft__entity_map_open(weft_world *world, weft_component component);

/* ---- hooks ---- */

/* Whether there is something to call, and it wants to be called now. */
static inline bool weft__hook_is_wanted(const weft_world_hook *hook)
{
    const weft_a32 *word = (const void *)hook->asks;
    if (hook->stepped == NULL) return false;
    /* relaxed: a hint; what it stands for is handed over elsewhere */
    return word == NULL || at_load_rlx(word) != 0;
}

/* Whether a hook wants to be called now: inline, because a step asks each time. */
static inline bool weft__world_is_asked(const weft_world *world)
{
    for (const weft_world_hook *hook = weft__front(world)->hooks; hook != NULL; hook = hook->next)
        if (weft__hook_is_wanted(hook)) return true;
    return false;
}

/* At the end of a step, where a hook wants it. The world's error stays as it is. */
void weft__world_stepped(weft_world *world);
/* The world is about to be destroyed: each is told, and removed. */
void weft__world_ended(weft_world *world);

/* Visits the described references of all values, of SHARED and CHUNK ones and resources, too, to
 * look at them only. Owner, world idle. */
WEFT__DOOR void weft__world_references(const weft_world *world, weft__reference_visit *visit,
                                       void *user);
