/* SPDX-License-Identifier: MIT */
/* entity_change_many.c: components added to and removed from many entities at once, chunk by chunk
 * (batch.h). All or none. Owner, world idle. */
#include "entity_change_many.h"

#include "archetype.h"
#include "batch.h"
#include "entity_sparse.h"
#include "error.h"
#include "prefab.h"
#include "tuple.h"

/* Sorted, checked lists of components to add and to remove. Owner: one call. */
typedef struct lists {
    uint32_t *add;
    uint32_t *remove;
    uint32_t add_count;
    uint32_t remove_count;
    const weft__addition *addition; /* else NULL: `add` are its two components */
} lists;

static bool is_listed(const uint32_t *list, uint32_t count, uint32_t component)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == component) return true;
    return false;
}

static weft_result part_send(weft__change *change, weft__change_part *part, const lists *c)
{
    return weft__change_send(change, part,
                             weft__archetype_change(change->world, part->chunk->archetype, c->add,
                                                    c->add_count, c->remove, c->remove_count));
}

/* Rows that have the component of an addition stay. */
static weft_result part_beside(weft__change *change, weft__change_part *part, const lists *c)
{
    weft_world *world = change->world;
    weft__archetype *from = part->chunk->archetype;
    if (weft__archetype_find(from, c->addition->component) != WEFT__NONE) return WEFT_OK;
    weft__archetype *to = weft__archetype_change(world, from, c->add, c->add_count, NULL, 0);
    const weft__plan *plan = to == NULL ? NULL : weft__change_plan(change, part, to);
    weft__tuple *tuple = plan == NULL
                             ? NULL
                             : weft__tuple_with_value(world, part->chunk->tuple, to,
                                                      c->addition->shared, c->addition->value);
    if (tuple == NULL) return world->error->code;
    weft__change_route(change, part, plan, tuple);
    return WEFT_OK;
}

static weft_result change_apply(weft_world *world, const weft_entity *entities, uint32_t count,
                                const lists *c, const char *what)
{
    if (is_listed(c->add, c->add_count, world->builtin.prefab.id) ||
        is_listed(c->remove, c->remove_count, world->builtin.prefab.id))
        return weft__prefab_change(world, entities, count,
                                   &(weft__prefab_request){.add = c->add,
                                                           .remove = c->remove,
                                                           .add_count = c->add_count,
                                                           .remove_count = c->remove_count},
                                   what);
    weft__change_room room;
    weft__change change = {.world = world, .room = &room, .moves_whole = true};
    weft_result result = weft__batch_select(&change, entities, count, what);
    for (uint32_t i = 0; i < change.parts.count && result == WEFT_OK; i++)
        result = c->addition != NULL ? part_beside(&change, &change.parts.at[i], c)
                                     : part_send(&change, &change.parts.at[i], c);
    return weft__change_finish(&change, result);
}

/* The SPARSE components beside the others. */
static weft_result change_all(weft_world *world, const weft_entity *entities, uint32_t count,
                              lists c, const char *what)
{
    uint32_t added = weft__sparse_part(world, c.add, &c.add_count);
    uint32_t removed = weft__sparse_part(world, c.remove, &c.remove_count);
    if (added + removed == 0) return change_apply(world, entities, count, &c, what);
    weft__sparse_changes changes = {.remove = c.remove + c.remove_count, .remove_count = removed};
    weft_result result =
        weft__sparse_changes_prepare(world, entities, count, c.add + c.add_count, added, &changes);
    if (result != WEFT_OK) return result;
    if (c.add_count + c.remove_count != 0) result = change_apply(world, entities, count, &c, what);
    if (result == WEFT_OK)
        weft__sparse_changes_commit(world, entities, count, &changes);
    else
        weft__sparse_changes_cancel(world, entities, count, &changes);
    return result;
}

weft_result weft_entity_change_many(weft_world *world, const weft_entity *entities, uint32_t count,
                                    const weft_change_desc *desc)
{
    const char *what = "weft_entity_change_many";
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    if (desc == NULL)
        return weft__error_argument(world, what, "desc is NULL: say what to add or remove");
    if (entities == NULL && count != 0)
        return weft__error_argument(world, what, "entities is NULL: give an array of `count`");
    lists c = {.add_count = desc->add_count, .remove_count = desc->remove_count};
    c.add = weft__components_sort(world, desc->add, c.add_count, what);
    if (c.add == NULL) return world->error->code;
    c.remove = weft__components_sort(world, desc->remove, c.remove_count, what);
    result = c.remove == NULL ? world->error->code : change_all(world, entities, count, c, what);
    weft__components_free(world, c.add, desc->add_count);
    if (c.remove != NULL) weft__components_free(world, c.remove, desc->remove_count);
    return result;
}

weft_result weft__entities_add(weft_world *world, const weft_entity *entities, uint32_t count,
                               uint32_t component, const char *what)
{
    weft_result result = weft__idle(world, what);
    lists c = {.add = &component, .add_count = 1};
    return result == WEFT_OK ? change_apply(world, entities, count, &c, what) : result;
}

weft_result weft__entities_add_beside(weft_world *world, const weft_entity *entities,
                                      uint32_t count, const weft__addition *addition,
                                      const char *what)
{
    weft_result result = weft__idle(world, what);
    uint32_t a = addition->component, b = addition->shared;
    uint32_t both[2] = {a < b ? a : b, a < b ? b : a};
    lists c = {.add = both, .add_count = 2, .addition = addition};
    return result == WEFT_OK ? change_apply(world, entities, count, &c, what) : result;
}
