/* SPDX-License-Identifier: MIT */
/* linked_group.h: the members of a linked group, and of the groups of its members.
 *
 * Destruction, instantiation and the Prefab tag follow groups by it. Owner, world idle. */
#ifndef WEFT_LINKED_GROUP_H
#define WEFT_LINKED_GROUP_H

#include "archetype_state.h"
#include "world_state.h"

/* A living member and its row. False ends the walk. */
typedef bool weft__group_visit(void *user, weft_entity member, weft__chunk *chunk, uint32_t row);

/* Whether the entities of a chunk have groups. */
static inline bool weft__chunk_has_groups(const weft__chunk *chunk)
{
    return (chunk->archetype->flags & WEFT__HAS_LINKED_GROUP) != 0;
}

/* The group of a row; NULL: it has none. */
const weft_buffer *weft__group_of(const weft_world *world, const weft__chunk *chunk, uint32_t row);

/* Visits the living members of a row's group as they are listed, the row itself if it is, then
 * those of the groups of members, each group once; who is in two groups is visited twice.
 * Nothing may be changed before it returns. False: `visit` ended it, or there was no memory,
 * which is needed only where a member has a group. */
bool weft__group_each(weft_world *world, const weft__chunk *chunk, uint32_t row,
                      weft__group_visit *visit, void *user);

#endif
