/* SPDX-License-Identifier: MIT */
/* compile_extend.c: archetypes that appeared since the schedule was compiled, without compiling it
 * again.
 *
 * All that the planner asks of archetypes is whether the sets of two access items of one component
 * meet (access.h). A new archetype can only make sets meet that did not, and only sets that it is
 * in. A system stands in the earliest stage that its collisions with those before it allow, so a
 * new collision that the two stages respect already changes nothing: the plan would come out the
 * same, and the archetype is added to the sets. Otherwise, and when anything else that the access
 * items are made of has changed, the schedule is compiled again. */
#include "compile_extend.h"

#include "compile_order.h"
#include "segment_graph.h"

#define PAIR_LIMIT 20000u /* more pairs to compare cost as much as compiling */

/* An access item that concerns the new archetype. Owner: the list of `extending`, in the plan's
 * arena. */
typedef struct concerned {
    const weft__access_item *item;
    uint32_t node;
    uint32_t next; /* of the same component; WEFT__NONE ends */
} concerned;

/* One new archetype being added. Lives on the owner's stack; arrays in the plan's arena. */
typedef struct extending {
    weft__scheduler *scheduler;
    const weft__archetype *archetype;
    uint32_t number; /* of the archetype */
    concerned *items;
    uint32_t item_count;
    uint32_t *heads; /* [component] */
    uint32_t pairs;
} extending;

static bool is_in(const weft__archetype_set *set, uint32_t number)
{
    return set == NULL || weft__query_match_find(set->query, number) != WEFT__NONE;
}

/* Whether the stages of two systems that begin to collide, and the graph of their segment, respect
 * that. An explicit order counts
 * for less when the two collide, a shuffled order and background systems ask for all collisions. */
static bool is_respected(const weft__scheduler *scheduler, const concerned *before,
                         const concerned *after)
{
    uint32_t either = scheduler->nodes[before->node].traits | scheduler->nodes[after->node].traits;
    uint32_t both = scheduler->nodes[before->node].traits & scheduler->nodes[after->node].traits;
    if (scheduler->options.shuffle_seed != 0 || (either & WEFT__STAGING_BACKGROUND) != 0 ||
        weft__schedule_has_barrier(scheduler, before->node, after->node))
        return false;
    bool is_near = ((before->item->flags | after->item->flags) & WEFT__ACCESS_FAR) == 0 &&
                   (both & WEFT__STAGING_FUSABLE) != 0;
    uint32_t first = scheduler->ordered[before->node]->stage;
    return scheduler->ordered[after->node]->stage >= (is_near ? first : first + 1) &&
           weft__segment_graph_orders(scheduler, scheduler->ordered[before->node],
                                      scheduler->ordered[after->node]);
}

/* Whether the item and one of a system before it collide now, did not, and must be planned. */
static bool has_new_conflict(extending *e, const concerned *added)
{
    for (uint32_t at = added->next; at != WEFT__NONE; at = e->items[at].next) {
        const concerned *other = &e->items[at];
        bool has_write = ((added->item->flags | other->item->flags) & WEFT__ACCESS_WRITE) != 0;
        if (!has_write || other->node == added->node) continue;
        if (++e->pairs > PAIR_LIMIT) return true;
        if (!is_respected(e->scheduler, other, added) &&
            weft__access_item_conflict(other->item, added->item) == WEFT__CONFLICT_NONE)
            return true;
    }
    return false;
}

/* Lists the item if the archetype concerns it; false: the plan may change. */
static bool concern(extending *e, const weft__access_item *item, uint32_t node)
{
    if ((item->flags & WEFT__ACCESS_RESOURCE) != 0 ||
        weft__archetype_find(e->archetype, item->component) == WEFT__NONE ||
        !is_in(item->match, e->number))
        return true;
    uint32_t *head = &e->heads[item->component];
    concerned *added = &e->items[e->item_count];
    *added = (concerned){item, node, *head};
    *head = e->item_count++;
    return !has_new_conflict(e, added);
}

static void set_add(const weft__archetype_set *constant, uint32_t number)
{
    weft__archetype_set *set = (weft__archetype_set *)(uintptr_t)constant;
    uint32_t word = number / 64;
    if (set == NULL) return;
    set->words[word] |= UINT64_C(1) << number % 64;
    if (set->word_count <= word) set->word_count = word + 1;
    if (set->first_word > word) set->first_word = word; /* it was empty */
}

/* False: the plan may change; the sets are as they were. */
static bool add_archetype(extending *e)
{
    const weft__scheduler *scheduler = e->scheduler;
    e->item_count = 0;
    for (uint32_t i = 0; i <= weft__type_count(scheduler->world); i++) e->heads[i] = WEFT__NONE;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        for (uint32_t k = 0; k < scheduler->nodes[i].access.count; k++)
            if (!concern(e, &scheduler->nodes[i].access.items[k], i)) return false;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        for (uint32_t k = 0; k < scheduler->nodes[i].access.count; k++) {
            const weft__access_item *item = &scheduler->nodes[i].access.items[k];
            if (item->with != NULL &&
                weft__archetype_find(e->archetype, item->component) != WEFT__NONE)
                set_add(item->with, e->number);
            if (item->match != NULL && is_in(item->match, e->number))
                set_add(item->match, e->number);
        }
    return true;
}

/* Whether the access items are those that compiling would make. */
static bool is_current(const weft__scheduler *scheduler)
{
    return !scheduler->is_dirty && !scheduler->has_filters &&
           scheduler->compiled_order == weft__archetype_order(scheduler->world) &&
           scheduler->growth.types == weft__type_count(scheduler->world) &&
           weft__archetype_count(scheduler->world) > scheduler->compiled_archetypes &&
           weft__archetype_count(scheduler->world) <= scheduler->growth.set_words * 64;
}

bool weft__schedule_extend(weft__scheduler *scheduler)
{
    const weft_world *world = scheduler->world;
    if (!is_current(scheduler)) return false;
    size_t limit = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        limit += scheduler->nodes[i].access.count;
    weft__arena_block **arena = &scheduler->growth.arena;
    weft__arena_empty(scheduler->memory, arena);
    extending e = {.scheduler = scheduler};
    e.items = weft__arena_take(scheduler->memory, arena, (limit + 1) * sizeof e.items[0]);
    e.heads = weft__arena_take(scheduler->memory, arena,
                               (weft__type_count(world) + 1) * sizeof e.heads[0]);
    if (e.items == NULL || e.heads == NULL) return false;
    for (uint32_t n = scheduler->compiled_archetypes; n < weft__archetype_count(world); n++) {
        e.archetype = weft__archetype_numbered(world, n);
        e.number = n;
        if (!add_archetype(&e)) return false;
        scheduler->compiled_archetypes = n + 1;
    }
    scheduler->growth.extensions++;
    return true;
}
