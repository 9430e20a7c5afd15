/* SPDX-License-Identifier: MIT */
/* dispatch_trace.c: dispatch.c while a trace is kept: spans around what systems do.
 *
 * A span costs two clock reads and two ring writes (about 40 ns), more than a small slice takes.
 * So a system that runs alone gets one span for all slices of a part. The part of a fused stage
 * is one span, and the sums of its sampled slices (dispatch_time.c) follow as shares of the
 * span, which the file divides by them. A trace for `weft simulate` has a span per slice
 * instead, with the bytes the slice touches. */
#include "dispatch_trace.h"

#include "registry.h"

#include "ecs_engine.h"

/* What a call needs. Owner: weft__dispatch_traced, on its stack. */
typedef struct traced {
    weft__worker *worker;
    weft_job_context *job;
    weft__run_entry_fn run;
} traced;

static void run_span(const traced *t, const weft__entry *entry, const char *name, uint32_t begin,
                     uint32_t end)
{
    weft__note(t->job, WEFT_JOB_EVENT_SPAN_BEGIN, name, end - begin);
    weft__dispatch_timed(t->worker, entry, begin, end, t->run, NULL);
    weft__note(t->job, WEFT_JOB_EVENT_SPAN_END, name, 0);
}

/* ---- every slice, with its bytes */

static uint32_t rows_of(const weft__binding *binding, uint32_t slice)
{
    uint32_t row = slice << binding->slice_shift, size = 1u << binding->slice_shift;
    return binding->rows - row < size ? binding->rows - row : size;
}

/* Whether an earlier system of the fused slice touches the column: then it is in cache. */
static bool is_counted(const weft__entry *entry, uint32_t binding, const void *column)
{
    for (uint32_t i = 0; i < binding; i++)
        for (uint32_t k = 0; k < entry->bindings[i].slice.term_count; k++)
            if (entry->bindings[i].slice.columns[k] == column) return true;
    return false;
}

/* Bytes read, and again those written, each column once. */
static uint64_t bytes_of(const weft__entry *entry, uint32_t slice)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < entry->binding_count; i++) {
        const weft__binding *binding = &entry->bindings[i];
        uint32_t rows = entry->kind == WEFT__ENTRY_CHUNK ? rows_of(binding, slice) : binding->rows;
        for (uint32_t k = 0; k < binding->slice.term_count; k++) {
            const void *column = binding->slice.columns[k];
            if (column == NULL || is_counted(entry, i, column)) continue;
            bool is_written = binding->query->terms[k].access == WEFT_WRITE;
            bytes += (uint64_t)rows * binding->column_bytes[k] * (is_written ? 2 : 1);
        }
    }
    return bytes;
}

static void run_detailed(const traced *t, const weft__entry *entry, uint32_t begin, uint32_t end)
{
    for (uint32_t item = begin; item < end; item++) {
        uint64_t bytes = bytes_of(entry, item);
        weft__note(t->job, WEFT_JOB_EVENT_SPAN_BEGIN, "slice",
                   bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX);
        weft__dispatch_timed(t->worker, entry, item, item + 1, t->run, NULL);
        weft__note(t->job, WEFT_JOB_EVENT_SPAN_END, "slice", 0);
    }
}

static bool is_of_owner(const weft__entry *entry)
{
    return (weft__entry_first(entry)->flags & (WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) !=
           0;
}

/* ---- fused slices */

static void run_fused(const traced *t, const weft__entry *entry, uint32_t begin, uint32_t end)
{
    uint64_t sums[WEFT__TIMED_MAX] = {0};
    weft__note(t->job, WEFT_JOB_EVENT_SPAN_BEGIN, "fused slices", end - begin);
    weft__dispatch_timed(t->worker, entry, begin, end, t->run, sums);
    for (uint32_t i = 0; i < entry->binding_count && i < WEFT__TIMED_MAX; i++) {
        uint32_t ns = sums[i] < UINT32_MAX ? (uint32_t)sums[i] : UINT32_MAX;
        if (entry->bindings[i].system->is_active)
            weft__note(t->job, WEFT_JOB_EVENT_SHARE, entry->bindings[i].system->name, ns);
    }
    weft__note(t->job, WEFT_JOB_EVENT_SPAN_END, "fused slices", 0);
}

void weft__dispatch_traced(weft__worker *worker, const weft__entry *entry, uint32_t begin,
                           uint32_t end, weft__run_entry_fn run)
{
    bool is_detailed = worker->scheduler->is_traced_in_detail;
    const traced t = {worker, weft__host_worker(worker->scheduler->world, worker->index), run};
    if (is_detailed && is_of_owner(entry))
        run_span(&t, entry, "serial", begin, end);
    else if (is_detailed)
        run_detailed(&t, entry, begin, end);
    else if (weft__entry_is_fused(entry))
        run_fused(&t, entry, begin, end);
    else
        run_span(&t, entry, weft__entry_first(entry)->name, begin, end);
}
