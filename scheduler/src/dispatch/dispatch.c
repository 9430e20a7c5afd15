/* SPDX-License-Identifier: MIT */
/* dispatch.c: running items of a stage: slices, chunks, indices. What a slice can reach:
 * slice_ops_system.c.
 *
 * One runner, run_rows: for a slice of a chunk (or all of it), skip if the system does not run
 * or its filter says no, point the columns at the slice, stamp the versions of what is declared
 * as written, call. A slice that is the whole chunk lies ready in the binding: nothing is
 * copied. Stamps happen before the call, so that they are there when a later system of the stage
 * asks. One more way does the same for the slices of large chunks where nothing watches and no row
 * is asked about: run_sweep. */
#include "dispatch.h"
#include "counters.h"
#include "diagnose.h"
#include "hash_log.h"
#include "part_order.h"
#include "registry.h"
#include "running.h"
#include "search.h"

static void levels_run(const weft__worker *worker, const weft__entry *entry);

/* ---- tallies ---- */

static inline weft__system_tally *tally_of(const weft__scheduler *scheduler,
                                           const weft__worker *worker, const weft__system *system)
{
    weft__system_tally *tally = &worker->tallies[weft__system_slot(system)];
    if (tally->frame != scheduler->pass) *tally = (weft__system_tally){.frame = scheduler->pass};
    return tally;
}

/* Out of line, and never a tail call: profiles are split by system at this frame. */
__attribute__((noinline)) void weft__system_call(const weft__system *system, weft_slice *slice)
{
    weft__running running;
    weft__running_begin(&running, system->name);
    weft__fire_system(slice->worker, system->name, system->stage, slice->count);
    weft__watch watch;
    if (WEFT_IS_CHECKED) slice = weft__watch_begin(&watch, system, slice);
    system->run(slice, system->user);
    weft__running_end(&running);
    if (WEFT_IS_CHECKED) weft__watch_end(&watch, system);
}

const char *weft__work_name(weft__work work)
{
    static const char *const names[WEFT__WORKS] = {"engine", "relations", "playback", "observers",
                                                   "hashing"};
    return names[work];
}

uint64_t weft__work_begin(weft__scheduler *scheduler, weft__work work)
{
    weft__note(weft__front(scheduler->world)->host.context, WEFT_JOB_EVENT_SPAN_BEGIN,
               weft__work_name(work), UINT32_MAX);
    if (scheduler->is_counted) weft__counters_take(scheduler, 0, NULL, WEFT__WORK_REST);
    return scheduler->is_timed ? weft__scheduler_now(scheduler) : 0;
}

void weft__work_end(weft__scheduler *scheduler, weft__work work, uint64_t begin_ns)
{
    if (scheduler->is_timed) scheduler->work_ns[work] += weft__scheduler_now(scheduler) - begin_ns;
    if (scheduler->is_counted) weft__counters_take(scheduler, 0, NULL, work);
    weft__note(weft__front(scheduler->world)->host.context, WEFT_JOB_EVENT_SPAN_END,
               weft__work_name(work), 0);
}

/* A worker's own part of the state log: its time is not the system's. */
static void hash_slice(weft__worker *worker, const weft__system *system, const weft_slice *slice)
{
    weft__scheduler *scheduler = worker->scheduler;
    const bool is_timed = scheduler->is_timed || scheduler->is_traced;
    if (!is_timed && !scheduler->is_counted) {
        weft__hash_log_take(scheduler, worker->index, system, slice);
        return;
    }
    const char *name = weft__work_name(WEFT__WORK_HASHING);
    weft_job_context *job = weft__host_worker(scheduler->world, worker->index);
    const uint64_t begin = is_timed ? weft__scheduler_now(scheduler) : 0;
    if (!worker->is_sharing) weft__note(job, WEFT_JOB_EVENT_SPAN_BEGIN, name, UINT32_MAX);
    weft__hash_log_take(scheduler, worker->index, system, slice);
    if (!worker->is_sharing) weft__note(job, WEFT_JOB_EVENT_SPAN_END, name, 0);
    if (is_timed) worker->hashed_ns += weft__scheduler_now(scheduler) - begin;
    if (scheduler->is_counted)
        weft__counters_take(scheduler, worker->index, NULL, WEFT__WORK_HASHING);
}

static __attribute__((noinline)) void call_followed(weft__worker *worker,
                                                    const weft__system *system, weft_slice *slice)
{
    weft__scheduler *scheduler = worker->scheduler;
    if (scheduler->is_counted && scheduler->counter_share.percent != 0)
        weft__counters_take(scheduler, worker->index, NULL, WEFT__WORK_REST);
    weft__system_call(system, slice);
    if (scheduler->is_counted)
        weft__counters_take(scheduler, worker->index, system, WEFT__WORK_REST);
    if (scheduler->hash_log != NULL) hash_slice(worker, system, slice);
}

/* Calls the system for a slice that is ready but for what differs from call to call. */
static inline void call(const weft__scheduler *scheduler, weft__worker *worker,
                        const weft__system *system, weft_slice *slice, bool is_followed)
{
    slice->worker = worker->index;
    slice->dt = system->frame.dt;
    weft__system_tally *tally = tally_of(scheduler, worker, system);
    tally->slices++;
    tally->rows += slice->count;
    if (__builtin_expect(is_followed, 0))
        call_followed(worker, system, slice);
    else
        weft__system_call(system, slice);
}

/* ---- rows of one system ---- */

/* True when some column the system reads has changed in the slice since it last ran. */
static bool has_changed(const weft__binding *binding, uint32_t slice)
{
    const weft__query *query = binding->query;
    const weft__place *places = weft__match_places(query, binding->match);
    const weft__chunk *chunk = binding->slice.chunk;
    uint32_t since = binding->system->context.since;
    if (since == 0) return true;
    for (uint32_t i = 0; i < query->term_count; i++) {
        const weft__type *sparse = query->terms[i].sparse;
        if (query->terms[i].access != WEFT_READ) continue;
        if (sparse != NULL &&
            weft__version_is_newer(weft__filter_sparse_version(sparse, chunk, slice), since))
            return true;
        if (places[i].type == WEFT__NO_PLACE) continue;
        weft_a32 *versions = weft__chunk_versions(chunk, places[i].type);
        /* relaxed: written before this stage, or by this worker in this slice */
        if (weft__version_is_newer(at_load_rlx(&versions[slice]), since)) return true;
    }
    return false;
}

static bool passes(const weft__binding *binding, uint32_t slice)
{
    const weft__system *system = binding->system;
    if (system->skips_unchanged && !has_changed(binding, slice)) return false;
    if (binding->filter == NULL) return true;
    const weft__place *places = weft__match_places(binding->query, binding->match);
    const weft__chunk *chunk = binding->slice.chunk;
    weft__filter_verdict verdict =
        weft__filter_chunk(binding->filter, places, chunk, &system->context.since);
    if (verdict != WEFT__FILTER_SLICES) return verdict == WEFT__FILTER_PASS;
    return weft__filter_next(binding->filter, places, chunk, slice, slice + 1,
                             &system->context.since) == slice;
}

/* Slices [first, end), at least one. */
static inline void stamp(const weft__binding *binding, uint32_t first, uint32_t end)
{
    uint32_t version = binding->system->context.stamp;
    for (uint32_t i = 0; i < binding->stamp_count; i++) {
        weft_a32 *x_versions = binding->x_stamps[i];
        at_store_rlx(&x_versions[first], version); /* relaxed: see has_changed */
        for (uint32_t k = first + 1; k < end; k++)
            at_store_rlx(&x_versions[k], version); /* relaxed: see has_changed */
    }
}

static inline uint32_t slices_of(const weft__binding *binding)
{
    return (binding->rows + (1u << binding->slice_shift) - 1) >> binding->slice_shift;
}

/* Which rows of slices [first, end) the system gets; false: none. Without enable bits it is all of
 * them, if one slice passes. */
static bool select_rows(const weft__binding *binding, uint32_t first, uint32_t end,
                        weft_slice *slice, uint64_t *words)
{
    uint32_t size = 1u << binding->slice_shift;
    bool has_some = false, has_all = true;
    if (!binding->has_masks) {
        while (first < end && !passes(binding, first)) first++;
        return first < end;
    }
    slice->enabled = words;
    for (uint32_t i = first; i < end; i++, words += size / 64) {
        uint32_t row = i << binding->slice_shift;
        uint32_t rows = binding->rows - row < size ? binding->rows - row : size;
        weft__rows verdict = passes(binding, i) ? weft__query_mask(binding->query, binding->match,
                                                                   binding->slice.chunk, i, words)
                                                : WEFT__ROWS_NONE;
        has_some = has_some || verdict != WEFT__ROWS_NONE;
        has_all = has_all && verdict == WEFT__ROWS_ALL;
        for (uint32_t word = 0; verdict != WEFT__ROWS_SOME && word < (rows + 63) / 64; word++) {
            uint32_t left = rows - word * 64;
            words[word] = verdict == WEFT__ROWS_ALL ? bits_mask(left > 64 ? 64 : left) : 0;
        }
    }
    if (has_all) slice->enabled = NULL;
    return has_some;
}

/* Points the worker's copy of a binding's slice, which is slice 0 of its chunk, at another. */
static void move_slice(weft__worker *worker, const weft__binding *binding, uint32_t number)
{
    weft_slice *slice = &worker->slice;
    uint32_t row = number << binding->slice_shift, size = 1u << binding->slice_shift;
    for (uint32_t i = 0; i < slice->term_count; i++) {
        char *base = binding->slice.columns[i];
        worker->columns[i] = base == NULL ? NULL : base + (size_t)row * binding->column_bytes[i];
    }
    slice->columns = worker->columns;
    slice->count = binding->rows - row < size ? binding->rows - row : size;
    slice->entities += row;
    slice->first += row;
    slice->index += number;
}

/* The slice of a binding that is not direct: a copy, which can be moved and poisoned. NULL: no
 * row of it is for the system. */
static __attribute__((noinline)) weft_slice *
copy_slice(weft__worker *worker, const weft__binding *binding, uint32_t first, uint32_t end)
{
    weft_slice *slice = &worker->slice;
    *slice = binding->slice;
    if (!binding->is_plain && !select_rows(binding, first, end, slice, worker->mask)) return NULL;
    if (slice->count != binding->rows) move_slice(worker, binding, first);
    return slice;
}

/* Runs a system once on slices [first, end) of a chunk: on one, or on all. `is_direct`, known to
 * the compiler: the binding is, and nothing watches. */
static inline __attribute__((always_inline)) void run_rows(const weft__scheduler *scheduler,
                                                           weft__worker *worker,
                                                           weft__binding *binding, uint32_t first,
                                                           uint32_t end, bool is_direct)
{
    const weft__system *system = binding->system;
    weft_slice *slice = &binding->slice;
    if (!system->is_active) return;
    if (!is_direct && (WEFT_IS_CHECKED || !binding->is_direct))
        slice = copy_slice(worker, binding, first, end);
    if (slice == NULL) return;
    stamp(binding, first, end);
    call(scheduler, worker, system, slice, !is_direct && scheduler->is_followed);
}

/* A system without rows; `number`: index of a range. */
static void run_bare(weft__worker *worker, weft__system *system, uint32_t number)
{
    if (!system->is_active) return;
    worker->slice = (weft_slice){.index = number,
                                 .first = number,
                                 .calls = WEFT_IS_CHECKED ? WEFT_SLICE_CHECKED : 0,
                                 .chunk = worker, /* not NULL: alive */
                                 .context = &system->context};
    call(worker->scheduler, worker, system, &worker->slice, worker->scheduler->is_followed);
}

/* ---- many slices of a chunk ---- */

/* Slices [begin, end) of a large chunk without filters and masks: each active system keeps one
 * slice struct that moves on by additions. What is needed per slice lies close together, and
 * nothing else is touched between slices: the hardware follows a few streams of memory at a
 * time, and lines of five other pages in between made it lose all of them (1.7 us for seven
 * columns, each time). So change versions, which no system asks for before the stage has ended,
 * are stored once for all slices. Asking for the next slice by prefetch instructions costs more
 * than it gains (2.07 and 1.87 ns per entity, seven systems, 1 M). Returns the number of
 * columns. */
static uint32_t begin_sweep(weft__worker *worker, const weft__entry *entry, uint32_t begin,
                            uint32_t end, uint32_t *member_count)
{
    uint32_t column = 0;
    *member_count = 0;
    for (uint32_t i = 0; i < entry->binding_count; i++) {
        const weft__binding *binding = &entry->bindings[i];
        const weft__system *system = binding->system;
        if (!system->is_active) continue;
        weft__sweep_member *member = &worker->sweep[(*member_count)++];
        size_t row = (size_t)begin << binding->slice_shift;
        *member = (weft__sweep_member){
            .slice = binding->slice, .run = system->run, .user = system->user, .system = system};
        member->slice.columns = worker->sweep_columns + column;
        member->slice.entities += row;
        member->slice.first += row;
        member->slice.index += begin;
        member->slice.worker = worker->index;
        member->slice.dt = system->frame.dt;
        for (uint32_t t = 0; t < member->slice.term_count; t++, column++) { /* NULL: 0 bytes */
            size_t bytes = binding->column_bytes[t];
            worker->sweep_columns[column] =
                (void *)((uintptr_t)binding->slice.columns[t] + row * bytes);
            worker->sweep_steps[column] = bytes << binding->slice_shift;
        }
        stamp(binding, begin, end);
    }
    return column;
}

__attribute__((noinline)) void weft__system_calls(weft__worker *worker, uint32_t member_count,
                                                  uint32_t column_count, uint32_t rows,
                                                  uint32_t slice_rows)
{
    const weft__sweep_member *end = worker->sweep + member_count;
    weft__running running;
    weft__running_begin(&running, worker->sweep->system->name);
    while (rows > 0) {
        uint32_t count = rows < slice_rows ? rows : slice_rows;
        for (weft__sweep_member *member = worker->sweep; member < end; member++) {
            weft_slice *slice = &member->slice;
            slice->count = count;
            weft__running_change(&running, member->system->name);
            weft__fire_system(slice->worker, member->system->name, member->system->stage, count);
            member->run(slice, member->user);
            slice->entities += count;
            slice->first += count;
            slice->index++;
        }
        for (uint32_t i = 0; i < column_count; i++) {
            uintptr_t at = (uintptr_t)worker->sweep_columns[i];
            worker->sweep_columns[i] = (void *)(at + worker->sweep_steps[i]);
        }
        rows -= count;
    }
    weft__running_end(&running);
}

static void run_sweep(weft__worker *worker, const weft__entry *entry, uint32_t begin, uint32_t end)
{
    uint32_t shift = entry->bindings[0].slice_shift, member_count;
    uint32_t columns = begin_sweep(worker, entry, begin, end, &member_count);
    uint32_t rows = entry->bindings[0].rows, first_row = begin << shift;
    uint32_t end_row = end << shift < rows ? end << shift : rows;
    if (member_count == 0) return;
    weft__system_calls(worker, member_count, columns, end_row - first_row, 1u << shift);
    for (uint32_t i = 0; i < member_count; i++) {
        weft__system_tally *tally = tally_of(worker->scheduler, worker, worker->sweep[i].system);
        tally->slices += end - begin;
        tally->rows += end_row - first_row;
    }
}

/* ---- items ---- */

static void run_slices(weft__worker *worker, const weft__entry *entry, uint32_t begin, uint32_t end)
{
    const weft__scheduler *scheduler = worker->scheduler;
    if (entry->is_plain && end - begin > 1 && !WEFT_IS_CHECKED && !scheduler->is_followed) {
        run_sweep(worker, entry, begin, end);
        return;
    }
    for (uint32_t slice = begin; slice < end; slice++)
        for (uint32_t i = 0; i < entry->binding_count; i++)
            run_rows(scheduler, worker, &entry->bindings[i], slice, slice + 1, false);
}

/* Slice after slice, or chunk after chunk if a slice is the whole chunk. */
static void run_series(weft__worker *worker, const weft__entry *entry)
{
    const weft__scheduler *scheduler = worker->scheduler;
    for (uint32_t i = 0; i < entry->binding_count; i++) {
        weft__binding *binding = &entry->bindings[i];
        uint32_t slices = slices_of(binding);
        uint32_t step = binding->slice.count == binding->rows ? slices : 1;
        for (uint32_t k = 0; k < slices; k += step)
            run_rows(scheduler, worker, binding, k, k + step, false);
    }
}

/* Chunks of one slice whose systems want all of it, when nothing watches. Takes 26 % off
 * frame.systems, 9 % off frame.one. */
static inline void run_direct(const weft__scheduler *scheduler, weft__worker *worker,
                              const weft__entry *entry)
{
    const weft__binding *end = entry->bindings + entry->binding_count;
    for (weft__binding *binding = entry->bindings; binding < end; binding++)
        run_rows(scheduler, worker, binding, 0, 1, true);
}

static void run_entry(weft__worker *worker, const weft__entry *entry, uint32_t begin, uint32_t end)
{
    const weft__scheduler *scheduler = worker->scheduler;
    if (entry->is_direct && !WEFT_IS_CHECKED && !scheduler->is_followed) {
        run_direct(scheduler, worker, entry);
        return;
    }
    switch ((weft__entry_kind)entry->kind) {
    case WEFT__ENTRY_CHUNK:
        run_slices(worker, entry, begin, end);
        break;
    case WEFT__ENTRY_SERIES:
        run_series(worker, entry);
        break;
    case WEFT__ENTRY_LEVELS:
        levels_run(worker, entry);
        break;
    case WEFT__ENTRY_ONCE:
    case WEFT__ENTRY_RANGE:
        for (uint32_t i = begin; i < end; i++) run_bare(worker, entry->system, i);
        break;
    }
}

/* ---- times and traces ----
 *
 * Times of systems without a clock read for each slice. A system that runs alone is timed over
 * all slices of a part. In a fused stage the systems alternate from slice to slice: the part is
 * timed as a whole, one slice in SAMPLE is run system by system between clock reads, and the
 * time of the part is divided as these were. Which slice it is changes from step to step, so
 * that what lies at one place of all chunks counts as all else. The slices between keep the way
 * of weft__system_calls: taken one by one they cost a frame of four systems over 1M rows 8 %.
 *
 * A span of a trace costs two clock reads and two ring writes (about 40 ns), more than a small
 * slice takes. So a system that runs alone gets one span for all slices of a part. The part of a
 * fused stage is one span, and the sums of its sampled slices follow as shares of the span,
 * which the file divides by them. A trace for `weft simulate` has a span per slice instead, with
 * the bytes the slice touches. */

/* Whether the systems of the entry alternate from slice to slice. */
static bool is_fused(const weft__entry *entry)
{
    return entry->kind == WEFT__ENTRY_CHUNK && entry->binding_count > 1;
}

/* The system of an entry, or the first of its systems. */
static const weft__system *first_of(const weft__entry *entry)
{
    return entry->kind == WEFT__ENTRY_CHUNK ? entry->bindings[0].system : entry->system;
}

#define SAMPLE 64u /* slices of 512 rows: at seven systems 0.02 ns an entity */

static weft__system_tally *raw_tally(const weft__worker *worker, const weft__system *system)
{
    return &worker->tallies[weft__system_slot(system)];
}

/* A clock that stands while the worker hashes what a system wrote. */
static uint64_t own_ns(const weft__worker *worker)
{
    return weft__scheduler_now(worker->scheduler) - worker->hashed_ns;
}

/* One slice, system after system, each timed. */
static void run_sampled(weft__worker *worker, const weft__entry *entry, uint32_t item)
{
    const uint64_t hashed = worker->hashed_ns;
    uint64_t begin = own_ns(worker);
    for (uint32_t i = 0; i < entry->binding_count; i++) {
        weft__entry single = *entry;
        single.bindings = &entry->bindings[i];
        single.binding_count = 1;
        run_entry(worker, &single, item, item + 1);
        uint64_t now = own_ns(worker);
        raw_tally(worker, entry->bindings[i].system)->sampled_ns += now - begin;
        begin = now;
    }
    worker->sampled_hash_ns += worker->hashed_ns - hashed;
}

static void run_sampling(weft__worker *worker, const weft__entry *entry, uint32_t begin,
                         uint32_t end)
{
    for (uint32_t i = 0; i < entry->binding_count; i++)
        raw_tally(worker, entry->bindings[i].system)->sampled_ns = 0;
    worker->sampled_hash_ns = 0;
    uint32_t span = end - begin < SAMPLE ? end - begin : SAMPLE;
    uint32_t turn = (uint32_t)worker->scheduler->pass * UINT32_C(0x9e3779b9); /* a Weyl sequence */
    for (uint32_t next = begin + (turn >> 8) % span; next < end; next += SAMPLE) {
        if (begin < next) run_entry(worker, entry, begin, next);
        run_sampled(worker, entry, next);
        begin = next + 1;
    }
    if (begin < end) run_entry(worker, entry, begin, end);
}

/* A system that did not run in this pass, because all slices were filtered, gets nothing. */
static void add_time(const weft__worker *worker, const weft__system *system, uint64_t ns)
{
    weft__system_tally *tally = raw_tally(worker, system);
    if (tally->frame == worker->scheduler->pass) tally->time_ns += ns;
}

static void divide_time(const weft__worker *worker, const weft__entry *entry, uint64_t took)
{
    uint64_t whole = 0;
    for (uint32_t i = 0; i < entry->binding_count; i++)
        whole += raw_tally(worker, entry->bindings[i].system)->sampled_ns;
    for (uint32_t i = 0; i < entry->binding_count && whole != 0; i++) {
        const weft__system *system = entry->bindings[i].system;
        double share = (double)raw_tally(worker, system)->sampled_ns / (double)whole;
        add_time(worker, system, (uint64_t)((double)took * share));
    }
}

/* Runs items [begin, end) of an entry, and counts their time where the schedule is measured.
 * `has_shares`: sampled_ns of the worker's tallies are wanted, too. */
static void run_timed(weft__worker *worker, const weft__entry *entry, uint32_t begin, uint32_t end,
                      bool has_shares)
{
    const weft__scheduler *scheduler = worker->scheduler;
    bool is_sampled = is_fused(entry) && (scheduler->is_timed || has_shares);
    bool is_timed = scheduler->is_timed && entry->kind != WEFT__ENTRY_LEVELS; /* loops of its own */
    uint64_t since = is_timed ? own_ns(worker) : 0;
    if (is_sampled)
        run_sampling(worker, entry, begin, end);
    else
        run_entry(worker, entry, begin, end);
    uint64_t took = is_timed ? own_ns(worker) - since : 0;
    if (is_timed && is_sampled)
        divide_time(worker, entry, took);
    else if (is_timed)
        add_time(worker, first_of(entry), took);
}

static weft_job_context *job_of(const weft__worker *worker)
{
    return weft__host_worker(worker->scheduler->world, worker->index);
}

static void run_span(weft__worker *worker, const weft__entry *entry, const char *name,
                     uint32_t begin, uint32_t end)
{
    weft_job_context *job = job_of(worker);
    weft__note(job, WEFT_JOB_EVENT_SPAN_BEGIN, name, end - begin);
    run_timed(worker, entry, begin, end, false);
    weft__note(job, WEFT_JOB_EVENT_SPAN_END, name, 0);
}

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
static uint64_t bytes_touched(const weft__entry *entry, uint32_t slice)
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

static void run_detailed(weft__worker *worker, const weft__entry *entry, uint32_t begin,
                         uint32_t end)
{
    weft_job_context *job = job_of(worker);
    for (uint32_t item = begin; item < end; item++) {
        uint64_t bytes = bytes_touched(entry, item);
        weft__note(job, WEFT_JOB_EVENT_SPAN_BEGIN, "slice",
                   bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX);
        run_timed(worker, entry, item, item + 1, false);
        weft__note(job, WEFT_JOB_EVENT_SPAN_END, "slice", 0);
    }
}

static void run_fused(weft__worker *worker, const weft__entry *entry, uint32_t begin, uint32_t end)
{
    weft_job_context *job = job_of(worker);
    weft__note(job, WEFT_JOB_EVENT_SPAN_BEGIN, "fused slices", end - begin);
    worker->is_sharing = true;
    run_timed(worker, entry, begin, end, true);
    worker->is_sharing = false;
    for (uint32_t i = 0; i < entry->binding_count; i++) {
        const weft__system *system = entry->bindings[i].system;
        uint64_t ns = raw_tally(worker, system)->sampled_ns;
        if (system->is_active)
            weft__note(job, WEFT_JOB_EVENT_SHARE, system->name,
                       ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX);
    }
    if (worker->scheduler->hash_log != NULL)
        weft__note(job, WEFT_JOB_EVENT_SHARE, weft__work_name(WEFT__WORK_HASHING),
                   worker->sampled_hash_ns < UINT32_MAX ? (uint32_t)worker->sampled_hash_ns
                                                        : UINT32_MAX);
    weft__note(job, WEFT_JOB_EVENT_SPAN_END, "fused slices", 0);
}

/* Runs items [begin, end) of an entry with spans around systems. */
static void run_traced(weft__worker *worker, const weft__entry *entry, uint32_t begin, uint32_t end)
{
    bool is_detailed = worker->scheduler->is_traced_in_detail;
    if (is_detailed && weft__system_is_on_owner(first_of(entry)))
        run_span(worker, entry, "serial", begin, end);
    else if (is_detailed)
        run_detailed(worker, entry, begin, end);
    else if (is_fused(entry))
        run_fused(worker, entry, begin, end);
    else
        run_span(worker, entry, first_of(entry)->name, begin, end);
}

/* ---- dispatch ---- */

static uint32_t find_entry(const weft__entry *entries, uint32_t count, uint32_t item)
{
    /* entries[found].first_item <= item < entries[found + 1].first_item */
    return WEFT__SEARCH(entries, count, first_item, item + 1) - 1;
}

static void dispatch(weft__worker *worker, weft__entry *entries, uint32_t entry_count,
                     uint32_t begin, uint32_t end)
{
    weft__scheduler *scheduler = worker->scheduler;
    if (begin >= end) return;
    bool is_watched = WEFT_IS_CHECKED || scheduler->is_watched;
    if (is_watched && scheduler->is_counted) weft__counters_begin(scheduler, worker->index);
    const weft__entry *entry = entries;
    if (begin != 0) entry += find_entry(entries, entry_count, begin);
    for (uint32_t item = begin; item < end; entry++) {
        uint32_t entry_end = entry[1].first_item < end ? entry[1].first_item : end;
        if (entry_end <= item) continue; /* an entry without items */
        uint32_t first = item - entry->first_item, last = entry_end - entry->first_item;
        if (entry->is_direct && !is_watched)
            run_direct(scheduler, worker, entry);
        else if (scheduler->is_traced)
            run_traced(worker, entry, first, last);
        else if (scheduler->is_timed)
            run_timed(worker, entry, first, last, false);
        else
            run_entry(worker, entry, first, last);
        item = entry_end;
    }
}

/* ---- stages ----
 *
 * A stage that is predicted to be small (run_choice.h) runs on the owner without touching the
 * pool: no atomics, no clock, no worker woken. Above it the loop job decides by its own model. A
 * recording for weft simulate runs everything on the owner, task after task: costs are undisturbed.
 */

/* What a loop job gets. Lives on the stack of run_loop; constant while the loop runs. */
typedef struct stage_loop {
    weft__scheduler *scheduler;
    weft__entry *entries;
    uint32_t entry_count;
    uint32_t first; /* item that is number 0 of the loop */
    uint32_t stage; /* for the order of parts; WEFT__NONE: in the background */
} stage_loop;

/* Items of a part one by one, each told when it begins: what one of them does is the smallest piece
 * that another may come before or after. Threads: the worker's. */
static void run_told(weft__scheduler *scheduler, uint32_t worker, uint32_t stage, uint32_t first,
                     uint32_t end)
{
    for (uint32_t i = first; i < end; i++) weft__part_run(scheduler, worker, stage, i);
}

static int run_items(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const stage_loop *l = argument;
    const uint32_t worker = weft_job_worker_index(job);
    begin += l->first;
    end += l->first;
    if (__builtin_expect(l->scheduler->part_order != NULL, 0) && l->stage != WEFT__NONE)
        run_told(l->scheduler, worker, l->stage, begin, end);
    else
        dispatch(&l->scheduler->workers[worker], l->entries, l->entry_count, begin, end);
    return 0;
}

/* The same on a thread that may have tasks of its own to run first: see run_task of frame.c. */
static int run_items_of_task(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    weft__worker_run_caller_nodes(job);
    return run_items(job, argument, begin, end);
}

static weft_job_context *owner_context(const weft__scheduler *scheduler)
{
    return weft__front(scheduler->world)->host.context;
}

static uint32_t number_of(const weft__scheduler *scheduler, const weft__stage *stage)
{
    return (uint32_t)(stage - scheduler->stages);
}

static void run_inline(weft__scheduler *scheduler, weft__stage *stage, uint32_t begin, uint32_t end)
{
    if (__builtin_expect(scheduler->part_order != NULL, 0))
        run_told(scheduler, 0, number_of(scheduler, stage), begin, end);
    else
        dispatch(&scheduler->workers[0], stage->entries, stage->entry_count, begin, end);
}

/* Items [first, end of the stage) on the pool. */
static void run_loop(weft__scheduler *scheduler, weft__stage *stage, uint32_t first)
{
    if (!scheduler->has_frame_hint &&
        weft__front(scheduler->world)->host.context == weft__front(scheduler->world)->host.owner) {
        weft_job_frame_begin(weft__front(scheduler->world)->host.pool);
        scheduler->has_frame_hint = true;
    }
    stage_loop l = {scheduler, stage->entries, stage->entry_count, first,
                    number_of(scheduler, stage)};
    weft_job_for_desc desc = {.fn = run_items,
                              .argument = &l,
                              .count = stage->item_count - first,
                              .cost = &stage->cost,
                              .name = stage->title};
    weft_result result = weft_job_for(owner_context(scheduler), &desc, NULL);
    if (result == WEFT_OK) return;
    weft__error(scheduler->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "the stage of system '%s' could not run on the pool: %s", stage->systems[0]->name,
                weft_result_text(result));
    weft__scheduler_fail(scheduler, result);
}

/* ---- cost ---- */

static void run_probed(weft__scheduler *scheduler, weft__stage *stage)
{
    uint32_t count = stage->item_count, done = 0;
    uint64_t begin = weft__scheduler_now(scheduler), ns = 0;
    for (uint32_t burst = 1; done < count && ns < WEFT__STAGE_PROBE_NS; burst *= 2) {
        uint32_t end = burst < count - done ? done + burst : count;
        run_inline(scheduler, stage, done, end);
        done = end;
        ns = weft__scheduler_now(scheduler) - begin;
    }
    weft__stage_cost_learn(&stage->probe, ns, done);
    if (done == count) return;
    if (weft__stage_cost_is_small(&stage->probe, count))
        run_inline(scheduler, stage, done, count);
    else
        run_loop(scheduler, stage, done);
}

static void run_shared(weft__scheduler *scheduler, weft__stage *stage)
{
    if (__builtin_expect(stage->probe.frames_to_measure == 0, 0)) {
        run_probed(scheduler, stage);
        return;
    }
    stage->probe.frames_to_measure--;
    if (weft__stage_cost_is_small(&stage->probe, stage->item_count))
        run_inline(scheduler, stage, 0, stage->item_count);
    else
        run_loop(scheduler, stage, 0);
}

/* ---- background ---- */

static void start_background(weft__scheduler *scheduler, weft__stage *stage)
{
    uint32_t count = stage->background_entry_count;
    uint32_t items = stage->background_entries[count].first_item;
    stage_loop *l = weft__pile_take(&stage->pile, 1, sizeof *l);
    bool is_started = false;
    /* on a thread that may not wait for it, it would outlive the step */
    bool may_wait = weft__pool_check_owner(owner_context(scheduler)) == WEFT_OK;
    if (l != NULL && may_wait && !scheduler->is_serial && !weft__parts_are_ruled(scheduler)) {
        *l = (stage_loop){scheduler, stage->background_entries, count, 0, WEFT__NONE};
        weft_job_for_desc desc = {.fn = run_items,
                                  .argument = l,
                                  .count = items,
                                  .class_ = WEFT_JOB_BACKGROUND,
                                  .name = "background loop"};
        weft_job_desc job = {.class_ = WEFT_JOB_BACKGROUND, .name = "background job"};
        is_started = weft_job_for_submit(owner_context(scheduler), &desc, &job,
                                         &stage->background) == WEFT_OK;
    }
    if (is_started)
        scheduler->background_count++;
    else
        dispatch(&scheduler->workers[0], stage->background_entries, count, 0, items);
}

void weft__stage_hash(weft__scheduler *scheduler, const weft__stage *stage, bool is_joined)
{
    if (__builtin_expect(scheduler->hash_log == NULL, 1)) return;
    const uint64_t begin = weft__work_begin(scheduler, WEFT__WORK_HASHING);
    weft__hash_log_stage(scheduler, stage, is_joined);
    weft__work_end(scheduler, WEFT__WORK_HASHING, begin);
}

void weft__stage_join(weft__scheduler *scheduler, uint32_t number)
{
    for (uint32_t i = 0; scheduler->background_count > 0 && i < scheduler->stage_count; i++) {
        weft__stage *stage = &scheduler->stages[i];
        if (stage->background.generation == 0 || stage->join_stage > number) continue;
        weft_result result = weft_job_wait(owner_context(scheduler), stage->background, NULL);
        weft__scheduler_fail(scheduler, result);
        stage->background = (weft_job_handle){0, 0};
        weft__stage_hash(scheduler, stage, true);
        scheduler->background_count--;
    }
}

/* ---- the owner's systems ---- */

static void stage_run_main(weft__scheduler *scheduler, weft__stage *stage, uint32_t first,
                           uint32_t last)
{
    weft_world *world = scheduler->world;
    for (uint32_t i = first; i < last; i++) {
        const weft__entry *entry = &stage->main_entries[i];
        weft__system *system = entry->system;
        if (!system->is_active) continue;
        bool may_change = (system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0 && system->query.id == 0;
        weft__front(world)->version = system->context.stamp;
        if (may_change) weft__front(world)->busy = 0;
        dispatch(&scheduler->workers[0], stage->main_entries, stage->main_entry_count,
                 entry->first_item, entry[1].first_item);
        if (!may_change) continue;
        weft__left_loops_end(scheduler, "system", system->name);
        weft__front(world)->busy = WEFT__BUSY_STEPPING;
    }
}

/* ---- ranges and resources ---- */

/* Like a run condition, it looks at the world. */
static uint32_t ask_size(weft__scheduler *scheduler, const weft__system *system)
{
    weft_world *world = scheduler->world;
    uint32_t busy = weft__front(world)->busy;
    weft__front(world)->frame = WEFT__FRAME_ASKS;
    weft__front(world)->busy = WEFT__BUSY_CALLBACK;
    uint32_t size = system->range(world, system->user);
    weft__left_loops_end(scheduler, "range of system", system->name);
    weft__front(world)->busy = busy;
    weft__front(world)->frame = WEFT__FRAME_RUNS;
    return size;
}

/* Sizes are read before the entry they end at is renumbered. */
static void ask_ranges(weft__scheduler *scheduler, weft__entry *entries, uint32_t count)
{
    uint32_t items = 0, begin = entries[0].first_item;
    for (uint32_t i = 0; i < count; i++) {
        weft__entry *entry = &entries[i];
        uint32_t end = entry[1].first_item, size = end - begin;
        weft__system *system = entry->system;
        if (entry->kind == WEFT__ENTRY_RANGE && system->range != NULL)
            size = system->is_active ? ask_size(scheduler, system) : 0;
        entry->first_item = items;
        items += size;
        begin = end;
    }
    entries[count].first_item = items;
}

/* A recording: each task in a span of its own. */
static void run_recorded(weft__scheduler *scheduler, weft__stage *stage)
{
    const weft__segment *segment = &scheduler->segments[stage->segment];
    weft_job_context *owner = owner_context(scheduler);
    for (uint32_t i = 0; i < stage->task_count; i++) {
        const weft__task *task = &stage->tasks[i];
        uint32_t number = (uint32_t)(task - segment->plan->tasks);
        weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "task", number);
        if (task->on_owner)
            stage_run_main(scheduler, stage, task->first_entry, task->end_entry);
        else
            run_inline(scheduler, stage, stage->entries[task->first_entry].first_item,
                       stage->entries[task->end_entry].first_item);
        weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "task", number);
    }
}

void weft__stage_run(weft__scheduler *scheduler, weft__stage *stage)
{
    if (__builtin_expect(scheduler->is_traced_in_detail, 0) && stage->tasks != NULL) {
        run_recorded(scheduler, stage);
        return;
    }
    if (stage->has_ranges) {
        ask_ranges(scheduler, stage->entries, stage->entry_count);
        stage->item_count = stage->entries[stage->entry_count].first_item;
        ask_ranges(scheduler, stage->main_entries, stage->main_entry_count);
        ask_ranges(scheduler, stage->background_entries, stage->background_entry_count);
    }
    if (stage->background_entry_count != 0) start_background(scheduler, stage);
    if (stage->item_count != 0) {
        const uint32_t number = number_of(scheduler, stage);
        bool is_serial = scheduler->is_serial || stage->item_count == 1;
        if (weft__parts_are_ruled(scheduler))
            weft__parts_run(scheduler, number, number + 1, NULL, weft__part_run);
        else if (is_serial)
            run_inline(scheduler, stage, 0, stage->item_count);
        else if (weft__is_always_parallel(scheduler))
            run_loop(scheduler, stage, 0);
        else
            run_shared(scheduler, stage);
    }
    if (stage->main_entry_count != 0) stage_run_main(scheduler, stage, 0, stage->main_entry_count);
}

/* ---- tasks ---- */

weft_result weft__task_run(weft_job_context *job, weft__task *task)
{
    weft__scheduler *scheduler = task->scheduler;
    weft__stage *stage = &scheduler->stages[task->stage];
    if (task->on_owner) {
        const bool is_kept = __builtin_expect(scheduler->part_order != NULL, 0);
        for (uint32_t i = task->first_entry; is_kept && i < task->end_entry; i++)
            weft__part_run(scheduler, 0, task->stage, stage->item_count + i);
        if (!is_kept) stage_run_main(scheduler, stage, task->first_entry, task->end_entry);
        return WEFT_OK;
    }
    uint32_t first = stage->entries[task->first_entry].first_item;
    uint32_t end = stage->entries[task->end_entry].first_item;
    stage_loop l = {scheduler, stage->entries, stage->entry_count, first, task->stage};
    if (end - first <= 1) {
        if (end != first) run_items(job, &l, 0, 1);
        return WEFT_OK;
    }
    const weft_job_for_desc desc = {.fn = run_items_of_task,
                                    .argument = &l,
                                    .count = end - first,
                                    .cost = &task->cost,
                                    .name = task->title};
    return weft_job_for(job, &desc, NULL);
}

void weft__part_run(weft__scheduler *scheduler, uint32_t worker, uint32_t number, uint32_t item)
{
    weft__stage *stage = &scheduler->stages[number];
    const uint32_t count = stage->item_count;
    weft__part_keep(scheduler, worker, number, item);
    if (item >= count)
        stage_run_main(scheduler, stage, item - count, item - count + 1);
    else
        dispatch(&scheduler->workers[worker], stage->entries, stage->entry_count, item, item + 1);
}

/* ---- systems by depth ----
 *
 * A loop over the slices of each level, inside the item that the system is in its stage. The loop's
 * end is the barrier between two levels: what a slice reads of lower levels was written before the
 * loop began. Order of effect (versions, keys of commands) goes by slices as for any system, so it
 * does not depend on levels or workers. */

/* Owner: the stack of levels_run; constant while a loop runs. */
typedef struct level_loop {
    weft__scheduler *scheduler;
    const weft__levels *levels;
    uint32_t first;
} level_loop;

static int run_level(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const level_loop *loop = argument;
    dispatch(&loop->scheduler->workers[weft_job_worker_index(job)], loop->levels->entries,
             loop->levels->entry_count, loop->first + begin, loop->first + end);
    return 0;
}

/* Runs all levels of an entry of kind LEVELS, one after the other. */
static void levels_run(const weft__worker *worker, const weft__entry *entry)
{
    weft__scheduler *scheduler = worker->scheduler;
    weft_job_context *job = weft__host_worker(scheduler->world, worker->index);
    const weft__levels *levels = entry->levels;
    bool is_serial = scheduler->is_serial || weft__parts_are_ruled(scheduler);
    if (!entry->system->is_active) return;
    for (uint32_t i = 0; i < levels->level_count; i++) {
        level_loop loop = {scheduler, levels, levels->first_items[i]};
        uint32_t count = levels->first_items[i + 1] - loop.first;
        const weft_job_for_desc desc = {.fn = run_level,
                                        .argument = &loop,
                                        .count = count,
                                        .cost = &entry->system->level_cost,
                                        .name = "level"};
        if (is_serial || count == 1)
            run_level(job, &loop, 0, count);
        else if (weft_job_for(job, &desc, NULL) != WEFT_OK) /* a forked process: nothing was run */
            run_level(job, &loop, 0, count);
    }
}
