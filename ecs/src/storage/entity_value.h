/* SPDX-License-Identifier: MIT */
/* entity_value.h: from an entity to its chunk and row, and from there to the value of a component.
 *
 * The public look-ups are in entity_value.c; those by maps in column_map.h. */
#pragma once

#include "sparse.h"

/* The chunk and row of an alive entity; NULL when it is not alive or not placed. Any thread while
 * no thread changes structure. */
static inline weft__chunk *weft__entity_chunk(const weft_world *world, weft_entity entity,
                                              uint32_t *row)
{
    uint32_t location = 0;
    bool is_alive = weft__directory_find(&world->directory, entity, &location);
    *row = 0;
    if (!is_alive || location == 0) return NULL;
    weft__chunk *chunk = world->berths.at[location >> WEFT__BERTH_SHIFT].chunk;
    *row = location - chunk->location;
    return chunk;
}

/* Whether the rows of a chunk are what is left of destroyed entities. */
static inline bool weft__is_residue(const weft__chunk *chunk)
{
    return (chunk->archetype->flags & WEFT__IS_RESIDUE) != 0;
}

/* Whether the rows of a chunk are residues that lack a component: then they never get it. */
static inline bool weft__residue_lacks(const weft__chunk *chunk, uint32_t component)
{
    return __builtin_expect(weft__is_residue(chunk), 0) &&
           weft__archetype_find(chunk->archetype, component) == WEFT__NONE;
}

/* As weft__entity_chunk; NULL also for what is left of a destroyed entity, which is dead. */
static inline weft__chunk *weft__living_chunk(const weft_world *world, weft_entity entity,
                                              uint32_t *row)
{
    weft__chunk *chunk = weft__entity_chunk(world, entity, row);
    return chunk == NULL || weft__is_residue(chunk) ? NULL : chunk;
}

/* The same for entities of an array, one after the other: neighbours of the array that have
 * neighbouring indices mostly have neighbouring rows, as the chunk says. `before` had row *row of
 * `known`, NULL: it is not known. */
static inline weft__chunk *weft__entity_chunk_after(const weft_world *world, weft_entity entity,
                                                    weft_entity before, weft__chunk *known,
                                                    uint32_t *row)
{
    if (known != NULL && entity.index == before.index + 1 && *row + 1 < known->count) {
        const weft_entity *next = (const weft_entity *)(const void *)known->base + *row + 1;
        if (next->index == entity.index && next->version == entity.version) {
            ++*row;
            return known;
        }
    }
    return weft__entity_chunk(world, entity, row);
}

/* A handle in one register: the struct would be taken apart through memory. */
static inline uint64_t weft__entity_bits(weft_entity entity)
{
    return (uint64_t)entity.version << 32 | entity.index;
}

/* Where a component is in the archetype of a chunk; NULL: it is not. */
static inline const weft__type_slot *
weft__slot_find(const weft_world *world, const weft__chunk *chunk, weft_component component)
{
    return weft__archetype_slot(chunk->archetype, weft__component_id(world, component));
}

/* Where a present component's value is; NULL where a row has none of its own. */
static inline void *weft__slot_value(const weft__chunk *chunk, uint32_t row,
                                     const weft__type_slot *slot)
{
    return slot->column != 0 ? weft__chunk_value(chunk, slot->column, row) : NULL;
}

/* The value was written now: stamps the slice of its row. */
static inline void weft__slot_stamp(const weft_world *world, const weft__chunk *chunk, uint32_t row,
                                    const weft__type_slot *slot)
{
    weft_a32 *x_versions = weft__chunk_versions(chunk, slot->type);
    weft__stamp(&x_versions[row >> chunk->layout->slice_shift], world->front.version);
}

/* The type of a component of this world that is SPARSE; else NULL. */
static inline const weft__type *weft__type_sparse(const weft_world *world, weft_component component)
{
    if (__builtin_expect(world->types.sparse == NULL, 1)) return NULL;
    const weft__type *type = weft__type_at(world, component);
    return type != NULL && type->sparse != NULL ? type : NULL;
}

/* Whether the component is SPARSE and the entity has it. */
static inline bool weft__sparse_has_any(const weft_world *world, weft_entity entity,
                                        weft_component component)
{
    const weft__type *type = weft__type_sparse(world, component);
    return type != NULL && weft__sparse_has(type, entity);
}

/* The row that an entity has of a component: of a SPARSE one its own, else that of the entity.
 * NULL: the entity is dead, or has no row of it. */
static inline weft__chunk *weft__holder_chunk(const weft_world *world, weft_entity entity,
                                              weft_component component, uint32_t *row)
{
    const weft__type *type = weft__type_sparse(world, component);
    return type != NULL ? weft__sparse_find(world, type, entity, row)
                        : weft__entity_chunk(world, entity, row);
}
