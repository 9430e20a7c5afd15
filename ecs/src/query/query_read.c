/* SPDX-License-Identifier: MIT */
/* query_read.c: questions about a query, and copies of its rows: counts, entity lists, values and
 * scatter, the single entity.
 *
 * All walk the same runs as iteration does, with filters and enable bits, and stamp nothing but
 * scatter. */
#include "query_read.h"

#include "bits.h"
#include "enable.h"
#include "entity_value.h"
#include "error.h"
#include "query_cursor.h"
#include "query_handle.h"
#include "query_match.h"
#include "slice_ops.h"
#include "sparse.h"

#include <string.h>

weft_result weft__query_ready(const weft_world *world, weft__query *query)
{
    bool is_current = query->flat.version == world->front.structure_version;
    if (is_current) return WEFT_OK;
    if ((world->front.busy & WEFT__BUSY_STEPPING) == 0) return weft__query_flat_prepare(query);
    return weft__error(world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "a query is used while systems run, and structure has changed since its "
                       "last use: use it once before the step (weft_query_count is enough)");
}

weft_result weft__row_walk_begin(weft__row_walk *walk, const weft_world *world, weft_query query)
{
    walk->handle = weft__query_find_checked(world, query);
    if (walk->handle == NULL) return WEFT_BAD_HANDLE;
    weft_result result = weft__query_ready(world, walk->handle->query);
    if (result != WEFT_OK) return result;
    walk->context = (weft_slice_context){.ops = &weft__slice_ops_owner,
                                         .world = walk->handle->query->world,
                                         .query = walk->handle->query};
    weft__source_init_rows(&walk->source, &walk->context, &walk->handle->filter, false);
    weft__source_begin(&walk->source, 0, weft__query_slice_count(walk->handle->query));
    return WEFT_OK;
}

/* Starts a walk. False: no world, or the error is set. */
static bool walk_begin(weft__row_walk *walk, const weft_world *world, weft_query query)
{
    return world != NULL && weft__row_walk_begin(walk, world, query) == WEFT_OK;
}

static uint64_t enabled_rows(const weft_slice *slice)
{
    if (slice->enabled == NULL) return slice->count;
    uint64_t rows = 0;
    for (uint32_t w = 0; w < (slice->count + 63) / 64; w++) rows += bits_count(slice->enabled[w]);
    return rows;
}

uint64_t weft_query_count(const weft_world *world, weft_query query)
{
    weft__row_walk walk;
    if (!walk_begin(&walk, world, query)) return 0;
    if (walk.source.filter == NULL && walk.source.ignores_masks)
        return weft__query_row_count(walk.handle->query);
    uint64_t count = 0;
    while (weft__source_next(&walk.source)) count += enabled_rows(&walk.source.slice);
    return count;
}

bool weft_query_is_empty(const weft_world *world, weft_query query)
{
    weft__row_walk walk;
    return !walk_begin(&walk, world, query) || !weft__source_next(&walk.source);
}

static bool passes_filter(const weft__query_handle *handle, uint32_t match,
                          const weft__chunk *chunk, uint32_t row)
{
    const weft__place *places = weft__match_places(handle->query, match);
    uint32_t slice = row >> chunk->layout->slice_shift;
    switch (weft__filter_chunk(&handle->filter, places, chunk, NULL)) {
    case WEFT__FILTER_SKIP:
        return false;
    case WEFT__FILTER_PASS:
        return true;
    case WEFT__FILTER_SLICES:
        break;
    }
    return weft__filter_next(&handle->filter, places, chunk, slice, slice + 1, NULL) == slice;
}

/* The row of an entity that the query would select; NULL: none. */
static const weft__chunk *query_row(weft__query *query, weft_entity entity, uint32_t *row)
{
    const weft_world *world = query->world;
    if (!query->is_of_sparse_rows) return weft__entity_chunk(world, entity, row);
    if (query->match_count == 0 || weft__query_ready(world, query) != WEFT_OK) return NULL;
    return weft__sparse_find(world, weft__sparse_type(query->matches[0].archetype), entity, row);
}

bool weft_query_matches(const weft_world *world, weft_query query, weft_entity entity)
{
    if (world == NULL) return false;
    const weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) return false;
    uint32_t row = 0;
    const weft__chunk *chunk = query_row(handle->query, entity, &row);
    if (chunk == NULL) return false;
    uint32_t match = weft__query_match_find(handle->query, chunk->archetype->number);
    return match != WEFT__NONE && passes_filter(handle, match, chunk, row) &&
           weft__query_row_is_enabled(handle->query, match, chunk, row);
}

/* ---- copies ---- */

/* Rows copied one after the other, between the runs of a walk and a flat array. Lives on the
 * stack of the call. `done` may pass `capacity`: it counts all rows. */
typedef struct row_copy {
    char *flat;
    uint64_t done;
    uint64_t capacity;
    uint32_t bytes;              /* per row */
    bool is_scatter;             /* from the array to the rows */
    weft__memory *memory;        /* of a scatter: */
    const weft__type *destructs; /* the type, when old values are destructed */
} row_copy;

/* `rows` NULL: no column here; the array gets zeroes. */
static void copy_rows(row_copy *copy, char *rows, uint32_t count)
{
    if (copy->done >= copy->capacity) return;
    uint64_t left = copy->capacity - copy->done;
    if (count > left) count = (uint32_t)left;
    size_t bytes = (size_t)count * copy->bytes;
    char *flat = copy->flat + copy->done * copy->bytes;
    if (rows != NULL && copy->destructs != NULL)
        weft__type_destruct(copy->memory, copy->destructs, rows, count);
    if (rows == NULL && !copy->is_scatter)
        memset(flat, 0, bytes);
    else if (rows != NULL)
        memcpy(copy->is_scatter ? rows : flat, copy->is_scatter ? flat : rows, bytes);
}

/* Copies the enabled rows of a run. */
static void copy_run(row_copy *copy, const weft_slice *slice, char *column)
{
    uint32_t begin = 0, end = 0;
    while (weft_slice_next_run(slice, &begin, &end)) {
        copy_rows(copy, column == NULL ? NULL : column + (size_t)begin * copy->bytes, end - begin);
        copy->done += end - begin;
    }
}

uint64_t weft_query_entities(const weft_world *world, weft_query query, weft_entity *out,
                             uint64_t capacity)
{
    weft__row_walk walk;
    if (!walk_begin(&walk, world, query)) return 0;
    row_copy copy = {
        .flat = (char *)out, .capacity = out == NULL ? 0 : capacity, .bytes = sizeof(weft_entity)};
    while (weft__source_next(&walk.source))
        copy_run(&copy, &walk.source.slice, (char *)(uintptr_t)walk.source.slice.entities);
    return copy.done;
}

/* The first row of a term's column in the current run, or NULL. */
static char *column_of(const weft_slice *slice, uint32_t term)
{
    const weft__place *place = (const weft__place *)slice->places + term;
    const weft__chunk *chunk = slice->chunk;
    if (place->column == WEFT__NO_PLACE) return NULL;
    return weft__chunk_value(chunk, place->column,
                             (uint32_t)(slice->entities - weft__chunk_entities(chunk)));
}

uint32_t weft__query_copied_term(const weft_world *world, const weft__query *query,
                                 weft_component component, const char *what, weft_result *result)
{
    const weft__type *type = weft__type_at(world, component);
    *result = WEFT_INVALID_ARGUMENT;
    if (type == NULL) {
        *result = weft__error_component(world, component);
        return WEFT__NONE;
    }
    if ((type->desc.flags & WEFT_BUFFER) != 0 || type->value_bytes == 0) {
        *result = weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                              "%s: %s has no plain values (tag, shared, buffer or chunk value): "
                              "loop over the slices",
                              what, weft__type_name(world, component.id));
        return WEFT__NONE;
    }
    uint32_t term = weft__query_term_find(query, component.id);
    if (term != WEFT__NONE && query->terms[term].sparse != NULL) {
        *result = weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                              "%s: %s is SPARSE, and the rows of the query are others': loop over "
                              "the slices (weft_slice_read_row), or name it alone",
                              what, weft__type_name(world, component.id));
        return WEFT__NONE;
    }
    if (term == WEFT__NONE)
        *result = weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, component,
                              "%s: %s is not a component of the query: add a term for it", what,
                              weft__type_name(world, component.id));
    return term;
}

uint64_t weft_query_read_values(const weft_world *world, weft_query query, weft_component component,
                                void *out, uint64_t capacity)
{
    weft__row_walk walk;
    weft_result result;
    if (!walk_begin(&walk, world, query)) return 0;
    uint32_t term = weft__query_copied_term(world, walk.handle->query, component,
                                            "weft_query_read_values", &result);
    if (term == WEFT__NONE) return 0;
    weft__note_read(world, "weft_query_read_values", component);
    row_copy copy = {.flat = out,
                     .capacity = out == NULL ? 0 : capacity,
                     .bytes = world->types.at[component.id]->value_bytes};
    while (weft__source_next(&walk.source))
        copy_run(&copy, &walk.source.slice, column_of(&walk.source.slice, term));
    return copy.done;
}

weft_result weft_query_write_values(weft_world *world, weft_query query, weft_component component,
                                    const void *values, uint64_t count)
{
    weft__row_walk walk;
    weft_result result;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    result = weft__may_write(world, "weft_query_write_values");
    if (result != WEFT_OK) return result;
    if (!walk_begin(&walk, world, query)) return world->error->code;
    uint32_t term = weft__query_copied_term(world, walk.handle->query, component,
                                            "weft_query_write_values", &result);
    if (term == WEFT__NONE) return result;
    uint64_t rows = weft_query_count(world, query);
    if (values == NULL && count != 0)
        return weft__error_argument(world, "weft_query_write_values",
                                    "values is NULL: give an array of `count` values");
    if (rows != count)
        return weft__error(
            world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, component,
            "weft_query_write_values: %llu values for %llu matching rows: give as many "
            "as weft_query_count says",
            (unsigned long long)count, (unsigned long long)rows);
    const weft__type *type = world->types.at[component.id];
    row_copy copy = {.flat = (char *)(uintptr_t)values,
                     .capacity = count,
                     .bytes = type->value_bytes,
                     .is_scatter = true,
                     .memory = &world->memory,
                     .destructs = type->needs_destruct ? type : NULL};
    while (weft__source_next(&walk.source)) {
        copy_run(&copy, &walk.source.slice, column_of(&walk.source.slice, term));
        weft__slice_stamp(&walk.source.slice, term, world->front.version);
    }
    return WEFT_OK;
}

weft_entity weft_query_single(weft_world *world, weft_query query)
{
    weft__row_walk walk;
    weft_entity found[2] = {{0, 0}, {0, 0}};
    if (!walk_begin(&walk, world, query)) return found[0];
    uint64_t rows = weft_query_entities(world, query, found, 2);
    if (rows == 1) return found[0];
    weft__error(world, rows == 0 ? WEFT_NOT_FOUND : WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY,
                WEFT__NO_COMPONENT, "weft_query_single: %llu entities match, expected one: %s",
                (unsigned long long)rows,
                rows == 0 ? "create it first, or ask weft_query_is_empty" : "narrow the query");
    return WEFT__NO_ENTITY;
}
