/* SPDX-License-Identifier: MIT */
/* dispatch.h: running items of a stage: slices, chunks, indices.
 *
 * See dispatch.c. Any worker, each with its own weft__worker. */
#pragma once

#include "scheduler_state.h"

/* The frame in stacks between the engine and a system. */
void weft__system_call(const weft__system *system, weft_slice *slice);
/* The same for the worker's sweep, of one system at least: all systems of a slice, then the next
 * slice. */
void weft__system_calls(weft__worker *worker, uint32_t member_count, uint32_t column_count,
                        uint32_t rows, uint32_t slice_rows);

/* ---- stages ---- */

/* Runs a stage whose entries are current: loop, background, owner's systems. Owner. */
void weft__stage_run(weft__scheduler *scheduler, weft__stage *stage);
/* Runs the items of a task, or calls the owner's system. Any worker; the owner for its own. */
weft_result weft__task_run(weft_job_context *job, weft__task *task);
/* Waits for background loops that must have ended before stage `number`. Owner. */
void weft__stage_join(weft__scheduler *scheduler, uint32_t number);

/* ---- parts, for tests (tests/support/part_order.h) ---- */

/* Items [first, end) of a stage's entries; is_main: its main entries [first, end), on the owner. */
typedef struct weft__part {
    uint64_t number; /* while it is recorded */
    uint64_t pass;
    uint32_t stage, first, end, worker;
    bool is_main;
} weft__part;

/* Who is told of the parts, or runs them. Owner: who set it, until the world ends. */
typedef struct weft__part_watch {
    bool rules; /* `run` runs all items of stages on the owner; else loops and graphs do */
    void (*begins)(weft__scheduler *scheduler, uint32_t worker, const weft__part *part);
    /* The items of stages [first, end) of one segment; with `segment` as its graph allows, and
     * their main entries too. Owner. */
    void (*run)(weft__scheduler *scheduler, uint32_t first, uint32_t end,
                const weft__segment *segment);
    void (*free)(weft__scheduler *scheduler);
} weft__part_watch;

static inline bool weft__parts_are_ruled(const weft__scheduler *scheduler)
{
    return __builtin_expect(scheduler->part_watch != NULL, 0) && scheduler->part_watch->rules;
}

/* Runs a part of a stage whose entries are current, as a worker. */
void weft__part_run(weft__scheduler *scheduler, uint32_t worker, const weft__part *part);
