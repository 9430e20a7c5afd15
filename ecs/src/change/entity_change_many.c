/* SPDX-License-Identifier: MIT */
/* entity_change_many.c: components added to and removed from many entities at once, chunk by chunk
 * (batch.h). All or none. Owner, world idle. */
#include "entity_change_many.h"

#include "archetype.h"
#include "batch.h"
#include "entity_sparse.h"
#include "error.h"
#include "move_plan.h"
#include "prefab.h"
#include "tuple.h"

/* Sorted, checked lists of components to add and to remove. Owner: one call. */
typedef struct change {
    uint32_t *add;
    uint32_t *remove;
    uint32_t add_count;
    uint32_t remove_count;
    const weft__addition *addition; /* else NULL: `add` are its two components */
} change;

static bool is_listed(const uint32_t *list, uint32_t count, uint32_t component)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == component) return true;
    return false;
}

static weft_result entry_target(weft_world *world, weft__batch_entry *entry, const change *c)
{
    weft__archetype *to = weft__archetype_change(world, entry->chunk->archetype, c->add,
                                                 c->add_count, c->remove, c->remove_count);
    if (to == NULL) return world->error->code;
    if (weft__archetype_is_spent(world, to) && to != entry->chunk->archetype) return WEFT_OK;
    return weft__batch_target(world, entry, to);
}

/* Rows that have the component of an addition stay. */
static weft_result entry_beside(weft_world *world, weft__batch_entry *entry, const change *c)
{
    weft__archetype *from = entry->chunk->archetype;
    entry->is_kept = weft__archetype_find(from, c->addition->component) != WEFT__NONE;
    if (entry->is_kept) return WEFT_OK;
    weft__archetype *to = weft__archetype_change(world, from, c->add, c->add_count, NULL, 0);
    if (to == NULL) return world->error->code;
    entry->plan = weft__batch_plan(world, entry, to);
    if (entry->plan != NULL)
        entry->to = weft__tuple_with_value(world, entry->chunk->tuple, to, c->addition->shared,
                                           c->addition->value);
    return entry->to != NULL ? WEFT_OK : world->error->code;
}

static weft_result change_apply(weft_world *world, const weft_entity *entities, uint32_t count,
                                const change *c, const char *what)
{
    if (is_listed(c->add, c->add_count, world->builtin.prefab.id) ||
        is_listed(c->remove, c->remove_count, world->builtin.prefab.id))
        return weft__prefab_change(world, entities, count,
                                   &(weft__prefab_request){.add = c->add,
                                                           .remove = c->remove,
                                                           .add_count = c->add_count,
                                                           .remove_count = c->remove_count},
                                   what);
    weft__batch_room room;
    weft__batch batch = weft__batch_begin(world, &room, entities, count);
    weft_result result = weft__batch_select(world, &batch, entities, count, what);
    for (uint32_t i = 0; i < batch.count && result == WEFT_OK; i++)
        result = c->addition != NULL ? entry_beside(world, &batch.entries[i], c)
                                     : entry_target(world, &batch.entries[i], c);
    if (result == WEFT_OK) result = weft__batch_apply(world, &batch);
    weft__batch_fini(world, &batch);
    return result;
}

/* The SPARSE components beside the others. */
static weft_result change_all(weft_world *world, const weft_entity *entities, uint32_t count,
                              change c, const char *what)
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
    change c = {.add_count = desc->add_count, .remove_count = desc->remove_count};
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
    change c = {.add = &component, .add_count = 1};
    return result == WEFT_OK ? change_apply(world, entities, count, &c, what) : result;
}

weft_result weft__entities_add_beside(weft_world *world, const weft_entity *entities,
                                      uint32_t count, const weft__addition *addition,
                                      const char *what)
{
    weft_result result = weft__idle(world, what);
    uint32_t a = addition->component, b = addition->shared;
    uint32_t both[2] = {a < b ? a : b, a < b ? b : a};
    change c = {.add = both, .add_count = 2, .addition = addition};
    return result == WEFT_OK ? change_apply(world, entities, count, &c, what) : result;
}
