/* SPDX-License-Identifier: MIT */
/* instantiate.h: copies of an entity and its linked group, by one thread or by the workers of a
 * pool: what playback and weft_entity_instantiate have in common. See instantiate.c for the
 * steps. */
#pragma once

#include "world_state.h"

/* weft_entity_instantiate for a living source that is no residue, and count != 0. `are_named`:
 * `roots` has the ids of the roots of the copies, given and not placed; else it gets them, and
 * may be NULL. `job`: its workers take part; NULL: the caller does all. The same result either
 * way. World idle. */
weft_result weft__instantiate(weft_world *world, weft_job_context *job, weft_entity source,
                              uint32_t count, weft_entity *roots, bool are_named);

/* ---- linked groups ---- */

/* A living member and its row. False ends the walk. */
typedef bool weft__group_visit(void *user, weft_entity member, weft__chunk *chunk, uint32_t row);

/* Whether the entities of a chunk have groups. */
static inline bool weft__chunk_has_groups(const weft__chunk *chunk)
{
    return (chunk->archetype->flags & WEFT__HAS_LINKED_GROUP) != 0;
}

/* Visits the living members of a row's group as they are listed, the row itself if it is, then
 * those of the groups of members, each group once; who is in two groups is visited twice.
 * Nothing may be changed before it returns. False: `visit` ended it, or there was no memory,
 * which is needed only where a member has a group. */
bool weft__group_each(weft_world *world, const weft__chunk *chunk, uint32_t row,
                      weft__group_visit *visit, void *user);
