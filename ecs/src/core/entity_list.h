/* SPDX-License-Identifier: MIT */
/* entity_list.h: lists of entities, in memory of a world.
 *
 * Owned by the struct that has them. Threads: its owner. */
#pragma once

#include "world_state.h"

typedef WEFT__LIST(weft_entity) weft__entity_list;

/* False: no memory; the list stays as it is. */
static inline bool weft__entity_list_append(weft_world *world, weft__entity_list *list,
                                            const weft_entity *entities, uint32_t count)
{
    return WEFT__LIST_APPEND(&world->memory, WEFT__MEMORY_OTHER, list, entities, count);
}

static inline bool weft__entity_list_push(weft_world *world, weft__entity_list *list,
                                          weft_entity entity)
{
    return weft__entity_list_append(world, list, &entity, 1);
}

static inline void weft__entity_list_fini(weft_world *world, weft__entity_list *list)
{
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, list);
}
