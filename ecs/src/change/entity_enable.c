/* SPDX-License-Identifier: MIT */
/* entity_enable.c: the enable bits of single entities.
 *
 * Bits and masks of chunks are in enable.c, those of a slice's rows in slice.c. Owner. */
#include "enable.h"
#include "entity_value.h"
#include "error.h"

weft_result weft_entity_enable(weft_world *world, weft_entity entity, weft_component component,
                               bool enabled)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__may_write(world, "weft_entity_enable");
    if (result != WEFT_OK) return result;
    uint32_t row = 0;
    weft__chunk *chunk = weft__living_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    const weft__type *known = weft__type_at(world, component);
    if (known == NULL) return weft__error_component(world, component);
    if ((known->desc.flags & WEFT_ENABLEABLE) == 0)
        return weft__error(
            world, WEFT_TYPE_MISMATCH, entity, component,
            "weft_entity_enable: %s is not ENABLEABLE: register it with WEFT_ENABLEABLE",
            weft__type_name(world, component.id));
    uint32_t type = weft__archetype_find(chunk->archetype, component.id);
    if (type == WEFT__NONE)
        return weft__error(world, WEFT_NOT_FOUND, entity, component,
                           "weft_entity_enable: the entity has no %s: add it first",
                           weft__type_name(world, component.id));
    weft__chunk_enable(chunk, chunk->archetype->types[type].enableable, row, enabled);
    weft__stamp(&weft__chunk_versions(chunk, type)[row >> chunk->layout->slice_shift],
                world->front.version);
    return WEFT_OK;
}

bool weft_entity_is_enabled(const weft_world *world, weft_entity entity, weft_component component)
{
    if (world == NULL) return false;
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return false;
    uint32_t type = weft__archetype_find(chunk->archetype, weft__component_id(world, component));
    if (type == WEFT__NONE) return weft__sparse_has_any(world, entity, component);
    weft__note_read(world, "weft_entity_is_enabled", component);
    uint32_t enableable = chunk->archetype->types[type].enableable;
    return enableable == WEFT__NO_PLACE || weft__chunk_is_enabled(chunk, enableable, row);
}
