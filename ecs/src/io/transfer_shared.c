/* SPDX-License-Identifier: MIT */
/* transfer_shared.c: shared values of a transfer: found by content in the destination, or put
 * there, with exact references on both sides.
 *
 * References in a value lead to the new handles, so these are foreseen before any is given. While
 * the transfer lasts it holds one reference on every value of the destination that it needs.
 * A value with a release hook has one owner: until the commit that is the source (the copy in the
 * destination is disowned, so that undoing does not end it), from then on the destination. */
#include "transfer_shared.h"
#include "entity_value.h"
#include "error.h"
#include "transfer_state.h"
#include "tuple.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS

static const weft_component_desc *desc_of(const weft__transfer *t, uint32_t component)
{
    return &t->from->types.at[component]->desc;
}

static weft__transfer_shared *map_of(weft__transfer *t, uint32_t component)
{
    weft__transfer_shared *map = &t->shared[component];
    if (map->end != 0) return map;
    uint32_t end = weft__shared_end(&t->from->shared, component);
    weft__memory *memory = &t->to->memory;
    map->index = weft__alloc_zeroed(memory, CATEGORY, end, sizeof *map->index, 4);
    map->came = weft__alloc_zeroed(memory, CATEGORY, end, sizeof *map->came, 1);
    if (map->index != NULL && map->came != NULL) {
        map->end = end;
        return map;
    }
    weft__free(memory, CATEGORY, map->index, end, sizeof *map->index, 4);
    weft__free(memory, CATEGORY, map->came, end, sizeof *map->came, 1);
    *map = (weft__transfer_shared){0};
    return NULL;
}

/* A reference in a shared value becomes the handle that its entity will have, or null. */
static bool reference_foresee(void *user, weft__reference *r)
{
    weft__transfer *t = user;
    uint32_t row, first = 0;
    if (r->is_blob || r->bits == 0) return true;
    if (!t->are_foreseen)
        weft__directory_foresee_owner(&t->to->directory, (uint32_t)t->row_count, t->ids);
    t->are_foreseen = true;
    const weft__chunk *chunk = weft__entity_chunk(t->from, r->entity, &row);
    for (uint32_t p = 0; p < t->entity_parts && chunk != NULL; p++) {
        const weft__change_part *part = &t->change.parts.at[p];
        const uint32_t *rows = weft__change_rows(&t->change, part);
        for (uint32_t i = 0; i < part->count && part->chunk == chunk; i++) {
            if ((rows != NULL ? rows[i] : part->first + i) != row) continue;
            r->entity = t->ids[first + i];
            return true;
        }
        first += part->count;
    }
    r->entity = WEFT__NO_ENTITY;
    t->report.references_cleared++;
    return true;
}

/* The value that the destination gets for a source value; `own` has room for one. */
static const void *value_follow(weft__transfer *t, uint32_t component, uint32_t index, void *own)
{
    const weft__type *type = t->from->types.at[component];
    const void *value = weft__shared_value(&t->from->shared, component, index);
    if (type->entity_offset_count == 0) return value;
    memcpy(own, value, type->desc.size);
    weft__elements_references(type, own, 1, reference_foresee, t);
    return own;
}

/* Whether the destination has a value from this transfer. */
static bool is_put(const weft__transfer_shared *map, uint32_t found)
{
    for (uint32_t i = 1; i < map->end; i++)
        if (map->index[i] == found + 1 && map->came[i] == WEFT__VALUE_NEW) return true;
    return false;
}

static weft_result value_put(weft__transfer *t, weft__transfer_shared *map, uint32_t component,
                             uint32_t index)
{
    bool refers = t->from->types.at[component]->entity_offset_count != 0;
    size_t bytes = refers ? desc_of(t, component)->size : 1;
    uint32_t type = t->types[component], found;
    void *own = weft__alloc(&t->to->memory, CATEGORY, 1, bytes, 8);
    if (own == NULL) return WEFT_OUT_OF_MEMORY;
    const void *value = value_follow(t, component, index, own);
    bool is_known = weft__shared_find(&t->to->shared, type, value, &found);
    weft_result result = weft__shared_intern(&t->to->shared, type, value, &found);
    weft__free(&t->to->memory, CATEGORY, own, 1, bytes, 8);
    if (result != WEFT_OK) return result;
    bool may_merge = refers && desc_of(t, component)->shared_release != NULL;
    map->came[index] = !is_known                         ? WEFT__VALUE_NEW
                       : may_merge && is_put(map, found) ? WEFT__VALUE_MERGED
                                                         : WEFT__VALUE_KNOWN;
    map->index[index] = found + 1;
    if (!is_known) weft__shared_disown(&t->to->shared, type, found, true);
    return WEFT_OK;
}

/* The destination's index of a source value. */
static weft_result value_find(weft__transfer *t, uint32_t component, uint32_t index, uint32_t *out)
{
    *out = 0;
    if (index == 0) return WEFT_OK;
    weft__transfer_shared *map = map_of(t, component);
    if (map == NULL) return weft__error_memory(t->to, "weft_world_transfer");
    if (map->index[index] == 0 && value_put(t, map, component, index) != WEFT_OK)
        return weft__error_memory(t->to, "a shared value");
    *out = map->index[index] - 1;
    return WEFT_OK;
}

weft__tuple *weft__transfer_tuple(weft__transfer *t, const weft__tuple *from, weft__archetype *to)
{
    const weft__archetype *archetype = from->archetype;
    uint32_t count = to->shared_count;
    weft_result result = WEFT_OK;
    if (count == 0) {
        to->tuple0->holders++;
        return to->tuple0;
    }
    uint32_t *values = weft__alloc_zeroed(&t->to->memory, CATEGORY, count, sizeof *values, 4);
    if (values == NULL) {
        weft__error_memory(t->to, "weft_world_transfer");
        return NULL;
    }
    for (uint32_t i = 0; i < archetype->type_count && result == WEFT_OK; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        if (ref->shared == WEFT__NO_PLACE) continue;
        uint32_t type = weft__archetype_find(to, t->types[ref->component]);
        result = value_find(t, ref->component, from->values[ref->shared],
                            &values[to->types[type].shared]);
    }
    weft__tuple *tuple = result == WEFT_OK ? weft__tuple_obtain(t->to, to, values) : NULL;
    weft__free(&t->to->memory, CATEGORY, values, count, sizeof *values, 4);
    return tuple;
}

/* ---- values that must not live in both worlds ---- */

/* Of one shared value: what the source has of it after the transfer. A value, of a list that
 * lives as long as component_check. */
typedef struct remainder {
    uint64_t rows;
    uint32_t tuples;
} remainder;

/* The remainders of a component's values, [map->end]. Every tuple is looked at once. */
static void remainders_count(const weft__transfer *t, uint32_t component, remainder *left)
{
    const weft__component_list *list = weft__component_list_at(t->from, component);
    for (uint32_t a = 0; a < list->count; a++) {
        const weft__archetype *archetype = t->from->archetypes.at[list->at[a].archetype];
        uint32_t shared = list->at[a].place.shared;
        for (uint32_t i = 0; archetype->tuples != NULL && i <= archetype->tuple_mask; i++)
            for (const weft__tuple *tuple = archetype->tuples[i]; tuple; tuple = tuple->next) {
                left[tuple->values[shared]].rows += tuple->rows;
                left[tuple->values[shared]].tuples++;
            }
    }
    for (uint32_t i = 0; i < t->change.parts.count; i++) {
        const weft__change_part *part = &t->change.parts.at[i];
        uint32_t type = weft__archetype_find(part->chunk->archetype, component);
        if (type == WEFT__NONE) continue;
        uint32_t shared = part->chunk->archetype->types[type].shared;
        left[part->chunk->tuple->values[shared]].rows -= part->count;
    }
}

/* The lowest value that would live in both worlds, 0: none. */
static uint32_t value_left(const weft__transfer *t, uint32_t component, const remainder *left)
{
    const weft__transfer_shared *map = &t->shared[component];
    for (uint32_t index = 1; index < map->end; index++)
        if (map->came[index] != WEFT__VALUE_KNOWN &&
            (left[index].rows != 0 ||
             weft__shared_references(&t->from->shared, component, index) != left[index].tuples))
            return index;
    return 0;
}

static weft_result component_check(weft__transfer *t, uint32_t component)
{
    uint32_t count = weft__shared_end(&t->from->shared, component);
    remainder *left = weft__alloc_zeroed(&t->to->memory, CATEGORY, count, sizeof *left, 8);
    if (left == NULL) return weft__error_memory(t->to, "weft_world_transfer");
    remainders_count(t, component, left);
    uint32_t index = value_left(t, component, left);
    weft__free(&t->to->memory, CATEGORY, left, count, sizeof *left, 8);
    if (index == 0) return WEFT_OK;
    return weft__error(t->to, WEFT_BUSY, WEFT__NO_ENTITY,
                       weft__component(t->to, t->types[component]),
                       "weft_world_transfer: a value of \"%s\" has a shared_release hook and would "
                       "live in both worlds: move all entities that have it, and reset filters and "
                       "destroy snapshots of \"%s\" that name it",
                       desc_of(t, component)->name, t->from->desc.name);
}

weft_result weft__transfer_shared_check(weft__transfer *t)
{
    weft_result result = WEFT_OK;
    for (uint32_t id = 1; id <= t->type_count && result == WEFT_OK; id++)
        if (t->shared[id].end != 0 && desc_of(t, id)->shared_release != NULL)
            result = component_check(t, id);
    return result;
}

void weft__transfer_shared_commit(weft__transfer *t)
{
    for (uint32_t id = 1; id <= t->type_count; id++) {
        const weft__transfer_shared *map = &t->shared[id];
        for (uint32_t index = 1; index < map->end; index++) {
            if (map->came[index] != WEFT__VALUE_NEW) continue;
            weft__shared_disown(&t->to->shared, t->types[id], map->index[index] - 1, false);
            if (desc_of(t, id)->shared_release != NULL)
                weft__shared_disown(&t->from->shared, id, index, true);
        }
    }
}

void weft__transfer_shared_fini(weft__transfer *t)
{
    weft__memory *memory = &t->to->memory;
    for (uint32_t id = 1; id <= t->type_count && t->shared != NULL; id++) {
        weft__transfer_shared *map = &t->shared[id];
        for (uint32_t index = 1; index < map->end; index++)
            if (map->index[index] > 1)
                weft__shared_release(&t->to->shared, t->types[id], map->index[index] - 1, 1);
        weft__free(memory, CATEGORY, map->index, map->end, sizeof *map->index, 4);
        weft__free(memory, CATEGORY, map->came, map->end, sizeof *map->came, 1);
    }
}
