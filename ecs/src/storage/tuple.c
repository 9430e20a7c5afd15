/* SPDX-License-Identifier: MIT */
/* tuple.c: tuples of shared values. Every archetype has tuple0 (all default); archetypes with
 * shared components keep the others in a hash table. A tuple holds one reference on each of its
 * values as long as it exists, and exists while it has chunks or holders. Owner only. */
#include "tuple.h"
#include "archetype_state.h"
#include "bits.h"
#include "error.h"
#include "world_state.h"

#include <string.h>

size_t weft__tuple_bytes(uint32_t shared_count)
{
    return bits_align_up(sizeof(weft__tuple) + shared_count * sizeof(uint32_t), 8);
}

/* Head of the hash chain of these values; the table is there. */
static weft__tuple **chain_of(const weft__archetype *archetype, const uint32_t *values)
{
    uint32_t count = archetype->shared_count;
    return &archetype
                ->tuples[hash_bytes(count, values, count * sizeof *values) & archetype->tuple_mask];
}

/* In zeroed memory. */
static void tuple_init(weft_world *world, weft__tuple *tuple, weft__archetype *archetype,
                       const uint32_t *values)
{
    uint32_t count = archetype->shared_count;
    tuple->archetype = archetype;
    if (values != NULL && count != 0) memcpy(tuple->values, values, count * sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        weft__shared_acquire(&world->shared, archetype->shared_components[i], tuple->values[i], 1);
}

static weft__tuple *tuple_make(weft_world *world, weft__archetype *archetype,
                               const uint32_t *values)
{
    size_t bytes = weft__tuple_bytes(archetype->shared_count);
    weft__tuple *tuple =
        weft__alloc_zeroed(&world->memory, WEFT__MEMORY_METADATA, 1, bytes, _Alignof(weft__tuple));
    if (tuple != NULL) tuple_init(world, tuple, archetype, values);
    return tuple;
}

static void tuple_end(weft_world *world, weft__tuple *tuple)
{
    weft__archetype *archetype = tuple->archetype;
    for (uint32_t i = 0; i < archetype->shared_count; i++)
        weft__shared_release(&world->shared, archetype->shared_components[i], tuple->values[i], 1);
    if (tuple == archetype->tuple0) return; /* in the block of the archetype */
    weft__free(&world->memory, WEFT__MEMORY_METADATA, tuple, 1,
               weft__tuple_bytes(archetype->shared_count), _Alignof(weft__tuple));
}

void weft__tuple_first(weft_world *world, weft__archetype *archetype, weft__tuple *tuple)
{
    tuple_init(world, tuple, archetype, NULL);
    tuple->holders = 1; /* lives as long as its archetype */
    archetype->tuple0 = tuple;
}

static bool table_grow(weft_world *world, weft__archetype *archetype)
{
    uint32_t size = archetype->tuples == NULL ? 0 : archetype->tuple_mask + 1;
    if (archetype->tuple_count < size) return true;
    uint32_t grown = size == 0 ? 8 : 2 * size;
    weft__tuple **table = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_METADATA, grown,
                                             sizeof *table, _Alignof(weft__tuple *));
    if (table == NULL) return false;
    weft__tuple **old = archetype->tuples;
    archetype->tuples = table;
    archetype->tuple_mask = grown - 1;
    for (uint32_t i = 0; i < size; i++) {
        for (weft__tuple *tuple = old[i], *next; tuple != NULL; tuple = next) {
            next = tuple->next;
            weft__tuple **head = chain_of(archetype, tuple->values);
            tuple->next = *head;
            *head = tuple;
        }
    }
    weft__free(&world->memory, WEFT__MEMORY_METADATA, old, size, sizeof *table,
               _Alignof(weft__tuple *));
    return true;
}

static weft__tuple *tuple_find(const weft__archetype *archetype, const uint32_t *values)
{
    size_t bytes = archetype->shared_count * sizeof *values;
    if (memcmp(archetype->tuple0->values, values, bytes) == 0) return archetype->tuple0;
    if (archetype->tuples == NULL) return NULL;
    weft__tuple *tuple = *chain_of(archetype, values);
    while (tuple != NULL && memcmp(tuple->values, values, bytes) != 0) tuple = tuple->next;
    return tuple;
}

weft__tuple *weft__tuple_obtain(weft_world *world, weft__archetype *archetype,
                                const uint32_t *values)
{
    weft__tuple *tuple =
        archetype->shared_count == 0 ? archetype->tuple0 : tuple_find(archetype, values);
    if (tuple == NULL) {
        if (table_grow(world, archetype)) tuple = tuple_make(world, archetype, values);
        if (tuple == NULL) {
            weft__error_memory(world, "shared values");
            return NULL;
        }
        weft__tuple **head = chain_of(archetype, tuple->values);
        tuple->next = *head;
        *head = tuple;
        archetype->tuple_count++;
    }
    tuple->holders++;
    return tuple;
}

weft__tuple *weft__tuple_follow(weft_world *world, const weft__tuple *from, weft__archetype *to)
{
    uint32_t count = to->shared_count;
    if (count == 0 || from->archetype->shared_count == 0) {
        to->tuple0->holders++;
        return to->tuple0;
    }
    uint32_t *values = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_OTHER, count, sizeof *values,
                                          _Alignof(uint32_t));
    if (values == NULL) {
        weft__error_memory(world, "shared values");
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = weft__archetype_find(from->archetype, to->shared_components[i]);
        if (type == WEFT__NONE) continue;
        values[i] = from->values[from->archetype->types[type].shared];
    }
    weft__tuple *tuple = weft__tuple_obtain(world, to, values);
    weft__free(&world->memory, WEFT__MEMORY_OTHER, values, count, sizeof *values,
               _Alignof(uint32_t));
    return tuple;
}

weft__tuple *weft__tuple_with_value(weft_world *world, const weft__tuple *from, weft__archetype *to,
                                    uint32_t component, uint32_t value)
{
    weft__tuple *base = weft__tuple_follow(world, from, to);
    uint32_t type = weft__archetype_find(to, component);
    uint32_t position = to->types[type].shared;
    if (base == NULL || base->values[position] == value) return base;
    uint32_t few[16], *values = few;
    if (to->shared_count > 16)
        values = weft__alloc(&world->memory, WEFT__MEMORY_OTHER, to->shared_count, sizeof *values,
                             _Alignof(uint32_t));
    weft__tuple *tuple = NULL;
    if (values != NULL) {
        for (uint32_t i = 0; i < to->shared_count; i++) values[i] = base->values[i];
        values[position] = value;
        tuple = weft__tuple_obtain(world, to, values);
    } else {
        weft__error_memory(world, "a tuple of shared values");
    }
    if (values != few)
        weft__free(&world->memory, WEFT__MEMORY_OTHER, values, to->shared_count, sizeof *values,
                   _Alignof(uint32_t));
    weft__tuple_release(world, base);
    return tuple;
}

void weft__tuple_release(weft_world *world, weft__tuple *tuple)
{
    WEFT_ASSERT(tuple->holders != 0);
    if (--tuple->holders != 0) return;
    weft__archetype *archetype = tuple->archetype;
    weft__tuple **link = chain_of(archetype, tuple->values);
    while (*link != tuple) link = &(*link)->next;
    *link = tuple->next;
    archetype->tuple_count--;
    tuple_end(world, tuple);
}

void weft__tuples_fini(weft_world *world, weft__archetype *archetype)
{
    uint32_t size = archetype->tuples == NULL ? 0 : archetype->tuple_mask + 1;
    for (uint32_t i = 0; i < size; i++) {
        for (weft__tuple *tuple = archetype->tuples[i], *next; tuple != NULL; tuple = next) {
            next = tuple->next;
            tuple_end(world, tuple);
        }
    }
    if (archetype->tuple0 != NULL) tuple_end(world, archetype->tuple0);
    weft__free(&world->memory, WEFT__MEMORY_METADATA, archetype->tuples, size,
               sizeof *archetype->tuples, _Alignof(weft__tuple *));
}
