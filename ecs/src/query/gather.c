/* SPDX-License-Identifier: MIT */
/* gather.c: copies of a query's rows made by jobs, and written back.
 *
 * The slices of the query are cut into blocks. Where filters or enable bits decide, a first loop
 * notes the rows of each block in a bit map (so that later changes of bits do not matter) and
 * counts them; their prefix sums say where each block's values go; a second loop copies. Nothing
 * else is written: from begin to end the world is only read (WEFT__BUSY_GATHERS counts the open
 * ones), so the job needs no order but that of its own end. */
#include <weft/gather.h>

#include "archetype_state.h"
#include "bits.h"
#include "error.h"
#include "host.h"
#include "jobs_engine.h"
#include "query_cursor.h"
#include "query_handle.h"
#include "query_match.h"
#include "query_memory.h"
#include "query_read.h"
#include "slice_ops.h"

#include <string.h>

enum { BLOCKS = 256 };

/* Behind weft_gather.state. Made and freed by the owner; written by the job until it ends. */
typedef struct gather_state {
    /* constant after begin */
    weft_world *world;
    const weft__query_handle *handle;
    weft__query *query;
    struct gather_state *next; /* open gathers of the world; owner */
    weft_job_handle job;
    uint32_t term;  /* WEFT__NONE: entity handles */
    uint32_t bytes; /* of a value */
    char *values;
    uint64_t capacity;
    bool owns_values;
    uint32_t slice_count;
    uint32_t block_slices; /* slices of a block; the last has what is left */
    uint32_t block_count;
    uint32_t word_stride; /* words per slice in `selected` */
    /* the job's */
    uint64_t *selected; /* [slice * word_stride + word]: rows that pass; NULL: all of them */
    uint64_t *offsets;  /* [block_count + 1]: rows, then rows before the block */
    bool is_complete;
} gather_state;

static gather_state *state_of(const weft_gather *gather)
{
    return gather == NULL ? NULL : gather->state;
}

/* Slices [*first, end) of a block. */
static uint32_t block_range(const gather_state *g, uint32_t block, uint32_t *first)
{
    *first = block * g->block_slices;
    uint32_t left = g->slice_count - *first;
    return *first + (left < g->block_slices ? left : g->block_slices);
}

static uint64_t *words_of(const gather_state *g, uint32_t slice)
{
    return g->selected + (size_t)slice * g->word_stride;
}

/* ---- which rows ---- */

/* Notes the rows of a run. */
static void select_run(const gather_state *g, const weft_slice *run)
{
    const weft__chunk *chunk = run->chunk;
    uint32_t per_slice = 1u << chunk->layout->slice_shift;
    for (uint32_t row = 0, slice = run->index; row < run->count; row += per_slice, slice++) {
        uint32_t rows = run->count - row < per_slice ? run->count - row : per_slice;
        uint64_t *words = words_of(g, slice);
        for (uint32_t w = 0; w * 64 < rows; w++) {
            uint64_t all = rows - w * 64 >= 64 ? ~UINT64_C(0) : bits_mask(rows - w * 64);
            words[w] = run->enabled == NULL ? all : run->enabled[row / 64 + w];
        }
    }
}

static int select_blocks(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    gather_state *g = argument;
    weft_slice_context context = {
        .ops = &weft__slice_ops_owner, .world = g->world, .query = g->query};
    (void)job;
    for (uint32_t block = begin; block < end; block++) {
        uint32_t first, last = block_range(g, block, &first);
        memset(words_of(g, first), 0, (size_t)(last - first) * g->word_stride * sizeof(uint64_t));
        weft__source source;
        weft__source_init_rows(&source, &context, &g->handle->filter, false);
        weft__source_begin(&source, first, last);
        while (weft__source_next(&source)) select_run(g, &source.slice);
        uint64_t rows = 0;
        for (uint64_t *word = words_of(g, first); word < words_of(g, last); word++)
            rows += bits_count(*word);
        g->offsets[block] = rows;
    }
    return 0;
}

/* Turns the counts of blocks into the rows before them; the last one is the total. */
static void sum_offsets(gather_state *g)
{
    uint64_t before = 0;
    for (uint32_t block = 0; block < g->block_count; block++) {
        uint64_t rows = g->offsets[block];
        g->offsets[block] = before;
        before += rows;
    }
    g->offsets[g->block_count] = before;
}

/* ---- the copy ---- */

/* A copy of one block in progress, in one of both directions; lives on the stack of the job. */
typedef struct block_copy {
    const gather_state *g;
    char *flat;      /* next value */
    bool is_scatter; /* from the values to the rows */
} block_copy;

/* Copies `count` rows of a chunk from `row` on; the column may be absent (an optional term): its
 * values are zero, and go nowhere. */
static void copy_rows(block_copy *copy, const weft__flat_entry *entry, uint32_t row, uint32_t count)
{
    const gather_state *g = copy->g;
    const weft__chunk *chunk = entry->chunk;
    size_t bytes = (size_t)count * g->bytes;
    uint32_t column =
        g->term == WEFT__NONE ? 0 : weft__match_places(g->query, entry->match)[g->term].column;
    char *rows = column == WEFT__NO_PLACE ? NULL : weft__chunk_value(chunk, column, row);
    if (rows == NULL && !copy->is_scatter)
        memset(copy->flat, 0, bytes);
    else if (rows != NULL)
        memcpy(copy->is_scatter ? rows : copy->flat, copy->is_scatter ? copy->flat : rows, bytes);
    copy->flat += bytes;
}

static void stamp_slice(const gather_state *g, const weft__flat_entry *entry, uint32_t slice)
{
    uint32_t type = weft__match_places(g->query, entry->match)[g->term].type;
    if (type != WEFT__NO_PLACE)
        weft__stamp(&weft__chunk_versions(entry->chunk, type)[slice], g->world->front.version);
}

/* Copies the selected rows of one slice of an entry. */
static void copy_slice(block_copy *copy, const weft__flat_entry *entry, uint32_t slice)
{
    const gather_state *g = copy->g;
    uint32_t shift = entry->layout->slice_shift, row = slice << shift;
    uint32_t rows = entry->count - row < 1u << shift ? entry->count - row : 1u << shift;
    weft_slice window = {.count = rows};
    if (g->selected != NULL) window.enabled = words_of(g, entry->first_slice + slice);
    uint32_t begin = 0, end = 0;
    const char *before = copy->flat;
    while (weft_slice_next_run(&window, &begin, &end))
        copy_rows(copy, entry, row + begin, end - begin);
    if (copy->is_scatter && copy->flat != before) stamp_slice(g, entry, slice);
}

static void copy_block(const gather_state *g, uint32_t block, bool is_scatter)
{
    uint32_t slice, last = block_range(g, block, &slice);
    const weft__flat_entry *entry = &g->query->flat.entries[weft__query_flat_find(g->query, slice)];
    block_copy copy = {
        .g = g, .flat = g->values + g->offsets[block] * g->bytes, .is_scatter = is_scatter};
    for (; slice < last; slice++) {
        if (slice >= entry[1].first_slice) entry++;
        copy_slice(&copy, entry, slice - entry->first_slice);
    }
}

static int gather_blocks(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    for (uint32_t block = begin; block < end; block++) copy_block(argument, block, false);
    return 0;
}

static int scatter_blocks(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    for (uint32_t block = begin; block < end; block++) copy_block(argument, block, true);
    return 0;
}

/* Without a bit map: rows before a block are those of the entries before it. */
static void count_all(gather_state *g)
{
    for (uint32_t block = 0; block < g->block_count; block++) {
        uint32_t slice;
        block_range(g, block, &slice);
        const weft__flat_entry *entry =
            &g->query->flat.entries[weft__query_flat_find(g->query, slice)];
        g->offsets[block] =
            entry->first_row + ((slice - entry->first_slice) << entry->layout->slice_shift);
    }
    g->offsets[g->block_count] = weft__query_row_count(g->query);
}

static int gather_job(weft_job_context *job, void *argument)
{
    gather_state *g = argument;
    weft_job_for_desc loop = {
        .fn = select_blocks, .argument = g, .count = g->block_count, .name = "weft_gather_select"};
    weft_result result = WEFT_OK;
    if (g->selected != NULL) {
        result = weft_job_for(job, &loop, NULL);
        if (result == WEFT_OK) sum_offsets(g);
    } else {
        count_all(g);
    }
    loop.fn = gather_blocks;
    loop.name = "weft_gather";
    if (result == WEFT_OK) result = weft_job_for(job, &loop, NULL);
    g->is_complete = result == WEFT_OK;
    return 0;
}

/* ---- begin ---- */

static void state_free(gather_state *g)
{
    weft_world *world = g->world;
    if (g->owns_values)
        weft__free(&world->memory, WEFT__MEMORY_QUERIES, g->values, g->capacity, g->bytes, 64);
    weft__query_free(world, g->selected, g->slice_count, g->word_stride * sizeof *g->selected);
    weft__query_free(world, g->offsets, g->block_count + 1, sizeof *g->offsets);
    weft__query_free(world, g, 1, sizeof *g);
}

/* The term and the size of what is copied. */
static weft_result find_values(gather_state *g, const weft_gather_desc *desc)
{
    weft_result result = WEFT_OK;
    g->term = WEFT__NONE;
    g->bytes = sizeof(weft_entity);
    if (desc->gathers_entities) return WEFT_OK;
    g->term =
        weft__query_copied_term(g->world, g->query, desc->component, "weft_gather_begin", &result);
    if (g->term != WEFT__NONE) g->bytes = g->world->types.at[desc->component.id]->value_bytes;
    return g->term != WEFT__NONE ? WEFT_OK : result;
}

static uint32_t most_words(const weft__query *query)
{
    uint32_t words = 1;
    for (uint32_t i = 0; i < query->flat.count; i++) {
        uint32_t here = 1u << (query->flat.entries[i].layout->slice_shift - 6);
        if (here > words) words = here;
    }
    return words;
}

/* Blocks, bit map, offsets. False: no memory. */
static bool make_blocks(gather_state *g)
{
    weft_world *world = g->world;
    g->slice_count = weft__query_slice_count(g->query);
    g->block_slices = g->slice_count / BLOCKS + 1;
    g->block_count = (g->slice_count + g->block_slices - 1) / g->block_slices;
    bool is_partial = !weft__filter_is_empty(&g->handle->filter) || g->query->has_masking_terms;
    if (is_partial && g->slice_count != 0) {
        g->word_stride = most_words(g->query);
        g->selected = weft__alloc(&world->memory, WEFT__MEMORY_QUERIES, g->slice_count,
                                  g->word_stride * sizeof *g->selected, WEFT__QUERY_ALIGNMENT);
        if (g->selected == NULL) return false;
    }
    g->offsets = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, g->block_count + 1,
                                    sizeof *g->offsets, WEFT__QUERY_ALIGNMENT);
    return g->offsets != NULL;
}

/* Room for every row that may pass. */
static weft_result make_room(gather_state *g, const weft_gather_desc *desc)
{
    uint64_t rows = weft__query_row_count(g->query);
    g->values = desc->values;
    g->capacity = desc->values == NULL ? rows : desc->capacity;
    if (g->capacity < rows)
        return weft__error(g->world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, desc->component,
                           "weft_gather_begin: room for %llu values, but up to %llu rows may be "
                           "selected: give more, or leave values NULL",
                           (unsigned long long)g->capacity, (unsigned long long)rows);
    if (desc->values != NULL || rows == 0) return WEFT_OK;
    g->values = weft__alloc(&g->world->memory, WEFT__MEMORY_QUERIES, rows, g->bytes, 64);
    g->owns_values = g->values != NULL;
    return g->owns_values ? WEFT_OK : weft__error_memory(g->world, "the values of a gather");
}

static weft_result prepare(gather_state *g, const weft_gather_desc *desc)
{
    weft_result result = find_values(g, desc);
    if (result == WEFT_OK) result = weft__query_flat_prepare(g->query);
    if (result != WEFT_OK) return result;
    if (!make_blocks(g)) return weft__error_memory(g->world, "a gather");
    return make_room(g, desc);
}

/* On a thread that cannot wait for jobs the copy is made at once: a null handle has ended. */
static weft_result submit(gather_state *g)
{
    if (g->world->front.host.context != g->world->front.host.owner) { /* a guest */
        gather_job(g->world->front.host.context, g);
        return WEFT_OK;
    }
    weft_job_desc desc = {.fn = gather_job, .argument = g, .name = "weft_gather"};
    weft_result result = weft_job_submit(g->world->front.host.context, &desc, &g->job);
    if (result == WEFT_OK) return WEFT_OK;
    return weft__error(g->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "weft_gather_begin: the job could not be submitted: %s",
                       result == WEFT_POOL_FULL ? "wait for others (weft_job_wait_all) or raise "
                                                  "job_capacity of the pool"
                                                : weft_result_text(result));
}

/* May a gather begin now? */
static weft_result check_phase(const weft_world *world)
{
    if ((world->front.busy & ~(uint32_t)WEFT__BUSY_GATHERS) != 0)
        return weft__error_busy(world, "weft_gather_begin");
    if (world->front.frame != WEFT__FRAME_NONE) /* an exclusive system: it would outlast it */
        return weft__error_step(world, "weft_gather_begin");
    if ((world->front.busy & WEFT__BUSY_GATHERS) != WEFT__BUSY_GATHERS) return WEFT_OK;
    return weft__error(world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "weft_gather_begin: %u gathers are open: end some (weft_gather_end)",
                       WEFT__BUSY_GATHERS / WEFT__BUSY_GATHER);
}

/* The calling thread is the world's host. */
static weft_result begin(weft_world *world, weft_query query, const weft_gather_desc *desc,
                         weft_gather *out)
{
    if (desc == NULL || out == NULL)
        return weft__error_argument(world, "weft_gather_begin",
                                    "desc or out is NULL: give their addresses");
    weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) return WEFT_BAD_HANDLE;
    gather_state *g = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, 1, sizeof *g,
                                         WEFT__QUERY_ALIGNMENT);
    if (g == NULL) return weft__error_memory(world, "a gather");
    g->world = world;
    g->handle = handle;
    g->query = handle->query;
    weft_result result = prepare(g, desc);
    if (result == WEFT_OK) result = submit(g);
    if (result != WEFT_OK) {
        state_free(g);
        return result;
    }
    g->next = world->front.queries->gathers;
    world->front.queries->gathers = g;
    world->front.busy += WEFT__BUSY_GATHER;
    weft__hold(world, WEFT__HOLDER_GATHERS, 1);
    *out = (weft_gather){.job = g->job, .state = g};
    return WEFT_OK;
}

weft_result weft_gather_begin(weft_world *world, weft_query query, const weft_gather_desc *desc,
                              weft_gather *out)
{
    if (out != NULL) *out = (weft_gather){0};
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__host_begin(world, "weft_gather_begin");
    if (result != WEFT_OK) return result;
    result = check_phase(world);
    if (result == WEFT_OK) result = begin(world, query, desc, out);
    weft__host_end(world);
    return result;
}

/* ---- after it ---- */

/* In a job a gather cannot be waited for, and the world's error belongs to another thread: such a
 * call returns its code and writes nothing. A gather without a job never waits. */
static bool is_in_job(const gather_state *g)
{
    return g->job.generation != 0 && weft__pool_is_in_job(g->world->front.host.pool);
}

/* Keeps in the world why there are no values, or no wait. */
static weft_result wait_failed(const gather_state *g, weft_result result, const char *what)
{
    const char *why = weft_result_text(result);
    if (result == WEFT_CANCELLED)
        why = "the copy was cancelled: call weft_gather_end and begin again";
    if (result == WEFT_WRONG_THREAD)
        why = "the thread that created the pool began a gather that still copies: let that thread "
              "wait for it";
    return weft__error(g->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "%s: %s", what, why);
}

static weft_result wait_for(const gather_state *g)
{
    weft_result result = WEFT_OK;
    if (g->job.generation != 0)
        result = weft_job_wait(weft_job_pool_owner(g->world->front.host.pool), g->job, NULL);
    if (result == WEFT_OK && !g->is_complete) result = WEFT_CANCELLED;
    return result;
}

weft_result weft_gather_wait(const weft_gather *gather)
{
    const gather_state *g = state_of(gather);
    if (g == NULL) return WEFT_BAD_HANDLE;
    if (is_in_job(g)) return WEFT_WOULD_NEST;
    weft_result result = wait_for(g);
    return result == WEFT_OK ? WEFT_OK : wait_failed(g, result, "weft_gather_wait");
}

weft_result weft_gather_values(const weft_gather *gather, void **values, uint64_t *count)
{
    const gather_state *g = state_of(gather);
    if (values != NULL) *values = NULL;
    if (count != NULL) *count = 0;
    if (g == NULL) return WEFT_BAD_HANDLE;
    if (!weft_job_is_done(g->world->front.host.pool, g->job)) {
        if (is_in_job(g)) return WEFT_WRONG_PHASE;
        return weft__error(g->world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_gather_values: the values are still being copied: call "
                           "weft_gather_wait first, or do it in a job after gather.job");
    }
    if (!g->is_complete) return WEFT_CANCELLED;
    if (values != NULL) *values = g->values;
    if (count != NULL) *count = g->offsets[g->block_count];
    return WEFT_OK;
}

/* Values may not change under a gather that still copies them. */
static weft_result wait_for_others(const weft_world *world)
{
    for (const gather_state *g = world->front.queries->gathers; g != NULL; g = g->next) {
        weft_result result = wait_for(g);
        if (!weft_job_is_done(world->front.host.pool, g->job))
            return wait_failed(g, result, "weft_gather_scatter");
    }
    return WEFT_OK;
}

/* A copy of the bytes does not own what the value in the row owns: which of two equal pointers is
 * to be freed cannot be told. */
static weft_result check_owners(const gather_state *g)
{
    const weft__type *type = g->world->types.at[g->query->terms[g->term].component];
    if (!type->needs_destruct) return WEFT_OK;
    return weft__error(
        g->world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, weft__component(g->world, type->id),
        "weft_gather_scatter: values of %s have a destruct hook, and a copy of their "
        "bytes owns nothing: write new values with weft_query_write_values, which "
        "destructs the old ones, or change them in place in a system",
        weft__type_name(g->world, type->id));
}

weft_result weft_gather_scatter(const weft_gather *gather)
{
    void *values;
    uint64_t count;
    gather_state *g = state_of(gather);
    if (g != NULL && is_in_job(g)) return WEFT_WOULD_NEST;
    weft_result result = weft_gather_values(gather, &values, &count);
    if (result == WEFT_CANCELLED) return wait_failed(g, result, "weft_gather_scatter");
    if (result != WEFT_OK) return result;
    weft_world *world = g->world;
    if ((world->front.busy & ~(uint32_t)WEFT__BUSY_GATHERS) != 0)
        return weft__error_busy(world, "weft_gather_scatter");
    if (g->term == WEFT__NONE)
        return weft__error(
            world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
            "weft_gather_scatter: entity handles cannot be written back: gather a component");
    result = check_owners(g);
    if (result == WEFT_OK) result = wait_for_others(world);
    if (result != WEFT_OK) return result;
    weft_job_for_desc loop = {.fn = scatter_blocks,
                              .argument = g,
                              .count = g->block_count,
                              .name = "weft_gather_scatter"};
    result = weft__host_begin(world, "weft_gather_scatter");
    if (result != WEFT_OK) return result;
    result = weft_job_for(world->front.host.context, &loop, NULL);
    weft__host_end(world);
    return result;
}

weft_result weft_gather_end(weft_gather *gather)
{
    gather_state *g = state_of(gather);
    if (g == NULL) return WEFT_OK;
    if (is_in_job(g)) return WEFT_WOULD_NEST;
    weft_result result = wait_for(g);
    if (!weft_job_is_done(g->world->front.host.pool, g->job))
        return wait_failed(g, result, "weft_gather_end");
    gather_state **link = (gather_state **)&g->world->front.queries->gathers;
    while (*link != g) link = &(*link)->next;
    *link = g->next;
    g->world->front.busy -= WEFT__BUSY_GATHER;
    weft__hold(g->world, WEFT__HOLDER_GATHERS, -1);
    state_free(g);
    *gather = (weft_gather){0};
    return WEFT_OK;
}
