/* SPDX-License-Identifier: MIT */
/* entity_change.h: a component added to one entity together with its value, which is written once,
 * where the row goes. What needs more than bytes copied is refused and goes the general way, whose
 * errors it has (entity_set.c). Owner, world idle. */
#ifndef WEFT_ENTITY_CHANGE_H
#define WEFT_ENTITY_CHANGE_H

#include "world_state.h"

/* A change of weft__quick: the component with its world, and a bit for removing. */
static inline uint64_t weft__change_key(weft_component component)
{
    return (uint64_t)component.world << 33 | (uint64_t)component.id << 1;
}

/* Adds the component of a key, which is not for removing, with a value of `bytes` bytes, not NULL,
 * where nothing but bytes has to be copied. False: it is otherwise (present, refused, special, of
 * another size), and nothing was done. */
bool weft__entity_add_value(weft_world *world, uint64_t entity, uint64_t key, const void *value,
                            size_t bytes);

#endif
