/* SPDX-License-Identifier: MIT */
/* finder.c: opening finders, and their look-ups without a map (finder.h in the public headers).
 *
 * A finder is the map of a component with the blocks of entities (column_map.h). What slices may
 * find is checked in slice.c. */
#include "column_map.h"
#include "entity_value.h"
#include "error.h"
#include "sparse.h"
#include "world_state.h"

/* Whether the owner may make a map now: no other thread reads them. */
static bool may_make(const weft_world *world)
{
    return (world->front.busy & WEFT__BUSY_WRITING) == 0;
}

weft_finder weft_finder_open(weft_world *world, weft_component component)
{
    if (world == NULL) return (weft_finder){0};
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) {
        weft__error_component(world, component);
        return (weft_finder){0};
    }
    weft__note_read(world, "weft_finder_open", component);
    if (may_make(world)) weft__column_map_obtain(world, component.id);
    return weft__finder_make(world, component);
}

const void *weft_finder_read_slowly(const weft_world *world, weft_entity entity,
                                    weft_component component)
{
    uint32_t row;
    const weft__chunk *chunk =
        world == NULL ? NULL : weft__holder_chunk(world, entity, component, &row);
    if (chunk == NULL) return NULL;
    const weft__type_slot *slot =
        weft__archetype_slot(chunk->archetype, weft__component_id(world, component));
    return slot == NULL || slot->column == 0 ? NULL : weft__chunk_value(chunk, slot->column, row);
}
