/* SPDX-License-Identifier: MIT */
/* query_each.c: a loop over all slices of a query on the world's pool.
 *
 * A loop job over slice positions; each part walks its range with a source of its own
 * (query_state.h). What a loop costs is remembered by the query's handle. In checked builds the
 * callback gets copies of the columns (guard.h), as systems do. */
#include "query_each.h"

#include "error.h"
#include "guard.h"
#include "host.h"
#include "query_cursor.h"
#include "query_handle.h"
#include "query_match.h"
#include "query_memory.h"
#include "slice_ops.h"

#include <stdio.h>

/* What the parts of a loop share: lives on the caller's stack, constant while the loop runs. */
typedef struct each_loop {
    weft_slice_context context;
    const weft__filter *filter;
    void (*run)(weft_slice *slice, void *user);
    void *user;
} each_loop;

static void call(const each_loop *loop, weft_slice *slice)
{
    weft__guard *guard =
        WEFT_IS_CHECKED ? weft__guard_of(loop->context.world, slice->worker) : NULL;
    weft__guard_frame frame;
    if (WEFT_IS_CHECKED) {
        weft__guard_open(guard, slice, NULL, 0, &frame);
        slice = frame.slice;
    }
    loop->run(slice, loop->user);
    if (WEFT_IS_CHECKED) weft__guard_close(guard, &frame);
}

/* The bytes from one slice of a run to the next in each column; 0 where there is none. */
static void find_steps(const weft_slice *run, uint32_t slice_rows, size_t *steps)
{
    const weft__place *places = run->places;
    const weft__layout *layout = ((const weft__chunk *)run->chunk)->layout;
    for (uint32_t t = 0; t < run->term_count; t++) {
        uint32_t column = places[t].column;
        steps[t] = column == WEFT__NO_PLACE ? 0 : layout->columns[column].bytes * slice_rows;
    }
}

/* Calls for a run of slices of a chunk. From one slice to the next by additions: nothing but the
 * columns is touched in between, neither the list of chunks nor versions (stamped for the whole
 * run before; a callback may ask for those of its own slice only). */
static void sweep(const each_loop *loop, weft__source *source, size_t *steps)
{
    weft_slice *slice = &source->slice;
    const uint32_t slice_rows = 1u << ((const weft__chunk *)slice->chunk)->layout->slice_shift;
    uint32_t rows = slice->count;
    if (rows > slice_rows) find_steps(slice, slice_rows, steps);
    for (; rows > slice_rows; rows -= slice_rows) {
        slice->count = slice_rows;
        call(loop, slice);
        slice->entities += slice_rows;
        slice->first += slice_rows;
        slice->index++;
        for (uint32_t t = 0; t < slice->term_count; t++) /* NULL: 0 bytes */
            source->columns[t] = (void *)((uintptr_t)source->columns[t] + steps[t]);
    }
    slice->count = rows;
    call(loop, slice);
}

static int each_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const each_loop *loop = argument;
    const weft__query *query = loop->context.query;
    void *few[WEFT_INLINE_TERMS * 4], **columns = few;
    if (query->term_count > sizeof few / sizeof few[0])
        columns = weft__alloc(&query->world->memory, WEFT__MEMORY_QUERIES, query->term_count,
                              sizeof(void *), WEFT__QUERY_ALIGNMENT);
    if (columns == NULL) return WEFT_OUT_OF_MEMORY;
    size_t steps[sizeof few / sizeof few[0]];
    weft__source source;
    weft__source_init(&source, &loop->context, loop->filter, columns);
    if (query->has_masking_terms || columns != few) source.run_slices = 1;
    source.slice.worker = weft_job_worker_index(job);
    weft__callback_error *record = &query->world->callback_errors[source.slice.worker];
    const uint32_t *outer = record->current;
    record->current = &source.slice.index;
    weft__callback_error *before = weft__error_divert(record);
    weft__source_begin(&source, begin, end);
    while (weft__source_next(&source)) sweep(loop, &source, steps);
    weft__error_divert(before);
    record->current = outer;
    if (columns != few) weft__query_free(query->world, columns, query->term_count, sizeof(void *));
    return 0;
}

/* The cost of a loop of this query with this function; another function starts from zero. A loop
 * that did not know its cost would measure itself slice by slice each time, and never learn that
 * a split does not gain. */
static weft_job_cost *each_cost(weft__query_handle *handle, void (*run)(weft_slice *, void *))
{
    if (handle->each_run != run) handle->each_cost = (weft_job_cost){0};
    handle->each_run = run;
    return &handle->each_cost;
}

/* Room for the copies of the largest slice. */
static void reserve_copies(weft_world *world, const weft__query *query)
{
    size_t most = 0;
    for (uint32_t i = 0; i < query->flat.count; i++) {
        const weft__flat_entry *entry = &query->flat.entries[i];
        uint32_t rows = 1u << entry->layout->slice_shift;
        size_t bytes =
            weft__guard_bytes(entry->layout, rows < entry->count ? rows : entry->count,
                              weft__match_places(query, entry->match), query->term_count);
        if (bytes > most) most = bytes;
    }
    weft__guards_reserve(world, most);
}

/* ---- mistakes ---- */

static weft__callback_error *errors_make(weft_world *world)
{
    uint32_t count = weft_job_pool_worker_count(world->front.host.pool);
    weft__callback_error *errors =
        weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, count, sizeof *errors,
                           _Alignof(weft__callback_error));
    for (uint32_t i = 0; i < count && errors != NULL; i++) errors[i].world = world;
    return errors;
}

void weft__callback_errors_free(weft_world *world)
{
    if (world->callback_errors == NULL) return;
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, world->callback_errors,
               weft_job_pool_worker_count(world->front.host.pool), sizeof *world->callback_errors,
               _Alignof(weft__callback_error));
    world->callback_errors = NULL;
}

/* The error of the lowest slice becomes the world's. Returns it when it is a declaration that was
 * broken; else the callback was told by what it called. */
static weft_result take_errors(weft_world *world)
{
    const weft__callback_error *first = NULL;
    uint32_t count = weft_job_pool_worker_count(world->front.host.pool);
    for (uint32_t i = 0; i < count; i++) {
        const weft__callback_error *record = &world->callback_errors[i];
        if (record->error.number == 0) continue;
        if (first == NULL || record->slice < first->slice) first = record;
    }
    if (first == NULL) return WEFT_OK;
    uint32_t slice = first->slice;
    weft_error error = first->error;
    for (uint32_t i = 0; i < count; i++) world->callback_errors[i].error.number = 0;
    weft__error(world, error.code, error.entity, error.component,
                "weft_query_each_parallel, slice %u: %s", slice, error.text);
    bool is_broken = error.code == WEFT_UNDECLARED_ACCESS || error.code == WEFT_TYPE_MISMATCH;
    return WEFT_IS_CHECKED && is_broken ? error.code : WEFT_OK;
}

/* Takes what the loop's copies have found; the first one by slice and row is the error. */
static weft_result take_strays(weft_world *world)
{
    weft__stray first = {.slice = UINT32_MAX};
    weft__guards *guards = world->guards;
    for (uint32_t i = 0; guards != NULL && i < guards->count; i++) {
        weft__guard *guard = &guards->guards[i];
        uint32_t kept = 0;
        weft__guard_sweep(guard);
        for (uint32_t k = 0; k < guard->strays.count; k++) {
            const weft__stray stray = guard->strays.at[k];
            bool is_before =
                stray.slice < first.slice || (stray.slice == first.slice && stray.row < first.row);
            if (stray.owner != 0)
                guard->strays.at[kept++] = stray; /* of a system: for the end of its step */
            else if (first.places == 0 || is_before)
                first = stray;
        }
        guard->strays.count = kept;
    }
    if (first.places == 0) return WEFT_OK;
    char row[32] = "";
    if (first.row != WEFT__STRAY_NO_ROW) snprintf(row, sizeof row, ", row %u", first.row);
    return weft__error(world, WEFT_UNDECLARED_ACCESS, first.entity,
                       weft__component(world, first.component),
                       "weft_query_each_parallel, slice %u%s: component %s %s", first.slice, row,
                       weft__type_name(world, first.component), weft__stray_text(first.kind));
}

/* The calling thread is the world's host. */
static weft_result each(weft_world *world, weft_query query,
                        void (*run)(weft_slice *slice, void *user), void *user)
{
    if (run == NULL)
        return weft__error_argument(world, "weft_query_each_parallel",
                                    "run is NULL: give a function");
    weft_result result = weft__idle(world, "weft_query_each_parallel");
    if (result != WEFT_OK) return result;
    weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) return WEFT_BAD_HANDLE;
    result = weft__query_flat_prepare(handle->query);
    if (result != WEFT_OK) return result;
    each_loop loop = {.context = {.ops = &weft__slice_ops_owner,
                                  .world = world,
                                  .query = handle->query,
                                  .stamp = world->front.version},
                      .filter = &handle->filter,
                      .run = run,
                      .user = user};
    if (world->callback_errors == NULL) world->callback_errors = errors_make(world);
    if (world->callback_errors == NULL) return weft__error_memory(world, "a loop on the pool");
    weft_job_for_desc desc = {.fn = each_part,
                              .argument = &loop,
                              .count = weft__query_slice_count(handle->query),
                              .cost = each_cost(handle, run),
                              .name = "weft_query_each_parallel"};
    int code = 0;
    if (WEFT_IS_CHECKED) reserve_copies(world, handle->query);
    world->front.busy |= WEFT__BUSY_STEPPING;
    result = weft_job_for(world->front.host.context, &desc, &code);
    world->front.busy &= ~(uint32_t)WEFT__BUSY_STEPPING;
    weft_result mistake = take_errors(world);
    if (WEFT_IS_CHECKED && result == WEFT_OK) {
        weft_result stray = take_strays(world);
        return stray == WEFT_OK ? mistake : stray;
    }
    if (result == WEFT_OK) return WEFT_OK;
    if (result == WEFT_JOB_FAILED) return weft__error_memory(world, "the columns of a loop");
    return weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "weft_query_each_parallel: the loop could not run on the pool: %s",
                       weft_result_text(result));
}

weft_result weft_query_each_parallel(weft_world *world, weft_query query,
                                     void (*run)(weft_slice *slice, void *user), void *user)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__host_begin(world, "weft_query_each_parallel");
    if (result != WEFT_OK) return result;
    result = each(world, query, run, user);
    weft__host_end(world);
    return result;
}
