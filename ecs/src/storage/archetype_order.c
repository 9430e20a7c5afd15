/* SPDX-License-Identifier: MIT */
/* archetype_order.c: the order of archetypes, which is the order of iteration, of layouts and of
 * playback: that in which they were made, unless a snapshot or a file says otherwise.
 *
 * An archetype's number is its place in the order; its id, which handles hold, never changes. An
 * archetype that the restored state does not know, or that compaction found without rows, leaves
 * the order, and stays, with its id, while something knows it. It comes back, last, when its set of
 * components is asked for again or its first chunk is made: as if it were made then, so that a
 * future does not depend on those that were taken back. Every way that is kept to an archetype
 * outside the order is forgotten, so that it is asked for. Owner only. */
#include "archetype_order.h"
#include "component_index.h"
#include "error.h"
#include "world_state.h"

#include <string.h>

#define TRIM_FROM 64u /* archetypes without rows: queries pass over fewer without any cost */

static bool list_grow(weft_world *world)
{
    uint32_t old = world->archetypes.capacity;
    if (world->archetypes.count < old) return true;
    uint32_t grown = old == 0 ? 64 : 2 * old;
    uint64_t *bits =
        weft__alloc_zeroed(&world->memory, WEFT__MEMORY_METADATA, grown / 64, sizeof *bits, 8);
    if (bits == NULL) return false;
    void *list = weft__realloc(&world->memory, WEFT__MEMORY_METADATA, world->archetypes.at, old,
                               grown, sizeof *world->archetypes.at, 8);
    if (list == NULL) {
        weft__free(&world->memory, WEFT__MEMORY_METADATA, bits, grown / 64, sizeof *bits, 8);
        return false;
    }
    if (old != 0) memcpy(bits, world->archetypes.nonempty, old / 64 * sizeof *bits);
    weft__free(&world->memory, WEFT__MEMORY_METADATA, world->archetypes.nonempty, old / 64,
               sizeof *bits, 8);
    world->archetypes.nonempty = bits;
    world->archetypes.at = list;
    world->archetypes.capacity = grown;
    return true;
}

weft_result weft__archetype_enter(weft_world *world, weft__archetype *archetype)
{
    if (archetype->number != WEFT__NONE) return WEFT_OK;
    const weft__matching *matching = &world->matching;
    world->front.structure_version++; /* before: what is reserved may move, and then fail */
    if (!list_grow(world) || !weft__component_index_reserve(world, archetype) ||
        !matching->reserve(world, archetype))
        return weft__error_memory(world, "archetype");
    uint32_t number = world->archetypes.count++;
    archetype->number = number;
    world->archetypes.at[number] = archetype;
    if (archetype->entity_count != 0)
        world->archetypes.nonempty[number / 64] |= UINT64_C(1) << number % 64;
    weft__component_index_enter(world, archetype);
    matching->enter(world, archetype);
    return WEFT_OK;
}

/* ---- another order ---- */

/* Edges and derived archetypes that lead out of the order. */
static void ways_forget(weft__archetype *archetype)
{
    bool is_stale = false;
    for (uint32_t i = 0; i <= archetype->edge_mask && !is_stale; i++)
        is_stale =
            archetype->edges[i].key != 0 && archetype->edges[i].plan->to->number == WEFT__NONE;
    if (is_stale) {
        memset(archetype->edges, 0, (archetype->edge_mask + (size_t)1) * sizeof(weft__edge));
        archetype->edge_count = 0;
    }
    if (archetype->residue != NULL && archetype->residue->number == WEFT__NONE)
        archetype->residue = NULL;
    if (archetype->instance != NULL && archetype->instance->number == WEFT__NONE)
        archetype->instance = NULL;
}

/* Takes the archetypes from a number on out of the order. */
static void cut(weft_world *world, uint32_t count)
{
    for (uint32_t i = count; i < world->archetypes.count; i++) {
        world->archetypes.at[i]->number = WEFT__NONE;
        world->archetypes.nonempty[i / 64] &= ~(UINT64_C(1) << i % 64);
    }
    world->archetypes.count = count;
    weft__component_index_cut(world, count);
    world->matching.cut(world, count);
}

weft_result weft__archetypes_arrange(weft_world *world, const weft__archetype_list *list)
{
    uint32_t same = 0;
    weft_result result = WEFT_OK;
    while (same < list->count && same < world->archetypes.count &&
           world->archetypes.at[same] == list->items[same])
        same++;
    if (same == list->count && same == world->archetypes.count) return WEFT_OK;
    cut(world, same);
    for (uint32_t i = same; i < list->count && result == WEFT_OK; i++)
        result = weft__archetype_enter(world, list->items[i]);
    world->quick.from = NULL;
    for (uint32_t i = 0; i < world->archetypes.id_count; i++)
        if (world->archetypes.by_id[i] != NULL) ways_forget(world->archetypes.by_id[i]);
    world->archetypes.order_version++;
    world->front.structure_version++;
    return result;
}

weft_result weft__archetypes_note(weft_world *world, weft__archetype_list *out)
{
    uint32_t count = world->archetypes.count;
    *out = (weft__archetype_list){0};
    out->items = weft__alloc(&world->memory, WEFT__MEMORY_METADATA, (size_t)count + 1,
                             sizeof out->items[0], 8);
    if (out->items == NULL) return weft__error_memory(world, "the order of archetypes");
    out->count = count;
    if (count != 0) memcpy(out->items, world->archetypes.at, count * sizeof out->items[0]);
    for (uint32_t i = 0; i < count; i++) out->items[i]->holders++;
    return WEFT_OK;
}

static bool is_empty(const weft__archetype *archetype)
{
    return archetype->entity_count == 0 && archetype->chunk_count == 0 &&
           (archetype->flags & WEFT__IS_SPARSE) == 0;
}

bool weft__archetypes_leave(weft_world *world)
{
    uint32_t count = world->archetypes.count, kept = 0;
    weft__archetype_list list;
    for (uint32_t i = 0; i < count; i++) kept += is_empty(world->archetypes.at[i]) ? 0 : 1;
    if (count - kept < TRIM_FROM || count - kept < count / 2) return false;
    if (weft__archetypes_note(world, &list) != WEFT_OK) return false;
    for (uint32_t i = 0, a = 0, b = kept; i < count; i++) {
        weft__archetype *archetype = world->archetypes.at[i];
        list.items[is_empty(archetype) ? b++ : a++] = archetype;
    }
    list.count = kept;
    weft_result result = weft__archetypes_arrange(world, &list);
    WEFT_ASSERT(result == WEFT_OK); /* they have been there */
    (void)result;
    list.count = count;
    weft__archetype_list_free(world, &list);
    return true;
}

void weft__archetype_list_free(weft_world *world, weft__archetype_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) list->items[i]->holders--;
    if (list->items != NULL)
        weft__free(&world->memory, WEFT__MEMORY_METADATA, list->items, (size_t)list->count + 1,
                   sizeof list->items[0], 8);
    *list = (weft__archetype_list){0};
}
