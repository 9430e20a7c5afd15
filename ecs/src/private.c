/* private.c: creation from jobs: chunks that one recorder fills before the world knows them, and
 * the sync point that puts them into the world in a given order. Opening, filling and dropping run
 * on any thread: units come from the concurrent allocator, layouts are published by CAS, and nobody
 * else sees the chunk. Linking is the owner's. Whether a chunk is linked or emptied into others
 * depends on its counts only, never on timing. */
#include "bits.h"
#include "chunk_memory.h"
#include "structure.h"

/* ---- any thread ---- */

static uint32_t class_for(const weft__format *format, uint32_t rows)
{
    uint32_t size_class = WEFT__UNIT_CLASS;
    if (size_class < format->smallest_class) size_class = format->smallest_class;
    while (size_class + 1 < WEFT__SIZE_CLASSES && format->row_limit == UINT32_MAX &&
           weft__format_capacity(format, size_class) < rows)
        size_class++;
    return size_class;
}

weft__chunk *weft__private_open(weft_world *world, uint32_t worker, weft__archetype *archetype,
                                uint32_t rows)
{
    uint32_t size_class = class_for(archetype->format, rows);
    const weft__layout *layout = weft__layout_any(world, archetype->format, size_class);
    if (layout == NULL) return NULL;
    weft__run run;
    if (weft__units_allocate(&world->units, 1u << (size_class - WEFT__UNIT_CLASS), 2 * worker,
                             &run) != WEFT_OK)
        return NULL;
    weft__chunk *chunk = weft__chunk_make(&world->memory, archetype->tuple0, layout, &run);
    if (chunk == NULL) weft__units_free(&world->units, run.first, run.count);
    return chunk;
}

uint32_t weft__private_rows(weft_world *world, weft__chunk *chunk, uint32_t count, uint32_t *row)
{
    uint32_t room = chunk->capacity - chunk->count;
    if (count > room) count = room;
    *row = chunk->count;
    if (count == 0) return 0;
    chunk->count += count;
    weft_entity *entities = weft__chunk_entities(chunk);
    for (uint32_t i = 0; i < count && !chunk->is_zero; i++) entities[*row + i] = WEFT__NO_ENTITY;
    weft__rows_fill(world, chunk, *row, count);
    return count;
}

void weft__private_drop(weft_world *world, weft__chunk *chunk)
{
    weft__rows_discard(world, NULL, chunk, NULL, 0, chunk->count);
    weft__units_free(&world->units, chunk->first_unit, chunk->unit_count);
    weft__chunk_free(&world->memory, chunk);
}

/* ---- owner ---- */

/* True when the rows move into chunks with room: the chunk would be mostly air. */
static bool is_emptied(const weft__chunk *chunk)
{
    return chunk->count * 2 < chunk->capacity;
}

/* Ids for the rows without one, in row order; places those that have one, if the chunk is linked.
 */
static void ids_give(weft_world *world, weft__chunk *chunk)
{
    weft_entity *entities = weft__chunk_entities(chunk);
    for (uint32_t row = 0; row < chunk->count;) {
        uint32_t run = 0, location = chunk->location == 0 ? 0 : weft__location(chunk, row);
        while (row + run < chunk->count && entities[row + run].version == 0) run++;
        if (run != 0) {
            weft__directory_allocate_owner(&world->directory, run, entities + row, NULL, location);
        } else {
            weft__directory_place(&world->directory, entities[row], location);
            run = 1;
        }
        row += run;
    }
}

static void stamp_all(const weft_world *world, const weft__chunk *chunk)
{
    for (uint32_t type = 0; type < chunk->archetype->type_count; type++)
        weft__rows_stamp(chunk, type, 0, chunk->count, world->version);
}

static uint64_t ids_missing(weft__chunk *const *chunks, uint32_t count)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < count; i++) {
        const weft_entity *entities = weft__chunk_entities(chunks[i]);
        for (uint32_t row = 0; row < chunks[i]->count; row++)
            missing += entities[row].version == 0 ? 1 : 0;
    }
    return missing;
}

/* Everything that can fail for the chunks that are linked as they are. */
static weft_result links_reserve(weft_world *world, weft__chunk *const *chunks, uint32_t count)
{
    uint32_t linked = 0;
    uint64_t berths = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_emptied(chunks[i])) continue;
        linked++;
        berths += weft__berths_of(chunks[i]->capacity);
        chunks[i]->archetype->arriving++;
    }
    weft_result result = weft__chunk_ids_reserve(world, linked);
    if (result == WEFT_OK) result = weft__berths_reserve(world, berths);
    for (uint32_t i = 0; i < count; i++) {
        weft__archetype *archetype = chunks[i]->archetype;
        if (result == WEFT_OK && !weft__chunk_list_reserve(world, archetype, archetype->arriving))
            result = WEFT_OUT_OF_MEMORY;
        archetype->arriving = 0;
    }
    return result;
}

/* Room for the rows of the chunks that are emptied, in their order. */
static weft_result spans_reserve(weft_world *world, weft__chunk *const *chunks, uint32_t count,
                                 weft__spans *spans)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        weft__chunk *chunk = chunks[i];
        if (!is_emptied(chunk)) continue;
        if (weft__plan_obtain(world, chunk->archetype, chunk->archetype) == NULL)
            result = world->error->code;
        else
            result = weft__rows_reserve(world, chunk->tuple, chunk->count, spans);
    }
    return result;
}

static void chunk_link(weft_world *world, weft__chunk *chunk)
{
    weft__chunk_link(world, chunk);
    weft__chunk_count_rows(world, chunk, chunk->count);
    ids_give(world, chunk);
    stamp_all(world, chunk);
}

/* Copies the rows to spans[*next...] and drops the chunk's memory. */
static void chunk_empty(weft_world *world, weft__chunk *chunk, const weft__spans *spans,
                        uint32_t *next)
{
    const weft__plan *plan = weft__plan_obtain(world, chunk->archetype, chunk->archetype);
    ids_give(world, chunk);
    stamp_all(world, chunk);
    for (uint32_t done = 0; done < chunk->count;) {
        weft__span span = spans->items[(*next)++];
        weft__rows_copy(world, plan, chunk, NULL, done, span);
        done += span.count;
    }
    weft__units_free(&world->units, chunk->first_unit, chunk->unit_count);
    weft__chunk_free(&world->memory, chunk);
}

weft_result weft__private_link(weft_world *world, weft__chunk *const *chunks, uint32_t count)
{
    uint64_t missing = ids_missing(chunks, count);
    weft_result result = missing > UINT32_MAX
                             ? WEFT_LIMIT
                             : weft__directory_reserve_owner(&world->directory, (uint32_t)missing);
    if (result != WEFT_OK) return weft__error_limit(world, result, "creation from jobs");
    weft__spans spans = {0};
    uint32_t next = 0;
    result = spans_reserve(world, chunks, count, &spans);
    /* after the spans: making their chunks takes places in the lists, too */
    if (result == WEFT_OK) {
        result = links_reserve(world, chunks, count);
        if (result != WEFT_OK) weft__error_limit(world, result, "creation from jobs");
    }
    if (result != WEFT_OK) weft__rows_unreserve(world, &spans, 0);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        if (is_emptied(chunks[i]))
            chunk_empty(world, chunks[i], &spans, &next);
        else
            chunk_link(world, chunks[i]);
    }
    weft__spans_fini(world, &spans);
    return result;
}
