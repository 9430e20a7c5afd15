/* SPDX-License-Identifier: MIT */
/* linked_group.c: linked groups nest: a member that has a group of its own brings its members. Most
 * do not, and are walked without memory; groups of members are listed and walked in turn, so that
 * no depth needs a stack, and groups that hold each other end. Owner. */
#include "linked_group.h"

#include "entity_list.h"
#include "entity_value.h"

/* Owner: the stack of weft__group_each. */
typedef struct group_walk {
    weft_world *world;
    weft__entity_list roots; /* of groups of members, each once */
    weft__group_visit *visit;
    void *user;
} group_walk;

const weft_buffer *weft__group_of(const weft_world *world, const weft__chunk *chunk, uint32_t row)
{
    if (!weft__chunk_has_groups(chunk)) return NULL;
    const weft__type_slot *slot =
        weft__archetype_slot(chunk->archetype, world->builtin.linked_group.id);
    return (const weft_buffer *)(const void *)weft__chunk_value(chunk, slot->column, row);
}

static bool is_same(weft_entity a, weft_entity b)
{
    return a.index == b.index && a.version == b.version;
}

static bool root_add(group_walk *walk, weft_entity root)
{
    for (uint32_t i = 0; i < walk->roots.count; i++)
        if (is_same(walk->roots.at[i], root)) return true;
    return weft__entity_list_push(walk->world, &walk->roots, root);
}

/* `first`: the entity whose group the walk began with. */
static bool group_walk_one(group_walk *walk, weft_entity first, weft_entity self,
                           const weft_buffer *group)
{
    const weft_entity *members = weft_buffer_read(group);
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t row;
        weft__chunk *chunk = weft__entity_chunk(walk->world, members[i], &row);
        if (chunk == NULL) continue;
        if (!walk->visit(walk->user, members[i], chunk, row)) return false;
        bool is_known = is_same(members[i], self) || is_same(members[i], first);
        if (weft__chunk_has_groups(chunk) && !is_known && !root_add(walk, members[i])) return false;
    }
    return true;
}

bool weft__group_each(weft_world *world, const weft__chunk *chunk, uint32_t row,
                      weft__group_visit *visit, void *user)
{
    group_walk walk = {.world = world, .visit = visit, .user = user};
    const weft_buffer *group = weft__group_of(world, chunk, row);
    weft_entity first = weft__chunk_entities(chunk)[row];
    if (group == NULL) return true;
    bool is_done = group_walk_one(&walk, first, first, group);
    for (uint32_t i = 0; i < walk.roots.count && is_done; i++) {
        weft_entity root = walk.roots.at[i];
        uint32_t at;
        const weft__chunk *found = weft__entity_chunk(world, root, &at);
        is_done = group_walk_one(&walk, first, root, weft__group_of(world, found, at));
    }
    weft__entity_list_fini(world, &walk.roots);
    return is_done;
}
