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

#include "column_watch.h"
#include "counters_group.h"
#include "dispatch_time.h"
#include "dispatch_trace.h"
#include "hash_log.h"
#include "level_run.h"
#include "registry.h"
#include "running.h"

#include "ecs_engine.h"

#include <string.h>

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

static __attribute__((noinline)) void call_followed(const weft__worker *worker,
                                                    const weft__system *system, weft_slice *slice)
{
    weft__scheduler *scheduler = worker->scheduler;
    weft__system_call(system, slice);
    if (scheduler->is_counted) weft__counters_take(scheduler, worker->index, system);
    if (scheduler->hash_log != NULL) weft__hash_log_take(scheduler, worker->index, system, slice);
}

/* Calls the system for a slice that is ready but for what differs from call to call. */
static inline void call(const weft__scheduler *scheduler, const weft__worker *worker,
                        const weft__system *system, weft_slice *slice, bool is_followed)
{
    slice->worker = worker->index;
    slice->dt = system->dt;
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
        member->slice.dt = system->dt;
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
        weft__levels_run(worker, entry);
        break;
    case WEFT__ENTRY_ONCE:
    case WEFT__ENTRY_RANGE:
        for (uint32_t i = begin; i < end; i++) run_bare(worker, entry->system, i);
        break;
    }
}

static uint32_t find_entry(const weft__entry *entries, uint32_t count, uint32_t item)
{
    uint32_t low = 0, high = count; /* entries[low].first_item <= item < entries[high].first_item */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (entries[middle].first_item <= item)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void weft__dispatch(weft__worker *worker, weft__entry *entries, uint32_t entry_count,
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
            weft__dispatch_traced(worker, entry, first, last, run_entry);
        else if (scheduler->is_timed)
            weft__dispatch_timed(worker, entry, first, last, run_entry, NULL);
        else
            run_entry(worker, entry, first, last);
        item = entry_end;
    }
}
