/* entity_value.h: the value of one component of one entity whose chunk and row were found
 * (weft__entity_chunk). The public look-ups are in entity_value.c. */
#ifndef WEFT_ENTITY_VALUE_H
#define WEFT_ENTITY_VALUE_H

#include "world_state.h"

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
    weft__stamp(&x_versions[row >> chunk->layout->slice_shift], world->version);
}

#endif
