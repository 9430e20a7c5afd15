/* SPDX-License-Identifier: MIT */
/* instantiate.h: copies of an entity and its linked group, by one thread or by the workers of a
 * pool: what playback and weft_entity_instantiate have in common. See instantiate.c for the
 * steps. */
#ifndef WEFT_INSTANTIATE_H
#define WEFT_INSTANTIATE_H

#include "world_state.h"

/* weft_entity_instantiate for a living source that is no residue, and count != 0. `are_named`:
 * `roots` has the ids of the roots of the copies, given and not placed; else it gets them, and
 * may be NULL. `job`: its workers take part; NULL: the caller does all. The same result either
 * way. World idle. */
weft_result weft__instantiate(weft_world *world, weft_job_context *job, weft_entity source,
                              uint32_t count, weft_entity *roots, bool are_named);

#endif
