/* SPDX-License-Identifier: MIT */
/* entity_change.h: a component for many entities.
 *
 * All or none. Owner, world idle. */
#pragma once

#include "world_state.h"

/* Adds a component to those of the entities that lack it: weft_entity_change_many, reported as
 * `what`. */
weft_result weft__entities_add(weft_world *world, const weft_entity *entities, uint32_t count,
                               uint32_t component, const char *what);

/* A component to be added, and the shared value that comes with it. A value. */
typedef struct weft__addition {
    uint32_t component;
    uint32_t shared; /* component of the shared value */
    uint32_t value;  /* its index, held meanwhile */
} weft__addition;

/* The same, and the shared value for those that lacked the component: others stay as they are. */
weft_result weft__entities_add_beside(weft_world *world, const weft_entity *entities,
                                      uint32_t count, const weft__addition *addition,
                                      const char *what);
