/* SPDX-License-Identifier: MIT */
/* entity_list.h: growing lists of entities, and arrays that are kept from use to use.
 *
 * Owned by the struct that has them. Threads: its owner. */
#ifndef WEFT_ENTITY_LIST_H
#define WEFT_ENTITY_LIST_H

#include "world_state.h"

/* A growing list; zero-initialise. Owner: the struct that has it. Always: count <= capacity. */
typedef struct weft__entity_list {
    weft_entity *items;
    uint32_t count;
    uint32_t capacity;
} weft__entity_list;

/* False: no memory; the list stays as it is. */
bool weft__entity_list_push(weft_world *world, weft__entity_list *list, weft_entity entity);
bool weft__entity_list_append(weft_world *world, weft__entity_list *list, const weft_entity *items,
                              uint32_t count);
void weft__entity_list_fini(weft_world *world, weft__entity_list *list);
/* Room for `count` items of `size` in an array that is kept; NULL: no memory, the array stays. What
 * it held may be lost. */
void *weft__relation_room(weft_world *world, void *items, size_t *capacity, size_t count,
                          size_t size);

#endif
