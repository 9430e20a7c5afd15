/* SPDX-License-Identifier: MIT */
/* column_map.h: the shortest way from a location to a value: per component, where its column is in
 * every berth.
 *
 * A cache beside the chunks, which say the same. A component gets its map when values of it are
 * asked for often, or when a finder is opened; from then on the map is kept current as chunks are
 * linked and released. Memory that cannot be had for one is no error: the map is not made, and
 * look-ups take the way through the chunk.
 *
 * What counts in a look-up is the number of loads, far more than that of instructions: the
 * processor keeps some 88 loads in flight, and those of a look-up wait for its two cache misses
 * (docs/design/storage.md). So both tables are reserved as address space for all that could ever
 * be, need neither bounds nor growth, and never move; an entry holds address and size in one
 * word. */
#pragma once

#include "world_state.h"

static inline void *weft__column_value(weft__column_place place, uint32_t location)
{
    intptr_t value = ((intptr_t)place >> 16) + (intptr_t)((place & 0xffff) * location);
    if (value == 0) __builtin_unreachable();
    return (void *)value;
}

/* A map is WEFT__BERTH_LIMIT places, [berth]. Written by the owner while the world is idle, read
 * by any thread otherwise. Invariant: places[b] is 0, or berth b is of a chunk that has a column
 * of the component, and it says where. */
#define WEFT__MAP_BYTES (WEFT__BERTH_LIMIT * sizeof(weft__column_place))

/* The blocks of entities by the upper bits of a handle's index, the world's tag among them; what
 * the owner has seen of the directory. NULL: none, or not seen yet. */
#define WEFT__SEEN_BLOCKS (UINT64_C(0x100000000) / WEFT__BLOCK_SLOTS)
#define WEFT__SEEN_BYTES (WEFT__SEEN_BLOCKS * sizeof(void *))

/* The map of a component, made if there is none. NULL: it has no column, or there is no memory.
 * Owner, world idle or iterated by the owner. Cost when made: O(chunks + berths). */
const weft__column_place *weft__column_map_obtain(weft_world *world, uint32_t component);
/* Notes the entity blocks there are; false: no address space for the table. Owner. */
bool weft__column_maps_see(weft_world *world);
/* The same where there are maps, so that entities are found quickly. Owner, before systems run. */
void weft__column_maps_refresh(weft_world *world);
/* The directory has another block at this place. Owner. */
void weft__column_maps_block(weft_world *world, uint32_t block);
/* Notes that the owner looked `count` values up without a map; makes one after so many that it
 * pays. */
void weft__column_map_miss(weft_world *world, uint32_t component, uint32_t count);
/* A chunk has got its berths; is about to lose them. Owner. */
void weft__column_maps_link(const weft_world *world, const weft__chunk *chunk);
void weft__column_maps_unlink(const weft_world *world, const weft__chunk *chunk);
/* The world has room for more berths than before: their places count as memory. Owner. */
void weft__column_maps_grow(weft_world *world);
void weft__column_maps_fini(weft_world *world);
/* A finder for a component. Without a map, its `blocks` are NULL and every look-up takes the slow
 * way. */
weft_finder weft__finder_make(const weft_world *world, weft_component component);
/* Whether the maps agree with a chunk (validate.c). */
bool weft__column_maps_check(const weft_world *world, const weft__chunk *chunk);

/* The map of a component; its places are NULL where it has none. */
static inline weft__column_map weft__column_map_of(const weft_world *world, uint32_t component)
{
    const weft__column_maps *maps = &world->front.maps;
    if (__builtin_expect(component < WEFT__MAPS_FEW, 1))
        return (weft__column_map){maps->few_blocks[component], maps->few[component]};
    return component < maps->end ? maps->many[component] : (weft__column_map){0};
}

/* The value of an entity in the column of a component with this map (not NULL); NULL: it has none,
 * or another way may find it. Threads: as weft__entity_chunk. */
static inline void *weft__value_mapped(weft__column_map map, uint64_t entity)
{
    uint32_t index = (uint32_t)entity;
    const weft__entity_block *block = map.blocks[index / WEFT__BLOCK_SLOTS];
    if (__builtin_expect(block == NULL, 0)) return NULL;
    /* relaxed: as weft__directory_find */
    uint64_t slot = at_load_rlx(&block->x_slots[index % WEFT__BLOCK_SLOTS]);
    if (__builtin_expect((slot ^ entity) >> 32 != 0, 0)) return NULL;
    /* a dead slot has location 0, where no map has a column: an even version needs no look */
    weft__column_place place = map.places[(uint32_t)slot >> WEFT__BERTH_SHIFT];
    return __builtin_expect(place == 0, 0) ? NULL : weft__column_value(place, (uint32_t)slot);
}

/* The same where there may be no map: then NULL. */
static inline void *weft__value_quickly(const weft_world *world, uint64_t entity,
                                        uint32_t component)
{
    weft__column_map map = weft__column_map_of(world, component);
    if (__builtin_expect(map.places == NULL, 0)) return NULL;
    return weft__value_mapped(map, entity);
}
