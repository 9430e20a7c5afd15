/* SPDX-License-Identifier: MIT */
/* world_view.c: what layers above read of a world.
 *
 * Calls in place of fields: the structs of ecs/src stay private. Nothing is decided here. */
#include "world_view.h"

#include "column_map.h"
#include "directory.h"
#include "entity_value.h"
#include "world_state.h"

weft__memory *weft__world_memory(weft_world *world)
{
    return &world->memory;
}

weft_error *weft__world_error_record(const weft_world *world)
{
    return world->error;
}

const weft_world_desc *weft__world_desc(const weft_world *world)
{
    return &world->desc;
}

uint32_t weft__type_count(const weft_world *world)
{
    return world->types.count;
}

const weft__type *weft__type_find(const weft_world *world, weft_component component)
{
    return weft__type_at(world, component);
}

uint32_t weft__archetype_count(const weft_world *world)
{
    return world->archetypes.count;
}

uint64_t weft__archetype_order(const weft_world *world)
{
    return world->archetypes.order_version;
}

weft__archetype *weft__archetype_numbered(const weft_world *world, uint32_t number)
{
    WEFT_ASSERT(number < world->archetypes.count);
    return world->archetypes.at[number];
}

weft__archetype *weft__archetype_of_id(const weft_world *world, uint32_t id)
{
    WEFT_ASSERT(id - 1 < world->archetypes.id_count);
    return world->archetypes.by_id[id - 1];
}

uint32_t weft__chunk_count(const weft_world *world)
{
    return world->chunks.count;
}

uint32_t weft__chunk_id_end(const weft_world *world)
{
    return world->chunks.capacity;
}

uint64_t weft__entity_count(const weft_world *world)
{
    return weft__directory_alive(&world->directory);
}

weft__chunk *weft__entity_row(const weft_world *world, weft_entity entity, uint32_t *row)
{
    return weft__entity_chunk(world, entity, row);
}

weft__chunk *weft__entity_sparse_row(const weft_world *world, weft_entity entity,
                                     weft_component component, uint32_t *row)
{
    const weft__type *type = weft__type_sparse(world, component);
    return type == NULL ? NULL : weft__sparse_find(world, type, entity, row);
}

const void *weft__entity_mapped(const weft_world *world, weft_entity entity, uint32_t component)
{
    return weft__value_quickly(world, weft__entity_bits(entity), component);
}

void weft__entity_maps_refresh(weft_world *world)
{
    weft__column_maps_refresh(world);
}

void weft__entity_map_open(weft_world *world, weft_component component)
{
    weft__column_map_obtain(world, component.id);
}
