/* SPDX-License-Identifier: MIT */
/* query_read.c: questions about a query, and copies of its rows: counts, entity lists, values and
 * scatter, the single entity.
 *
 * All walk the same runs as iteration does, with filters and enable bits, and stamp nothing but
 * scatter. */
#include "query_read.h"
#include "entity_value.h"
#include "search.h"
#include "sized.h"
#include "slice_ops.h"

#include <stdlib.h>

/* Makes the list of chunks current; systems that ask may only find it so. On failure: error set. */
static weft_result query_ready(const weft_world *world, weft__query *query)
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
    weft_result result = query_ready(world, walk->handle->query);
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
    if (query->match_count == 0 || query_ready(world, query) != WEFT_OK) return NULL;
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

/* The term whose plain values are to be copied; WEFT__NONE: error set, code in *result. */
static uint32_t copied_term(const weft_world *world, const weft__query *query,
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
    uint32_t term =
        copied_term(world, walk.handle->query, component, "weft_query_read_values", &result);
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
    result = weft__may_write(world, "weft_query_write_values");
    if (result != WEFT_OK) return result;
    if (!walk_begin(&walk, world, query)) return world->error->code;
    uint32_t term =
        copied_term(world, walk.handle->query, component, "weft_query_write_values", &result);
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

/* ---- filters ---- */

/* Interns the values of a condition. On failure nothing is held. */
static weft_result intern_values(weft_world *world, weft__filter_shared *condition,
                                 const void *values)
{
    size_t size = world->types.at[condition->component]->desc.size;
    for (uint32_t i = 0; i < condition->count; i++) {
        const char *value = (const char *)values + i * size;
        weft_result result =
            weft__shared_intern(&world->shared, condition->component, value, &condition->values[i]);
        if (result == WEFT_OK) continue;
        weft__filter_release(world, condition, i);
        return result;
    }
    qsort(condition->values, condition->count, sizeof *condition->values, weft__compare_u32);
    return WEFT_OK;
}

static weft_result add_shared(weft_world *world, weft__filter *filter,
                              weft__filter_shared condition, const void *values)
{
    if (!WEFT__LIST_ROOM(&world->memory, WEFT__MEMORY_QUERIES, &filter->shared,
                         filter->shared.count + 1))
        return WEFT_OUT_OF_MEMORY;
    condition.values =
        WEFT__NEW(&world->memory, WEFT__MEMORY_QUERIES, condition.count, *condition.values);
    if (condition.values == NULL) return WEFT_OUT_OF_MEMORY;
    weft_result result = intern_values(world, &condition, values);
    if (result != WEFT_OK) {
        WEFT__FREE(&world->memory, WEFT__MEMORY_QUERIES, condition.values, condition.count);
        return result;
    }
    filter->shared.at[filter->shared.count++] = condition;
    filter->version++;
    return WEFT_OK;
}

/* The handle and the term of a condition. On failure: error set. */
static weft_result find_term(weft_world *world, weft_query query, weft_component component,
                             const char *what, weft__query_handle **handle, uint32_t *term)
{
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    *handle = weft__query_find_checked(world, query);
    if (*handle == NULL) return WEFT_BAD_HANDLE;
    if (weft__type_at(world, component) == NULL) return weft__error_component(world, component);
    *term = weft__query_term_find((*handle)->query, component.id);
    if (*term != WEFT__NONE) return WEFT_OK;
    return weft__error(
        world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, component,
        "%s: %s is not a component of the query: add a term for it (WEFT_NO_ACCESS is enough)",
        what, weft__type_name(world, component.id));
}

weft_result weft_query_filter_shared(weft_world *world, weft_query query, weft_component component,
                                     weft_filter_op op, const void *values, uint32_t count)
{
    weft__query_handle *handle;
    uint32_t term;
    weft_result result =
        find_term(world, query, component, "weft_query_filter_shared", &handle, &term);
    if (result != WEFT_OK) return result;
    if (!handle->query->terms[term].is_shared)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                           "weft_query_filter_shared: %s is not a SHARED component: name one that "
                           "was registered with WEFT_SHARED",
                           weft__type_name(world, component.id));
    if (values == NULL || count == 0 || (unsigned)op > WEFT_FILTER_ONE_OF ||
        (op != WEFT_FILTER_ONE_OF && count != 1))
        return weft__error_argument(world, "weft_query_filter_shared",
                                    "give one value for EQUAL and NOT_EQUAL, one or more for "
                                    "ONE_OF, and no other operation");
    weft__filter_shared condition = {
        .component = component.id, .term = term, .op = op, .count = count};
    result = add_shared(world, &handle->filter, condition, values);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(world, "a filter");
}

/* The change condition of a term, made when there is none. NULL: no memory. */
static weft__filter_changed *changed_at(weft_world *world, weft__filter *filter, uint32_t term,
                                        const weft__type *sparse)
{
    for (uint32_t i = 0; i < filter->changed.count; i++)
        if (filter->changed.at[i].term == term) return &filter->changed.at[i];
    weft__filter_changed *condition =
        WEFT__LIST_ADD(&world->memory, WEFT__MEMORY_QUERIES, &filter->changed);
    if (condition != NULL) *condition = (weft__filter_changed){.term = term, .sparse = sparse};
    return condition;
}

weft_result weft_query_filter_changed(weft_world *world, weft_query query, weft_component component,
                                      uint32_t since)
{
    weft__query_handle *handle;
    uint32_t term;
    weft_result result =
        find_term(world, query, component, "weft_query_filter_changed", &handle, &term);
    if (result != WEFT_OK) return result;
    weft__filter_changed *condition =
        changed_at(world, &handle->filter, term, handle->query->terms[term].sparse);
    if (condition == NULL) return weft__error_memory(world, "a filter");
    condition->since = since;
    handle->filter.version++;
    return WEFT_OK;
}

/* The handle of a query whose filter may be changed now. NULL: error set, code in *result. */
static weft__query_handle *find_filter(weft_world *world, weft_query query, const char *what,
                                       weft_result *result)
{
    *result = world == NULL ? WEFT_INVALID_ARGUMENT : weft__idle(world, what);
    if (*result != WEFT_OK) return NULL;
    weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) *result = WEFT_BAD_HANDLE;
    return handle;
}

weft_result weft_query_filter_order(weft_world *world, weft_query query, uint32_t since)
{
    weft_result result;
    weft__query_handle *handle = find_filter(world, query, "weft_query_filter_order", &result);
    if (handle == NULL) return result;
    handle->filter.has_order = true;
    handle->filter.order_since = since;
    handle->filter.version++;
    return WEFT_OK;
}

weft_result weft_query_filter_reset(weft_world *world, weft_query query)
{
    weft_result result;
    weft__query_handle *handle = find_filter(world, query, "weft_query_filter_reset", &result);
    if (handle == NULL) return result;
    weft__filter_reset(world, &handle->filter);
    return WEFT_OK;
}

/* ---- for tools ---- */

static weft_query handle_at(const weft_world *world, uint32_t index)
{
    const weft__query_handle *handle = weft__front(world)->queries->handles.at[index];
    return (weft_query){handle->generation << WEFT__QUERY_INDEX_BITS | index,
                        weft__front(world)->number};
}

uint32_t weft_query_list(const weft_world *world, weft_query *out, uint32_t capacity)
{
    uint32_t found = 0;
    if (world == NULL || (out == NULL && capacity != 0)) return 0;
    for (uint32_t i = 1; i < weft__front(world)->queries->handles.count; i++) {
        if (weft__front(world)->queries->handles.at[i]->query == NULL) continue;
        if (found < capacity) out[found] = handle_at(world, i);
        found++;
    }
    return found;
}

uint32_t weft_query_terms(const weft_world *world, weft_query query, weft_term *out,
                          uint32_t capacity)
{
    const weft__query_handle *handle =
        world == NULL ? NULL : weft__query_find_checked(world, query);
    if (handle == NULL) return 0;
    for (uint32_t i = 0; i < handle->query->term_count && i < capacity; i++) {
        const weft__query_term *term = &handle->query->terms[i];
        out[i] = (weft_term){.component = weft__component(world, term->component),
                             .access = (weft_access)term->access,
                             .match = (weft_match)term->match,
                             .alternative = term->alternative};
    }
    return handle->query->term_count;
}

weft_result weft_query_info_get(const weft_world *world, weft_query query, weft_query_info *out,
                                size_t out_bytes)
{
    const weft_result refused = weft__error_out(world, out, "weft_query_info");
    if (refused != WEFT_OK) return refused;
    weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) return WEFT_BAD_HANDLE;
    weft__query *q = handle->query;
    weft_result result = query_ready(world, q);
    if (result != WEFT_OK) return result;
    const weft__filter *filter = &handle->filter;
    weft_query_info info = {.archetypes = q->match_count,
                            .systems = handle->users,
                            .handles = q->references,
                            .shared_filters = filter->shared.count,
                            .change_filters = filter->changed.count + filter->has_order,
                            .rows = q->flat.entries[q->flat.count].first_row,
                            .with_prefabs = q->with_prefabs,
                            .with_inactive = q->with_inactive,
                            .ignores_enabled = q->ignores_enabled,
                            .stamps_asked = q->stamps_asked};
    weft__sized_fill(out, out_bytes, &info, sizeof info);
    return WEFT_OK;
}

/* ---- one flat array of rows ---- */

/* Owner: the table. Element i of the span is at base + i * stride, its entity at
 * entities[i - begin]. */
typedef struct indexed_span {
    uint64_t begin; /* of element numbers; the next span's begin is its end */
    char *base;     /* biased by -begin * stride; NULL: no column here */
    const weft_entity *entities;
} indexed_span;

/* Behind weft_indexed.spans. Owner: the weft_indexed, whose close frees it; constant after open.
 * The last span is a sentinel. Always: spans[0].begin == 0; spans[span_count].begin == count;
 * spans[guide[b]].begin <= b << guide_shift < spans[guide[b] + 1].begin. */
typedef struct indexed_table {
    uint64_t version; /* world->front.structure_version it was made for */
    uint32_t component;
    weft_access access;             /* of the term */
    WEFT__LIST(indexed_span) spans; /* the sentinel does not count */
    uint32_t *guide; /* [block]: the span that holds the first element of the block */
    uint32_t guide_count;
    uint32_t guide_shift; /* log2 of elements per block */
} indexed_table;

static void table_free(weft_world *world, indexed_table *table)
{
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &table->spans);
    WEFT__FREE(&world->memory, WEFT__MEMORY_QUERIES, table->guide, table->guide_count);
    WEFT__FREE(&world->memory, WEFT__MEMORY_QUERIES, table, 1);
}

static bool push_span(weft_world *world, indexed_table *table, indexed_span span)
{
    return WEFT__LIST_APPEND(&world->memory, WEFT__MEMORY_QUERIES, &table->spans, &span, 1);
}

/* Base of element 0 if the column went on before its first row. Only used with elements inside. */
static char *biased(char *first, uint64_t begin, uint32_t stride)
{
    return (char *)((uintptr_t)first - (uintptr_t)(begin * stride));
}

/* The spans of all runs that the filter lets pass; writes the number of elements. */
static bool collect_spans(weft_indexed *indexed, indexed_table *table, weft__source *source)
{
    while (weft__source_next(source)) {
        const weft_slice *slice = &source->slice;
        const weft__place *place = (const weft__place *)slice->places + indexed->term;
        const weft__chunk *chunk = slice->chunk;
        uint32_t row = (uint32_t)(slice->entities - weft__chunk_entities(chunk));
        indexed_span span = {.begin = indexed->count, .entities = slice->entities};
        if (place->column != WEFT__NO_PLACE)
            span.base =
                biased(weft__chunk_value(chunk, place->column, row), span.begin, indexed->stride);
        if (!push_span(indexed->world, table, span)) return false;
        indexed->count += slice->count;
    }
    if (!push_span(indexed->world, table, (indexed_span){.begin = indexed->count})) return false;
    table->spans.count--; /* the sentinel */
    return true;
}

/* About two blocks per span. */
static bool make_guide(weft_indexed *indexed, indexed_table *table)
{
    if (indexed->count == 0) return true;
    uint64_t blocks = bits_round_up_power_of_two((uint64_t)table->spans.count * 2);
    uint64_t per_block = bits_round_up_power_of_two((indexed->count + blocks - 1) / blocks);
    table->guide_shift = bits_highest(per_block);
    uint32_t count = (uint32_t)((indexed->count - 1) >> table->guide_shift) + 1;
    table->guide = WEFT__NEW(&indexed->world->memory, WEFT__MEMORY_QUERIES, count, *table->guide);
    if (table->guide == NULL) return false;
    table->guide_count = count;
    uint32_t span = 0;
    for (uint32_t block = 0; block < count; block++) {
        uint64_t first = (uint64_t)block << table->guide_shift;
        while (table->spans.at[span + 1].begin <= first) span++;
        table->guide[block] = span;
    }
    return true;
}

static weft_result fill_table(weft_indexed *indexed, indexed_table *table,
                              const weft__query_handle *handle)
{
    weft_slice_context context = {
        .ops = &weft__slice_ops_owner, .world = indexed->world, .query = handle->query};
    weft__source source;
    weft__source_init_rows(&source, &context, &handle->filter, true);
    weft__source_begin(&source, 0, weft__query_slice_count(handle->query));
    if (collect_spans(indexed, table, &source) && make_guide(indexed, table)) return WEFT_OK;
    return WEFT_OUT_OF_MEMORY;
}

/* Stamps the term's column in all slices that the spans cover. */
static void stamp_spans(const weft_indexed *indexed, const weft__query_handle *handle)
{
    weft_slice_context context = {
        .ops = &weft__slice_ops_owner, .world = indexed->world, .query = handle->query};
    weft__source source;
    weft__source_init_rows(&source, &context, &handle->filter, true);
    weft__source_begin(&source, 0, weft__query_slice_count(handle->query));
    while (weft__source_next(&source))
        weft__slice_stamp(&source.slice, indexed->term, indexed->world->front.version);
}

static weft_result check_term(const weft_world *world, const weft__query *query, uint32_t term)
{
    if (query->has_sparse_terms)
        return weft__error(
            world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
            "weft_indexed_open: the query asks rows for SPARSE components, one by "
            "one: use a query that names the SPARSE component alone, or no SPARSE one");
    if (term < query->term_count && query->terms[term].has_column && !query->terms[term].is_buffer)
        return WEFT_OK;
    return weft__error(
        world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
        "weft_indexed_open: term %u of %u has no column: name a term, counted from 0, "
        "whose component has plain values in each row (buffers: weft_slice_write_buffers)",
        term, query->term_count);
}

static weft_result open_table(weft_indexed *indexed, const weft__query_handle *handle)
{
    weft_world *world = indexed->world;
    const weft__query *query = handle->query;
    indexed_table *table = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_QUERIES, 1, *table);
    if (table == NULL || fill_table(indexed, table, handle) != WEFT_OK) {
        if (table != NULL) table_free(world, table);
        return weft__error_memory(world, "indexed access");
    }
    if (query->terms[indexed->term].access == WEFT_WRITE) stamp_spans(indexed, handle);
    table->version = world->front.structure_version;
    table->component = query->terms[indexed->term].component;
    table->access = query->terms[indexed->term].access;
    indexed->is_writable = table->access == WEFT_WRITE;
    indexed->spans = table;
    indexed->span_count = table->spans.count;
    return WEFT_OK;
}

weft_result weft_indexed_open(weft_world *world, weft_query query, uint32_t term, weft_indexed *out)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL)
        return weft__error_argument(world, "weft_indexed_open",
                                    "out is NULL: give the address of a weft_indexed");
    *out = (weft_indexed){0};
    weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) return WEFT_BAD_HANDLE;
    weft_result result = check_term(world, handle->query, term);
    if (result != WEFT_OK) return result;
    if (handle->query->terms[term].access == WEFT_WRITE &&
        (world->front.busy & WEFT__BUSY_WRITING & ~(uint32_t)WEFT__BUSY_STEPPING) != 0)
        return weft__error_busy(world, "weft_indexed_open");
    result = query_ready(world, handle->query);
    if (result != WEFT_OK) return result;
    weft_indexed indexed = {.term = term,
                            .world = world,
                            .stride =
                                world->types.at[handle->query->terms[term].component]->value_bytes,
                            .span_position = UINT64_MAX}; /* the first span is the next one */
    result = open_table(&indexed, handle);
    if (result != WEFT_OK) return result;
    weft__hold(world, WEFT__HOLDER_INDEXED, 1);
    *out = indexed;
    return WEFT_OK;
}

void weft_indexed_close(weft_indexed *indexed)
{
    if (indexed == NULL || indexed->spans == NULL) return;
    table_free(indexed->world, indexed->spans);
    weft__hold(indexed->world, WEFT__HOLDER_INDEXED, -1);
    *indexed = (weft_indexed){0};
}

/* The span that holds element i < count. */
static uint32_t find_span(const weft_indexed *indexed, const indexed_table *table, uint64_t i)
{
    uint64_t next = indexed->span_position + 1;
    if (!WEFT_IS_CHECKED && i >= indexed->span_end && next < table->spans.count &&
        i < table->spans.at[next + 1].begin)
        return (uint32_t)next; /* walking forwards */
    uint64_t block = i >> table->guide_shift;
    uint32_t low = table->guide[block]; /* the span is in [low, high] */
    uint32_t high =
        block + 1 < table->guide_count ? table->guide[block + 1] : table->spans.count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (table->spans.at[middle].begin <= i)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

const void *weft_indexed_seek(weft_indexed *indexed, uint64_t i)
{
    if (i >= indexed->count) return NULL;
    const indexed_table *table = indexed->spans;
    if (table->version != indexed->world->front.structure_version) return NULL;
    weft__note_use(indexed->world, "weft_indexed_open",
                   weft__component(indexed->world, table->component), table->access);
    uint32_t span = find_span(indexed, table, i);
    const indexed_span *found = &table->spans.at[span];
    if (found->base == NULL) return NULL; /* an optional component that is not there */
    if (WEFT_IS_CHECKED) return found->base + i * indexed->stride; /* every access is a call */
    indexed->span_base = found->base;
    indexed->span_begin = found[0].begin;
    indexed->span_end = found[1].begin;
    indexed->span_position = span;
    return found->base + i * indexed->stride;
}

void *weft_indexed_refuse(const weft_indexed *indexed)
{
    const weft_world *world = indexed->world;
    if (world == NULL) return NULL; /* not open */
    const indexed_table *table = indexed->spans;
    weft__error_use(world, WEFT_UNDECLARED_ACCESS, "weft_indexed_write",
                    weft__component(world, table->component),
                    ": the query declares it WEFT_READ: declare it WEFT_WRITE, or use "
                    "weft_indexed_read");
    return weft__stand_in_values(world, table->component, 1);
}

weft_entity weft_indexed_entity(weft_indexed *indexed, uint64_t i)
{
    if (indexed == NULL || i >= indexed->count) return WEFT__NO_ENTITY;
    const indexed_table *table = indexed->spans;
    if (table->version != indexed->world->front.structure_version) return WEFT__NO_ENTITY;
    const indexed_span *span = &table->spans.at[find_span(indexed, table, i)];
    return span->entities[i - span->begin];
}
