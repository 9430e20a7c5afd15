/* SPDX-License-Identifier: MIT */
/* dispatch_time.c: times of systems, without a clock read for each slice.
 *
 * A system that runs alone is timed over all slices of a part. In a fused stage the systems
 * alternate from slice to slice: the part is timed as a whole, one slice in SAMPLE is run system by
 * system between clock reads, and the time of the part is divided as these were. Which slice it is
 * changes from step to step, so that what lies at one place of all chunks counts as all else. The
 * slices between keep the way of weft__system_calls: taken one by one they cost a frame of four
 * systems over 1M rows 8 %. */
#include "dispatch_time.h"

#include "dispatch.h"
#include "registry.h"

#define SAMPLE 64u /* slices of 512 rows: at seven systems 0.02 ns an entity */

/* One slice, system after system, each timed. */
static void run_sampled(weft__worker *worker, const weft__entry *entry, uint32_t item,
                        weft__run_entry_fn run, uint64_t *sums)
{
    const weft__scheduler *scheduler = worker->scheduler;
    uint64_t begin = weft__scheduler_now(scheduler);
    for (uint32_t i = 0; i < entry->binding_count; i++) {
        weft__entry single = *entry;
        single.bindings = &entry->bindings[i];
        single.binding_count = 1;
        run(worker, &single, item, item + 1);
        uint64_t now = weft__scheduler_now(scheduler);
        if (i < WEFT__TIMED_MAX) sums[i] += now - begin;
        begin = now;
    }
}

static void run_fused(weft__worker *worker, const weft__entry *entry, uint32_t begin, uint32_t end,
                      weft__run_entry_fn run, uint64_t *sums)
{
    uint32_t span = end - begin < SAMPLE ? end - begin : SAMPLE;
    uint32_t turn = (uint32_t)worker->scheduler->pass * UINT32_C(0x9e3779b9); /* a Weyl sequence */
    for (uint32_t next = begin + (turn >> 8) % span; next < end; next += SAMPLE) {
        if (begin < next) run(worker, entry, begin, next);
        run_sampled(worker, entry, next, run, sums);
        begin = next + 1;
    }
    if (begin < end) run(worker, entry, begin, end);
}

/* A system that did not run in this pass, because all slices were filtered, gets nothing. */
static void add_time(const weft__worker *worker, const weft__system *system, uint64_t ns)
{
    weft__system_tally *tally = &worker->tallies[weft__system_slot(system)];
    if (tally->frame == worker->scheduler->pass) tally->time_ns += ns;
}

static void divide_time(const weft__worker *worker, const weft__entry *entry, uint64_t took,
                        const uint64_t *sums)
{
    uint32_t count =
        entry->binding_count < WEFT__TIMED_MAX ? entry->binding_count : WEFT__TIMED_MAX;
    uint64_t whole = 0;
    for (uint32_t i = 0; i < count; i++) whole += sums[i];
    for (uint32_t i = 0; i < count && whole != 0; i++) {
        double share = (double)sums[i] / (double)whole;
        add_time(worker, entry->bindings[i].system, (uint64_t)((double)took * share));
    }
}

void weft__dispatch_timed(weft__worker *worker, const weft__entry *entry, uint32_t begin,
                          uint32_t end, weft__run_entry_fn run, uint64_t *shares)
{
    const weft__scheduler *scheduler = worker->scheduler;
    bool is_fused = weft__entry_is_fused(entry) && (scheduler->is_timed || shares != NULL);
    bool is_timed = scheduler->is_timed && entry->kind != WEFT__ENTRY_LEVELS; /* loops of its own */
    uint64_t sums[WEFT__TIMED_MAX] = {0};
    uint64_t since = is_timed ? weft__scheduler_now(scheduler) : 0;
    if (is_fused)
        run_fused(worker, entry, begin, end, run, sums);
    else
        run(worker, entry, begin, end);
    uint64_t took = is_timed ? weft__scheduler_now(scheduler) - since : 0;
    if (is_timed && is_fused)
        divide_time(worker, entry, took, sums);
    else if (is_timed)
        add_time(worker, weft__entry_first(entry), took);
    for (uint32_t i = 0; shares != NULL && i < WEFT__TIMED_MAX; i++) shares[i] += sums[i];
}
