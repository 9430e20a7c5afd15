/* SPDX-License-Identifier: MIT */
/* chunk_grow.c: growth in place of the only chunk of a tuple. What it has is copied to the new
 * memory before the old one goes; everything that can fail comes first. */
#include "chunk_grow.h"

#include "chunk.h"
#include "column_map.h"
#include "format.h"

#include <string.h>

/* A function of the layout of the world, not of how it came to be: worlds that were restored do the
 * same as those that were not. */
static weft__chunk *only_chunk(weft__tuple *tuple)
{
    if (tuple->chunk_count != 1) return NULL;
    weft__chunk *const *chunks = tuple->archetype->chunks;
    for (uint32_t i = 0; tuple->some == NULL; i++)
        if (chunks[i]->tuple == tuple) tuple->some = chunks[i];
    return tuple->some;
}

/* The smallest class with room for `count` more rows, or the largest one that the chunk can have;
 * its own: it cannot grow. The rows keep their locations, so there are as many berths. */
static uint32_t class_for(const weft__chunk *chunk, uint64_t count)
{
    const weft__format *format = chunk->archetype->format;
    uint32_t size_class = chunk->layout->size_class;
    if (format->row_limit != UINT32_MAX) return size_class;
    while (size_class < WEFT__UNIT_CLASS &&
           weft__format_capacity(format, size_class) < chunk->count + count &&
           weft__berths_of(weft__format_capacity(format, size_class + 1)) ==
               weft__berths_of(chunk->capacity))
        size_class++;
    return size_class;
}

static void columns_copy(const weft__chunk *from, const weft__layout *layout, char *to)
{
    for (uint32_t column = 0; column < layout->column_count; column++)
        memcpy(to + layout->columns[column].offset, weft__chunk_column(from, column),
               (size_t)from->count * layout->columns[column].bytes);
}

/* Slices and words of rows begin at the same rows in all layouts of a format. */
static void side_copy(const weft__chunk *from, const weft__layout *layout, const weft__side *to)
{
    const weft__archetype *archetype = from->archetype;
    size_t slices = from->layout->slice_count, words = from->layout->mask_words;
    if (archetype->chunk_value_bytes != 0)
        memcpy(to->chunk_values, from->chunk_values, archetype->chunk_value_bytes);
    for (uint32_t type = 0; type < archetype->type_count; type++)
        memcpy(to->x_versions + (size_t)type * layout->slice_count,
               weft__chunk_versions(from, type), slices * sizeof(weft_a32));
    for (uint32_t e = 0; e < archetype->enableable_count; e++) {
        memcpy(to->x_disabled + (size_t)e * layout->mask_words, weft__chunk_disabled(from, e),
               words * sizeof(weft_a64));
        memcpy(to->x_disabled_counts + (size_t)e * layout->slice_count,
               weft__chunk_disabled_counts(from, e), slices * sizeof(weft_a32));
    }
}

/* The chunk takes the memory over. Rows that are reserved but not written yet are below its count:
 * they read as zero only if they did so before. */
static void memory_install(weft__chunk *chunk, const weft__layout *layout, const weft__run *run)
{
    chunk->base = run->memory;
    chunk->layout = layout;
    chunk->capacity = layout->capacity;
    chunk->first_unit = run->first;
    chunk->unit_count = run->count;
    chunk->is_zero = chunk->is_zero && run->is_zero;
    chunk->ready_end = 0;
}

/* `was`: gets what the chunk had; NULL: that goes. */
static bool memory_grow(weft_world *world, weft__chunk *chunk, uint32_t size_class,
                        weft__chunk *was)
{
    const weft__layout *layout = weft__layout_any(world, chunk->archetype->format, size_class);
    weft__run run;
    weft__side side;
    if (layout == NULL || weft__chunk_memory_allocate(world, size_class, &run) != WEFT_OK)
        return false;
    if (!weft__side_allocate(&world->memory, chunk->archetype, layout, &side)) {
        weft__chunk gone = {
            .base = run.memory, .layout = layout, .first_unit = run.first, .unit_count = run.count};
        weft__chunk_memory_free(world, &gone);
        return false;
    }
    columns_copy(chunk, layout, run.memory);
    side_copy(chunk, layout, &side);
    if (was != NULL) {
        *was = *chunk;
    } else {
        weft__chunk_memory_free(world, chunk);
        weft__side_end(&world->memory, chunk);
    }
    memory_install(chunk, layout, &run);
    weft__side_put(&world->memory, chunk, chunk->archetype, layout, &side);
    return true;
}

/* The rows are in other memory. */
static void chunk_moved(weft_world *world, weft__chunk *chunk)
{
    chunk->serial = ++world->chunks.serial; /* no snapshot has these rows in this layout */
    world->quick.from = NULL;
    world->front.structure_version++;
    weft__column_maps_link(world, chunk);
    weft__chunk_room_update(chunk);
}

static weft__growth *growth_alloc(weft_world *world)
{
    return weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, 1, sizeof(weft__growth),
                       _Alignof(weft__growth));
}

static void growth_free(weft_world *world, weft__growth *growth)
{
    weft__free(&world->memory, WEFT__MEMORY_COMMANDS, growth, 1, sizeof *growth,
               _Alignof(weft__growth));
}

weft__chunk *weft__chunk_grow(weft_world *world, weft__tuple *tuple, uint64_t count,
                              weft__growth **list)
{
    weft__chunk *chunk = only_chunk(tuple);
    if (chunk == NULL || chunk->count != chunk->capacity) return NULL;
    uint32_t size_class = class_for(chunk, count);
    if (size_class == chunk->layout->size_class) return NULL;
    weft__growth *growth = list != NULL ? growth_alloc(world) : NULL;
    if ((list != NULL && growth == NULL) ||
        !memory_grow(world, chunk, size_class, growth != NULL ? &growth->was : NULL)) {
        growth_free(world, growth);
        return NULL;
    }
    if (growth != NULL) {
        growth->chunk = chunk;
        growth->next = *list;
        *list = growth;
    }
    chunk_moved(world, chunk);
    return chunk;
}

void weft__growths_keep(weft_world *world, weft__growth **list)
{
    for (weft__growth *growth; (growth = *list) != NULL;) {
        weft__chunk *was = &growth->was;
        weft__side side = {.block = weft__chunk_side(was),
                           .chunk_values = was->chunk_values,
                           .bytes = was->side_bytes};
        weft__chunk_memory_free(world, was);
        if (side.block != growth->chunk->own_side) weft__side_free(&world->memory, &side);
        *list = growth->next;
        growth_free(world, growth);
    }
}

void weft__growths_undo(weft_world *world, weft__growth **list, uint32_t from)
{
    for (weft__growth *growth; (growth = *list) != NULL && growth->first >= from;) {
        weft__chunk *chunk = growth->chunk;
        const weft__chunk *was = &growth->was;
        weft__chunk_memory_free(world, chunk);
        weft__side_end(&world->memory, chunk);
        chunk->base = was->base;
        chunk->layout = was->layout;
        chunk->capacity = was->capacity;
        chunk->first_unit = was->first_unit;
        chunk->unit_count = was->unit_count;
        chunk->is_zero = was->is_zero;
        chunk->ready_end = was->ready_end;
        chunk->ready_version = was->ready_version;
        chunk->x_versions = was->x_versions;
        chunk->x_disabled = was->x_disabled;
        chunk->x_disabled_counts = was->x_disabled_counts;
        chunk->chunk_values = was->chunk_values;
        chunk->side_bytes = was->side_bytes;
        memcpy(chunk->own_side, was->own_side, sizeof chunk->own_side);
        chunk_moved(world, chunk);
        *list = growth->next;
        growth_free(world, growth);
    }
}
