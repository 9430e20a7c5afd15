/* SPDX-License-Identifier: MIT */
/* component_index.c: the lists of the archetypes that have a component.
 *
 * Archetypes enter in the order of their numbers, so lists grow at their ends and stay ascending.
 * Room is made before an archetype enters; entering cannot fail. */
#include "component_index.h"

#include "archetype_state.h"
#include "world_state.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_QUERIES

static uint16_t narrow(uint32_t position)
{
    return position < WEFT__NO_PLACE ? (uint16_t)position : WEFT__NO_PLACE;
}

static weft__place place_of(const weft__archetype *archetype, uint32_t type)
{
    const weft__type_ref *ref = &archetype->types[type];
    return (weft__place){
        .type = narrow(type),
        .column = ref->column == 0 ? WEFT__NO_PLACE : ref->column,
        .enableable = ref->enableable,
        .shared = ref->shared,
    };
}

weft__place weft__place_find(const weft__archetype *archetype, uint32_t component)
{
    uint32_t type = weft__archetype_find(archetype, component);
    return type == WEFT__NONE ? weft__place_none() : place_of(archetype, type);
}

const weft__component_list *weft__component_list_at(const weft_world *world, uint32_t component)
{
    static const weft__component_list empty = {0};
    const weft__component_index *index = &world->component_index;
    return component < index->count ? &index->at[component] : &empty;
}

static bool list_reserve(weft_world *world, uint32_t component)
{
    weft__component_index *index = &world->component_index;
    return WEFT__LIST_REACH(&world->memory, CATEGORY, index, component + 1) &&
           WEFT__LIST_ROOM(&world->memory, CATEGORY, &index->at[component],
                           index->at[component].count + 1);
}

bool weft__component_index_reserve(weft_world *world, const weft__archetype *archetype)
{
    for (uint32_t type = 0; type < archetype->type_count; type++)
        if (!list_reserve(world, archetype->types[type].component)) return false;
    return true;
}

void weft__component_index_enter(weft_world *world, const weft__archetype *archetype)
{
    for (uint32_t type = 0; type < archetype->type_count; type++) {
        weft__component_list *list = &world->component_index.at[archetype->types[type].component];
        WEFT_ASSERT(list->count < list->capacity);
        WEFT_ASSERT(list->count == 0 || list->at[list->count - 1].archetype < archetype->number);
        list->at[list->count++] =
            (weft__index_entry){.archetype = archetype->number, .place = place_of(archetype, type)};
    }
}

void weft__component_index_cut(weft_world *world, uint32_t count)
{
    for (uint32_t id = 0; id < world->component_index.count; id++) {
        weft__component_list *list = &world->component_index.at[id];
        while (list->count != 0 && list->at[list->count - 1].archetype >= count) list->count--;
    }
}

static bool list_check(const weft_world *world, uint32_t component, uint64_t *entries)
{
    const weft__component_list *list = &world->component_index.at[component];
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t number = list->at[i].archetype;
        if (number >= world->archetypes.count) return false;
        if (i != 0 && list->at[i - 1].archetype >= number) return false;
        weft__place place = weft__place_find(world->archetypes.at[number], component);
        if (place.type == WEFT__NO_PLACE || memcmp(&place, &list->at[i].place, sizeof place) != 0)
            return false;
    }
    *entries += list->count;
    return list->count <= list->capacity;
}

bool weft__component_index_check(const weft_world *world)
{
    uint64_t entries = 0, types = 0;
    for (uint32_t component = 0; component < world->component_index.count; component++)
        if (!list_check(world, component, &entries)) return false;
    for (uint32_t i = 0; i < world->archetypes.count; i++)
        types += world->archetypes.at[i]->type_count;
    return entries == types;
}

void weft__component_index_fini(weft_world *world)
{
    weft__component_index *index = &world->component_index;
    for (uint32_t id = 0; id < index->count; id++)
        WEFT__LIST_FREE(&world->memory, CATEGORY, &index->at[id]);
    WEFT__LIST_FREE(&world->memory, CATEGORY, index);
}
