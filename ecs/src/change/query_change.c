/* SPDX-License-Identifier: MIT */
/* query_change.c: which rows queries, handles and the whole world mean: the parts of a change. See
 * query_change.h. The walk over a query ends before anything moves. */
#include "query_change.h"

#include "batch.h"
#include "error.h"
#include "query_cursor.h"
#include "query_memory.h"
#include "query_read.h"

static bool push_rows(weft__change *change, weft__change_part *part, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!weft__change_push_row(change, first + i)) return false;
    part->count += count;
    return true;
}

/* Adds rows [first, first + count) to a part; a run that gets a gap becomes a list. */
static bool extend_part(weft__change *change, weft__change_part *part, uint32_t first,
                        uint32_t count)
{
    if (part->rows == WEFT__NONE && part->first + part->count == first) {
        part->count += count;
        return true;
    }
    if (part->rows == WEFT__NONE) {
        uint32_t run = part->count;
        part->rows = change->rows.count;
        part->count = 0;
        if (!push_rows(change, part, part->first, run)) return false;
    }
    return push_rows(change, part, first, count);
}

static bool select_run(weft__change *change, const weft_slice *slice)
{
    weft__chunk *chunk = (weft__chunk *)(uintptr_t)slice->chunk;
    uint32_t row = (uint32_t)(slice->entities - weft__chunk_entities(chunk));
    uint32_t begin = 0, end = 0;
    while (weft_slice_next_run(slice, &begin, &end)) {
        uint32_t first = row + begin, count = end - begin;
        weft__change_part *last =
            change->parts.count == 0 ? NULL : &change->parts.at[change->parts.count - 1];
        bool is_done = last != NULL && last->chunk == chunk
                           ? extend_part(change, last, first, count)
                           : weft__change_push(change, weft__change_run(chunk, first, count));
        if (!is_done) return false;
    }
    return true;
}

/* The query's rows are those of a SPARSE component: the entities' own rows are meant. */
static weft_result select_owners(weft__change *change, weft_query query, const char *what)
{
    weft_world *world = change->world;
    uint64_t count = weft_query_count(world, query);
    if (count > UINT32_MAX) return weft__error_limit(world, WEFT_LIMIT, what);
    weft_entity *entities = weft__alloc(&world->memory, WEFT__MEMORY_QUERIES, count + 1,
                                        sizeof *entities, _Alignof(weft_entity));
    if (entities == NULL) return weft__error_memory(world, what);
    weft_query_entities(world, query, entities, count);
    weft_result result = weft__change_select_entities(change, entities, (uint32_t)count, what);
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, entities, count + 1, sizeof *entities,
               _Alignof(weft_entity));
    return result;
}

weft_result weft__change_select(weft__change *change, weft_query query, const char *what)
{
    weft_world *world = change->world;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    weft__row_walk walk;
    result = weft__row_walk_begin(&walk, world, query);
    if (result != WEFT_OK) return result;
    if (walk.handle->query->is_of_sparse_rows) return select_owners(change, query, what);
    while (weft__source_next(&walk.source))
        if (!select_run(change, &walk.source.slice)) return weft__error_memory(world, what);
    return WEFT_OK;
}

weft_result weft__change_select_all(weft__change *change, const char *what)
{
    weft_world *world = change->world;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    for (uint32_t a = 0; a < world->archetypes.count; a++) {
        const weft__archetype *archetype = world->archetypes.at[a];
        if ((archetype->flags & WEFT__IS_SPARSE) != 0) continue;
        for (uint32_t i = 0; i < archetype->chunk_count; i++)
            if (!weft__change_push(
                    change, weft__change_run(archetype->chunks[i], 0, archetype->chunks[i]->count)))
                return weft__error_memory(world, what);
    }
    return WEFT_OK;
}

weft_result weft__change_select_entities(weft__change *change, const weft_entity *entities,
                                         uint32_t count, const char *what)
{
    weft_world *world = change->world;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    if (entities == NULL && count != 0)
        return weft__error_argument(world, what, "entities is NULL: give an array of `count`");
    return weft__batch_select(change, entities, count, what);
}
