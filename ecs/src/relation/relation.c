/* SPDX-License-Identifier: MIT */
/* relation.c: questions about relations, and their immediate changes. What follows from a change is
 * done when relations are settled (relation_engine.c). */
#include <weft/relation.h>

#include "entity_change.h"
#include "entity_value.h"
#include "error.h"
#include "relation_depth.h"
#include "sized.h"
#include "structure.h"

#include <stdlib.h>

/* ---- questions ---- */

const weft_entity *weft_relation_sources(const weft_world *world, weft_component component,
                                         weft_entity target, uint32_t *count)
{
    const weft__relation *relation = world == NULL ? NULL : weft__relation_find(world, component);
    if (count != NULL) *count = 0;
    if (relation == NULL || count == NULL) return NULL;
    weft__target_page *page;
    const weft__target_slot *slot =
        weft__target_slot_at(relation, weft__bare_index(world, target), &page);
    if (slot == NULL || slot->count == 0 || slot->version != target.version) return NULL;
    *count = slot->count;
    return page->sources + slot->first;
}

weft_entity weft_relation_target(const weft_world *world, weft_entity source,
                                 weft_component component)
{
    const weft__relation *relation = world == NULL ? NULL : weft__relation_find(world, component);
    if (relation == NULL) return WEFT__NO_ENTITY;
    weft__note_read(world, "weft_relation_target", component);
    uint32_t row;
    char *value;
    if (weft__relation_row(relation, source, &row, &value) == NULL) return WEFT__NO_ENTITY;
    return weft__relation_field(relation, value);
}

uint32_t weft_relation_depth(const weft_world *world, weft_component component, weft_entity entity)
{
    const weft__relation *relation = world == NULL ? NULL : weft__relation_find(world, component);
    if (relation == NULL) return 0;
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    return chunk == NULL ? 0 : weft__relation_depth_of(relation, chunk);
}

weft_component weft_relation_depth_component(const weft_world *world, weft_component component)
{
    const weft__relation *relation = world == NULL ? NULL : weft__relation_find(world, component);
    return relation == NULL ? WEFT__NO_COMPONENT : relation->depth;
}

/* ---- changes ---- */

/* The handles above `target`, itself the first. False: no memory. */
static bool chain_collect(const weft__relation *relation, weft_entity target,
                          weft__entity_list *chain)
{
    weft_entity at = target;
    uint32_t row, limit = 0;
    char *value;
    for (;;) {
        if (!weft__entity_list_push(relation->world, chain, at)) return false;
        if (weft__relation_row(relation, at, &row, &value) == NULL) return true;
        at = weft__relation_field(relation, value);
        if (at.version == 0 || ++limit == UINT32_MAX) return true;
        /* fields that were written directly may have a cycle, which the next settling cuts */
        weft_entity turtle = chain->at[chain->count / 2];
        if (at.index == turtle.index && at.version == turtle.version) return true;
    }
}

/* With versions: the chain may end in a dead handle whose index is another entity's now. */
static int handle_compare(const void *a, const void *b)
{
    uint64_t x = weft__entity_bits(*(const weft_entity *)a);
    uint64_t y = weft__entity_bits(*(const weft_entity *)b);
    return x < y ? -1 : x > y;
}

/* Whether an entity is in a sorted chain; short ones are walked. */
static inline bool is_in_chain(const weft__entity_list *chain, weft_entity entity)
{
    if (chain->count > 8)
        return bsearch(&entity, chain->at, chain->count, sizeof entity, handle_compare) != NULL;
    for (uint32_t i = 0; i < chain->count; i++)
        if (handle_compare(&chain->at[i], &entity) == 0) return true;
    return false;
}

static weft_result error_above_itself(const weft__relation *relation, weft_entity source)
{
    weft_world *world = relation->world;
    if (!weft_entity_is_alive(world, source)) return weft__error_stale(world, source);
    return weft__error(world, WEFT_CYCLE, source, weft__component(world, relation->component),
                       "weft_relation_set: %s would be above itself: choose a target "
                       "that is not below it",
                       weft__entity_say(world, source).text);
}

static weft_result cycle_check(const weft__relation *relation, const weft_entity *sources,
                               uint32_t count, weft_entity target)
{
    weft_world *world = relation->world;
    weft__entity_list chain = {0};
    if (!relation->desc.is_acyclic || target.version == 0) return WEFT_OK;
    weft_result result = chain_collect(relation, target, &chain)
                             ? WEFT_OK
                             : weft__error_memory(world, "weft_relation_set");
    if (result == WEFT_OK) qsort(chain.at, chain.count, sizeof *chain.at, handle_compare);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        if (is_in_chain(&chain, sources[i])) result = error_above_itself(relation, sources[i]);
    weft__entity_list_fini(world, &chain);
    return result;
}

/* All but whether the sources are alive. */
static weft_result set_check(weft_world *world, const weft_entity *sources, uint32_t count,
                             weft_component component, weft_entity target)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_relation_set");
    if (result != WEFT_OK) return result;
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    const weft__relation *relation = weft__relation_find(world, component);
    if (relation == NULL)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                           "weft_relation_set: %s is no relation: declare it first",
                           type->desc.name);
    if (target.version != 0 && !weft_entity_is_alive(world, target))
        return weft__error_stale(world, target);
    return cycle_check(relation, sources, count, target);
}

/* Sources that have the component. */
static void fields_set(const weft__relation *relation, const weft_entity *sources, uint32_t count,
                       weft_entity target)
{
    weft__chunk *chunk = NULL;
    const weft__type_slot *slot = NULL;
    weft_entity before = WEFT__NO_ENTITY;
    uint32_t row = 0, stamped = WEFT__NONE;
    for (uint32_t i = 0; i < count; i++) {
        const weft__chunk *known = chunk;
        chunk = weft__entity_chunk_after(relation->world, sources[i], before, chunk, &row);
        before = sources[i];
        if (chunk != known) {
            slot = weft__archetype_slot(chunk->archetype, relation->component);
            stamped = WEFT__NONE;
        }
        char *value = weft__chunk_value(chunk, slot->column, row);
        memcpy(value + relation->offset, &target, sizeof target);
        if (row >> chunk->layout->slice_shift == stamped) continue;
        stamped = row >> chunk->layout->slice_shift;
        weft__slot_stamp(relation->world, chunk, row, slot);
    }
}

/* Sources that lack the component get it. By depth they get the depth, too, that they have if the
 * depth of the target does not change: settling then finds them where they belong. */
static weft_result sources_add(const weft__relation *relation, const weft_entity *sources,
                               uint32_t count, weft_entity target)
{
    const char *what = "weft_relation_set_many";
    weft_world *world = relation->world;
    if (relation->depth.id == 0 || target.version == 0)
        return weft__entities_add(world, sources, count, relation->component, what);
    uint32_t row, index = 0;
    uint32_t depth = weft__relation_depth_of(relation, weft__entity_chunk(world, target, &row)) + 1;
    if (weft__shared_intern(&world->shared, relation->depth.id, &depth, &index) != WEFT_OK)
        return weft__error_memory(world, what);
    weft_result result = weft__entities_add_beside(
        world, sources, count, &(weft__addition){relation->component, relation->depth.id, index},
        what);
    weft__shared_release(&world->shared, relation->depth.id, index, 1);
    return result;
}

weft_result weft_relation_set(weft_world *world, weft_entity source, weft_component component,
                              weft_entity target)
{
    weft_result result = set_check(world, &source, 1, component, target);
    if (result == WEFT_OK && !weft_entity_has(world, source, component))
        result = weft_entity_add(world, source, component);
    if (result == WEFT_OK) fields_set(weft__relation_find(world, component), &source, 1, target);
    return result;
}

weft_result weft_relation_set_many(weft_world *world, const weft_entity *sources, uint32_t count,
                                   weft_component component, weft_entity target)
{
    if (world != NULL && sources == NULL && count != 0)
        return weft__error_argument(world, "weft_relation_set_many",
                                    "sources is NULL: give an array of `count`");
    weft_result result = set_check(world, sources, count, component, target);
    if (result == WEFT_OK && count != 0)
        result = sources_add(weft__relation_find(world, component), sources, count, target);
    if (result == WEFT_OK)
        fields_set(weft__relation_find(world, component), sources, count, target);
    return result;
}

/* ---- statistics ---- */

static uint64_t bytes_of(const weft__relation *relation)
{
    uint64_t bytes =
        sizeof *relation +
        (relation->changes.capacity + relation->sorted.capacity) * sizeof(weft__edge_change) +
        relation->offsets.capacity * sizeof(uint32_t);
    for (uint32_t i = 0; i < relation->diff.mirrors.count; i++) {
        const weft__mirror *mirror = relation->diff.mirrors.at[i];
        if (mirror != NULL) bytes += weft__mirror_bytes(&relation->diff, mirror->capacity);
    }
    for (uint32_t i = 0; i < relation->pages.count; i++) {
        const weft__target_page *page = relation->pages.at[i];
        if (page == NULL) continue;
        bytes += sizeof *page + page->capacity * sizeof(weft_entity);
        bytes += page->nodes == NULL ? 0 : WEFT__BLOCK_SLOTS * sizeof *page->nodes;
    }
    return bytes;
}

weft_result weft_relation_stats_get(const weft_world *world, weft_component component,
                                    weft_relation_stats *out, size_t out_bytes)
{
    if (out != NULL && out_bytes != 0) memset(out, 0, out_bytes);
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL)
        return weft__error_argument(world, "weft_relation_stats_get", "out is NULL: give a struct");
    const weft__relation *relation = weft__relation_find(world, component);
    if (relation == NULL) return weft__error_component(world, component);
    weft_relation_stats stats = relation->stats;
    stats.bytes = bytes_of(relation);
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
    return WEFT_OK;
}
