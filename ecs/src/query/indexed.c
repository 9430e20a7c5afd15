/* SPDX-License-Identifier: MIT */
/* indexed.c: a query as one flat array of rows.
 *
 * Opening takes a snapshot: the spans (chunks, or runs of slices that the filter lets pass) with
 * their first element and biased base, and a guide that says for each block of 2^k elements in
 * which span it begins. Sequential access stays in the cached span; a seek looks into the next
 * span, then into the guide, and ends with a binary search among the few spans of the block. In
 * checked builds no span is cached: every access is looked at. */
#include "bits.h"
#include "error.h"
#include "query_cursor.h"
#include "query_handle.h"
#include "query_memory.h"
#include "query_read.h"
#include "slice_ops.h"

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
    weft__query_free(world, table->guide, table->guide_count, sizeof *table->guide);
    weft__query_free(world, table, 1, sizeof *table);
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
    table->guide = weft__alloc(&indexed->world->memory, WEFT__MEMORY_QUERIES, count,
                               sizeof *table->guide, WEFT__QUERY_ALIGNMENT);
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
    indexed_table *table = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, 1,
                                              sizeof *table, WEFT__QUERY_ALIGNMENT);
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
    result = weft__query_ready(world, handle->query);
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
