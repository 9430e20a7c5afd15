/* SPDX-License-Identifier: MIT */
/* entity_change_many.h: a component for many entities.
 *
 * All or none. Owner, world idle. */
#ifndef WEFT_ENTITY_CHANGE_MANY_H
#define WEFT_ENTITY_CHANGE_MANY_H

#include "world_state.h"

/* Adds a component to those of the entities that lack it: weft_entity_change_many, reported as
 * `what`. */
weft_result weft__entities_add(weft_world *world, const weft_entity *entities, uint32_t count,
                               uint32_t component, const char *what);

#endif
