/* SPDX-License-Identifier: MIT */
/* entity_shared.h: a shared value for many entities, whose rows come to lie together.
 *
 * Owner, world idle. */
#ifndef WEFT_ENTITY_SHARED_H
#define WEFT_ENTITY_SHARED_H

#include "world_state.h"

/* weft_entity_set_shared_many for values that decide what is iterated together: whole chunks change
 * in place only when they are three quarters full, others are merged. */
weft_result weft__entities_group(weft_world *world, const weft_entity *entities, uint32_t count,
                                 weft_component component, const void *value);

#endif
