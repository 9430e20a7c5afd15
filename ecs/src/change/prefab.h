/* SPDX-License-Identifier: MIT */
/* prefab.h: the Prefab tag goes with linked groups: who adds or removes it where there is a group
 * does so for the members as well. Owner, world idle. */
#ifndef WEFT_PREFAB_H
#define WEFT_PREFAB_H

#include "row_moves.h"

/* A change of the Prefab tag goes for the linked groups of the rows, too: adds parts, by ascending
 * chunk id, for their living members that are not selected themselves.
 * OUT_OF_MEMORY (error set). */
weft_result weft__change_follow_groups(weft__change *change, const char *what);

/* How named entities change: lists of components, or to one archetype. A value; borrows all. */
typedef struct weft__prefab_request {
    weft__archetype *to; /* NULL: the lists count */
    const uint32_t *add;
    const uint32_t *remove;
    uint32_t add_count;
    uint32_t remove_count;
} weft__prefab_request;

/* Changes the entities as asked, and the tag of the members of their linked groups with them: it
 * is added where they get it or have it, else removed. All or none; `what` for errors. */
weft_result weft__prefab_change(weft_world *world, const weft_entity *entities, uint32_t count,
                                const weft__prefab_request *request, const char *what);

/* Whether a component that is added to or removed from rows of an archetype takes members along. */
static inline bool weft__prefab_follows(const weft_world *world, const weft__archetype *archetype,
                                        uint32_t component)
{
    return component == world->builtin.prefab.id &&
           (archetype->flags & WEFT__HAS_LINKED_GROUP) != 0;
}

#endif
