/* SPDX-License-Identifier: MIT */
/* relation_engine.h: relations as frames see them: when they are settled.
 *
 * A world without relations pays one comparison. Owner, world idle. */
#pragma once

#include "archetype_state.h"

#include <weft/relation.h>

/* Settles all relations (relation.h) of a world that has any. `job`: the context for loops, or
 * NULL. `is_spent`: the version that the world has is not stamped after the call. Errors: CYCLE,
 * OUT_OF_MEMORY. */
weft_result weft__relations_settle_all(weft_world *world, weft_job_context *job, bool is_spent);

/* The depth of the rows of a chunk in a relation by depth. Any thread while nothing is settled. */
uint32_t weft__relation_level(weft_component relation, const weft__chunk *chunk,
                              const weft_world *world);

/* How a component was declared; NULL: it is no relation. */
WEFT__DOOR const weft_relation_desc *weft__relation_desc(const weft_world *world,
                                                         uint32_t component);

/* How many are declared. */
uint32_t weft__relation_count(const weft_world *world);

static inline bool weft__relations_any(const weft_world *world)
{
    return weft__front(world)->extensions[WEFT__EXTENSION_RELATIONS].data != NULL;
}
