/* dispatch.c: running items of a stage: slices, chunks, indices. What a slice can reach:
 * slice_ops_system.c.
 *
 * The inner loop: for a slice of a chunk, every binding in order: skip if the system does not
 * run or its filter says no, point the columns at the slice, stamp the versions of what is
 * declared as written, call. A chunk with one slice uses the slice struct prepared in the
 * binding: nothing is copied. Stamps happen before the call, so that they are there when a later
 * system of the stage asks. */
#include "dispatch.h"

#include "column_watch.h"
#include "counters.h"
#include "dispatch_trace.h"
#include "registry.h"

#include "enable.h"
#include "filter.h"

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
    weft__fire_system(slice->worker, system->name);
    weft__watch watch;
    if (WEFT_IS_CHECKED) weft__watch_begin(&watch, system, slice);
    system->run(slice, system->user);
    __asm__("");
    if (WEFT_IS_CHECKED) weft__watch_end(&watch, system, slice);
}

static __attribute__((noinline)) void call_measured(weft__scheduler *scheduler,
                                                    const weft__system *system, weft_slice *slice,
                                                    weft__system_tally *tally)
{
    uint32_t worker = slice->worker;
    uint64_t begin = scheduler->options.measure ? weft__scheduler_now(scheduler) : 0;
    weft__system_call(system, slice);
    if (scheduler->options.measure) tally->time_ns += weft__scheduler_now(scheduler) - begin;
    if (scheduler->is_counted) weft__counters_take(scheduler, worker, system);
}

/* Calls the system; the only place that does. */
static inline void call(weft__scheduler *scheduler, weft__system *system, weft_slice *slice)
{
    weft__system_tally *tally = tally_of(scheduler, &scheduler->workers[slice->worker], system);
    tally->slices++;
    tally->rows += slice->count;
    if (__builtin_expect(scheduler->is_measured, 0))
        call_measured(scheduler, system, slice, tally);
    else
        weft__system_call(system, slice);
}

/* After the callback a slice must not be used: checked builds see it by the missing chunk. */
static inline void poison(weft_slice *slice)
{
    static void *const nothing[WEFT_INLINE_TERMS * 4];
    if (!WEFT_IS_CHECKED) return;
    const weft__system *system = (const weft__system *)slice->context;
    system->scheduler->workers[slice->worker].commands.is_closed = true;
    slice->columns = nothing;
    slice->entities = NULL;
    slice->chunk = NULL;
    slice->count = 0;
    if (slice->term_count > WEFT_INLINE_TERMS * 4) slice->term_count = 0;
}

/* ---- one slice of one system ---- */

/* True when some column the system reads has changed in the slice since it last ran. */
static bool has_changed(const weft__binding *binding, uint32_t slice)
{
    const weft__query *query = binding->query;
    const weft__place *places = weft__match_places(query, binding->match);
    const weft__chunk *chunk = binding->slice.chunk;
    uint32_t since = binding->system->context.since;
    if (since == 0) return true;
    for (uint32_t i = 0; i < query->term_count; i++) {
        if (query->terms[i].access != WEFT_READ || places[i].type == WEFT__NO_PLACE) continue;
        weft_a32 *versions = weft__chunk_versions(chunk, places[i].type);
        /* relaxed: written before this stage, or by this worker in this slice */
        if ((int32_t)(at_load_rlx(&versions[slice]) - since) > 0) return true;
    }
    return false;
}

static bool passes(const weft__binding *binding, uint32_t slice)
{
    const weft__system *system = binding->system;
    if (system->only_changed && !has_changed(binding, slice)) return false;
    if (binding->filter == NULL) return true;
    const weft__place *places = weft__match_places(binding->query, binding->match);
    const weft__chunk *chunk = binding->slice.chunk;
    weft__filter_verdict verdict =
        weft__filter_chunk(binding->filter, places, chunk, &system->context.since);
    if (verdict != WEFT__FILTER_SLICES) return verdict == WEFT__FILTER_PASS;
    return weft__filter_next(binding->filter, places, chunk, slice, slice + 1,
                             &system->context.since) == slice;
}

/* The enable mask of a slice; false: no row is enabled. */
static bool set_mask(const weft__binding *binding, uint32_t number, weft_slice *slice,
                     uint64_t *words)
{
    slice->enabled = NULL;
    if (!binding->has_masks) return true;
    weft__rows rows =
        weft__query_mask(binding->query, binding->match, binding->slice.chunk, number, words);
    if (rows == WEFT__ROWS_SOME) slice->enabled = words;
    return rows != WEFT__ROWS_NONE;
}

static inline void stamp(const weft__binding *binding, uint32_t first, uint32_t end)
{
    uint32_t version = binding->system->context.stamp;
    for (uint32_t i = 0; i < binding->stamp_count; i++) {
        weft_a32 *x_version = binding->x_stamps[i] + first, *x_end = binding->x_stamps[i] + end;
        while (x_version < x_end) at_store_rlx(x_version++, version); /* relaxed: see has_changed */
    }
}

/* A slice that is not the only one of its chunk. */
static void run_part(weft__scheduler *scheduler, weft__worker *worker, uint32_t worker_index,
                     const weft__binding *binding, uint32_t number)
{
    weft__system *system = binding->system;
    weft_slice *slice = &worker->slice;
    uint32_t row = number << binding->slice_shift, size = 1u << binding->slice_shift;
    *slice = binding->slice;
    if (!binding->is_plain &&
        (!passes(binding, number) || !set_mask(binding, number, slice, worker->mask)))
        return;
    for (uint32_t i = 0; i < slice->term_count; i++) {
        char *base = binding->slice.columns[i];
        worker->columns[i] = base == NULL ? NULL : base + (size_t)row * binding->column_bytes[i];
    }
    slice->columns = worker->columns;
    slice->count = binding->rows - row < size ? binding->rows - row : size;
    slice->entities += row;
    slice->first += row;
    slice->index += number;
    slice->worker = worker_index;
    slice->dt = system->dt;
    stamp(binding, number, number + 1);
    call(scheduler, system, slice);
    poison(slice);
}

/* The only slice of its chunk. */
static void run_small(weft__scheduler *scheduler, weft__worker *worker, uint32_t worker_index,
                      weft__binding *binding)
{
    weft__system *system = binding->system;
    weft_slice *slice = &binding->slice;
    if (WEFT_IS_CHECKED) { /* a copy can be poisoned, and stays readable */
        worker->slice = binding->slice;
        slice = &worker->slice;
    }
    if (!binding->is_plain && (!passes(binding, 0) || !set_mask(binding, 0, slice, worker->mask)))
        return;
    slice->worker = worker_index;
    slice->dt = system->dt;
    for (uint32_t i = 0; i < binding->stamp_count; i++)
        at_store_rlx(&binding->x_stamps[i][0],
                     system->context.stamp); /* relaxed: see has_changed */
    call(scheduler, system, slice);
    poison(slice);
}

static inline void run_slice(weft__scheduler *scheduler, weft__worker *worker, uint32_t index,
                             weft__binding *binding, uint32_t number)
{
    if (!binding->system->is_active) return;
    if (binding->rows <= 1u << binding->slice_shift)
        run_small(scheduler, worker, index, binding);
    else
        run_part(scheduler, worker, index, binding, number);
}

/* ---- whole chunks, series, no rows ---- */

/* Joins the masks of all slices; false: nothing to do. */
static bool set_whole_mask(const weft__binding *binding, weft_slice *slice, uint64_t *words,
                           uint32_t slices)
{
    uint32_t words_per_slice = (1u << binding->slice_shift) / 64;
    bool has_some = false, has_all = true;
    for (uint32_t i = 0; i < slices; i++) {
        uint64_t *part = words + i * words_per_slice;
        uint32_t row = i << binding->slice_shift, size = 1u << binding->slice_shift;
        uint32_t rows = binding->rows - row < size ? binding->rows - row : size;
        weft__rows verdict = passes(binding, i) ? weft__query_mask(binding->query, binding->match,
                                                                   binding->slice.chunk, i, part)
                                                : WEFT__ROWS_NONE;
        has_some = has_some || verdict != WEFT__ROWS_NONE;
        has_all = has_all && verdict == WEFT__ROWS_ALL;
        for (uint32_t word = 0; verdict != WEFT__ROWS_SOME && word < (rows + 63) / 64; word++) {
            uint32_t left = rows - word * 64;
            part[word] = verdict == WEFT__ROWS_ALL ? bits_mask(left > 64 ? 64 : left) : 0;
        }
    }
    slice->enabled = has_all ? NULL : words;
    return has_some;
}

static void run_whole(weft__scheduler *scheduler, weft__worker *worker, uint32_t index,
                      const weft__binding *binding)
{
    weft__system *system = binding->system;
    uint32_t slices = (binding->rows + (1u << binding->slice_shift) - 1) >> binding->slice_shift;
    if (!system->is_active) return;
    weft_slice *slice = &worker->slice;
    *slice = binding->slice;
    if (binding->has_masks) {
        if (!set_whole_mask(binding, slice, worker->mask, slices)) return;
    } else if (!binding->is_plain) {
        uint32_t number = 0;
        while (number < slices && !passes(binding, number)) number++;
        if (number == slices) return;
    }
    slice->worker = index;
    slice->dt = system->dt;
    stamp(binding, 0, slices);
    call(scheduler, system, slice);
    poison(slice);
}

static void run_series(weft__scheduler *scheduler, weft__worker *worker, uint32_t index,
                       const weft__entry *entry)
{
    bool is_whole = (entry->system->flags & WEFT_SYSTEM_WHOLE_CHUNKS) != 0;
    for (uint32_t i = 0; i < entry->binding_count; i++) {
        weft__binding *binding = &entry->bindings[i];
        uint32_t slices =
            (binding->rows + (1u << binding->slice_shift) - 1) >> binding->slice_shift;
        if (is_whole)
            run_whole(scheduler, worker, index, binding);
        else
            for (uint32_t k = 0; k < slices; k++) run_slice(scheduler, worker, index, binding, k);
    }
}

/* A system without rows; `number`: index of a range. */
static void run_bare(weft__scheduler *scheduler, weft__worker *worker, uint32_t index,
                     weft__system *system, uint32_t number)
{
    if (!system->is_active) return;
    weft_slice *slice = &worker->slice;
    *slice = (weft_slice){.index = number,
                          .first = number,
                          .worker = index,
                          .dt = system->dt,
                          .calls = WEFT_IS_CHECKED ? WEFT_SLICE_CHECKED : 0,
                          .chunk = worker, /* not NULL: alive */
                          .context = &system->context};
    call(scheduler, system, slice);
    poison(slice);
}

/* ---- items ---- */

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

/* ---- many slices of a chunk ---- */

/* Slices [begin, end) of a large chunk without filters and masks: each active system keeps one
 * slice struct that moves on by additions. What is needed per slice lies close together, and
 * nothing else is touched between slices: the hardware follows a few streams of memory at a time,
 * and lines of five other pages in between made it lose all of them (1.7 us for seven columns, each
 * time). So change versions, which nobody asks for before the stage has ended, are stored once for
 * all slices. Asking for the next slice by prefetch instructions costs more than it gains (2.07 and
 * 1.87 ns per entity, seven systems, 1 M). Returns the number of columns. */
static uint32_t begin_parts(weft__worker *worker, uint32_t index, const weft__entry *entry,
                            uint32_t begin, uint32_t end, uint32_t *part_count)
{
    uint32_t column = 0;
    *part_count = 0;
    for (uint32_t i = 0; i < entry->binding_count; i++) {
        const weft__binding *binding = &entry->bindings[i];
        const weft__system *system = binding->system;
        if (!system->is_active) continue;
        weft__part *part = &worker->parts[(*part_count)++];
        size_t row = (size_t)begin << binding->slice_shift;
        *part = (weft__part){
            .slice = binding->slice, .run = system->run, .user = system->user, .system = system};
        part->slice.columns = worker->part_columns + column;
        part->slice.entities += row;
        part->slice.first += row;
        part->slice.index += begin;
        part->slice.worker = index;
        part->slice.dt = system->dt;
        for (uint32_t t = 0; t < part->slice.term_count; t++, column++) { /* NULL: 0 bytes */
            size_t bytes = binding->column_bytes[t];
            worker->part_columns[column] =
                (void *)((uintptr_t)binding->slice.columns[t] + row * bytes);
            worker->part_steps[column] = bytes << binding->slice_shift;
        }
        stamp(binding, begin, end);
    }
    return column;
}

/* Two columns at a time, the last one perhaps beside a spare place: left to itself the compiler
 * surrounds this with 40 instructions a slice that get two or four columns ready for it. */
static inline void advance_columns(void **columns, const size_t *steps, uint32_t count)
{
    typedef size_t two __attribute__((vector_size(16), aligned(8), may_alias));
    two *at = (two *)(void *)columns;
    const two *by = (const two *)(const void *)steps;
#pragma GCC unroll 1
    for (const two *end = at + (count + 1) / 2; at < end;) *at++ += *by++;
}

/* Calls one system and moves its slice on; whether there is a next one. */
static inline __attribute__((always_inline)) bool call_part(weft__part *part, const weft__part *end,
                                                            uint32_t rows)
{
    weft_slice *slice = &part->slice;
    slice->count = rows;
    weft__fire_system(slice->worker, part->system->name);
    part->run(slice, part->user);
    slice->entities += rows;
    slice->first += rows;
    slice->index++;
    return part + 1 < end;
}

/* Eight places to call from: each of them calls the same system in every slice, which is what the
 * processor predicts. */
static inline __attribute__((always_inline)) void call_parts(weft__part *part,
                                                             const weft__part *end, uint32_t rows)
{
    while (call_part(&part[0], end, rows) && call_part(&part[1], end, rows) &&
           call_part(&part[2], end, rows) && call_part(&part[3], end, rows) &&
           call_part(&part[4], end, rows) && call_part(&part[5], end, rows) &&
           call_part(&part[6], end, rows) && call_part(&part[7], end, rows))
        part += 8;
}

__attribute__((noinline)) void weft__system_calls(weft__worker *worker, uint32_t part_count,
                                                  uint32_t column_count, uint32_t rows,
                                                  uint32_t slice_rows)
{
    weft__part *first = worker->parts;
    const weft__part *end = first + part_count;
    for (; rows > slice_rows; rows -= slice_rows) {
        call_parts(first, end, slice_rows);
        advance_columns(worker->part_columns, worker->part_steps, column_count);
    }
    call_parts(first, end, rows);
}

static void tally_parts(const weft__scheduler *scheduler, const weft__worker *worker,
                        uint32_t part_count, const weft__system_tally *done)
{
    for (uint32_t i = 0; i < part_count; i++) {
        weft__system_tally *tally = tally_of(scheduler, worker, worker->parts[i].system);
        tally->slices += done->slices;
        tally->rows += done->rows;
    }
}

static void run_parts(weft__scheduler *scheduler, weft__worker *worker, uint32_t index,
                      const weft__entry *entry, uint32_t begin, uint32_t end)
{
    uint32_t shift = entry->bindings[0].slice_shift, part_count;
    uint32_t columns = begin_parts(worker, index, entry, begin, end, &part_count);
    uint32_t rows = entry->bindings[0].rows, first_row = begin << shift;
    uint32_t end_row = end << shift < rows ? end << shift : rows;
    if (part_count == 0) return;
    weft__system_calls(worker, part_count, columns, end_row - first_row, 1u << shift);
    tally_parts(scheduler, worker, part_count,
                &(weft__system_tally){.slices = end - begin, .rows = end_row - first_row});
}

static void run_slices(weft__scheduler *scheduler, weft__worker *worker, uint32_t index,
                       const weft__entry *entry, uint32_t begin, uint32_t end)
{
    if (entry->is_plain && end - begin > 1 && !WEFT_IS_CHECKED && !scheduler->is_measured) {
        run_parts(scheduler, worker, index, entry, begin, end);
        return;
    }
    for (uint32_t slice = begin; slice < end; slice++)
        for (uint32_t i = 0; i < entry->binding_count; i++)
            run_slice(scheduler, worker, index, &entry->bindings[i], slice);
}

static void run_untraced(weft__scheduler *scheduler, weft__worker *worker, uint32_t index,
                         const weft__entry *entry, uint32_t begin, uint32_t end)
{
    switch ((weft__entry_kind)entry->kind) {
    case WEFT__ENTRY_CHUNK:
        run_slices(scheduler, worker, index, entry, begin, end);
        break;
    case WEFT__ENTRY_WHOLE:
        run_whole(scheduler, worker, index, &entry->bindings[0]);
        break;
    case WEFT__ENTRY_SERIES:
        run_series(scheduler, worker, index, entry);
        break;
    case WEFT__ENTRY_ONCE:
        run_bare(scheduler, worker, index, entry->system, 0);
        break;
    case WEFT__ENTRY_RANGE:
        for (uint32_t i = begin; i < end; i++) run_bare(scheduler, worker, index, entry->system, i);
        break;
    }
}

static void run_entry(weft__scheduler *scheduler, weft__worker *worker, uint32_t index,
                      const weft__entry *entry, uint32_t begin, uint32_t end)
{
    if (__builtin_expect(scheduler->is_traced, 0))
        weft__dispatch_traced(scheduler, entry, begin, end, index, run_untraced);
    else
        run_untraced(scheduler, worker, index, entry, begin, end);
}

/* An entry that is_small, when nobody measures: the usual case of many systems of a few entities,
 * which is nothing but its overhead. 110 instructions a system less than run_entry. */
static inline void run_alone(weft__scheduler *scheduler, weft__worker *worker, uint32_t index,
                             const weft__entry *entry)
{
    for (uint32_t i = 0; i < entry->binding_count; i++) {
        weft__binding *binding = &entry->bindings[i];
        weft__system *system = binding->system;
        if (!system->is_active) continue;
        binding->slice.worker = index;
        binding->slice.dt = system->dt;
        for (uint32_t k = 0; k < binding->stamp_count; k++)
            at_store_rlx(&binding->x_stamps[k][0],
                         system->context.stamp); /* relaxed: see has_changed */
        weft__system_tally *tally = tally_of(scheduler, worker, system);
        tally->slices++;
        tally->rows += binding->slice.count;
        weft__system_call(system, &binding->slice);
    }
}

void weft__dispatch(weft__scheduler *scheduler, weft__entry *entries, uint32_t entry_count,
                    uint32_t begin, uint32_t end, uint32_t worker_index)
{
    weft__worker *worker = &scheduler->workers[worker_index];
    if (begin >= end) return;
    if (__builtin_expect(scheduler->is_counted, 0)) weft__counters_begin(scheduler, worker_index);
    bool is_watched = WEFT_IS_CHECKED || scheduler->is_traced || scheduler->is_measured;
    uint32_t at = begin == 0 ? 0 : find_entry(entries, entry_count, begin);
    for (uint32_t item = begin; item < end; at++) {
        const weft__entry *entry = &entries[at];
        uint32_t entry_end = entry[1].first_item < end ? entry[1].first_item : end;
        if (entry_end <= item) continue; /* an entry without items */
        if (entry->is_small && !is_watched)
            run_alone(scheduler, worker, worker_index, entry);
        else
            run_entry(scheduler, worker, worker_index, entry, item - entry->first_item,
                      entry_end - entry->first_item);
        item = entry_end;
    }
}
