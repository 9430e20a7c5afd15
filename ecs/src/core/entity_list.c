/* SPDX-License-Identifier: MIT */
/* entity_list.c: growing lists of entities. They grow by doubling, and keep their memory until they
 * end, as arrays from use to use do. Threads: the owner of the list. */
#include "entity_list.h"

#include <string.h>

bool weft__entity_list_push(weft_world *world, weft__entity_list *list, weft_entity entity)
{
    if (list->count == list->capacity) {
        uint32_t grown = list->capacity == 0 ? 64 : 2 * list->capacity;
        void *items = weft__realloc(&world->memory, WEFT__MEMORY_OTHER, list->items, list->capacity,
                                    grown, sizeof entity, 8);
        if (items == NULL) return false;
        list->items = items;
        list->capacity = grown;
    }
    list->items[list->count++] = entity;
    return true;
}

bool weft__entity_list_append(weft_world *world, weft__entity_list *list, const weft_entity *items,
                              uint32_t count)
{
    if (count > list->capacity - list->count) {
        uint32_t wanted = list->count + count, grown = wanted + wanted / 2;
        void *room = weft__realloc(&world->memory, WEFT__MEMORY_OTHER, list->items, list->capacity,
                                   grown, sizeof *items, 8);
        if (room == NULL) return false;
        list->items = room;
        list->capacity = grown;
    }
    if (count != 0) memcpy(list->items + list->count, items, count * sizeof *items);
    list->count += count;
    return true;
}

void weft__entity_list_fini(weft_world *world, weft__entity_list *list)
{
    weft__free(&world->memory, WEFT__MEMORY_OTHER, list->items, list->capacity, sizeof(weft_entity),
               8);
    *list = (weft__entity_list){0};
}

void *weft__relation_room(weft_world *world, void *items, size_t *capacity, size_t count,
                          size_t size)
{
    if (count <= *capacity && items != NULL) return items;
    size_t grown = count + count / 4 + 64;
    void *room = weft__alloc(&world->memory, WEFT__MEMORY_OTHER, grown, size, 64);
    if (room == NULL) return NULL;
    weft__free(&world->memory, WEFT__MEMORY_OTHER, items, *capacity, size, 64);
    *capacity = grown;
    return room;
}
