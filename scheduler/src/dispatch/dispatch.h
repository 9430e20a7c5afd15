/* SPDX-License-Identifier: MIT */
/* dispatch.h: running items of a stage: slices, chunks, indices.
 *
 * See dispatch.c. Any worker, each with its own weft__worker. */
#ifndef WEFT_DISPATCH_H
#define WEFT_DISPATCH_H

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

/* ---- orders of parts ---- */

/* Which worker ran which items of a stage, and in which order: recorded, drawn by a
 * seed, or given. For tests: a failure that depends on it can be repeated.
 *
 * RECORD: loops and graphs run as ever, item by item; each takes the next number of one counter
 *   when it begins, and is kept by its worker.
 * DRAW, GIVEN: the thread that steps the world runs the items of all stages itself, one part after
 *   the other, as the worker that the part names: its recorder, tallies, slice.worker. DRAW keeps
 *   to the edges of the segment's graph.
 *
 * Parts are what may interleave. What happens inside two parts at the same time is not in it, nor
 * are systems by depth, background systems and playback, which run serially with DRAW and GIVEN. */

typedef enum weft__part_mode {
    WEFT__PART_RECORD,
    WEFT__PART_DRAW,
    WEFT__PART_GIVEN
} weft__part_mode;

/* Items [first, end) of a stage's entries; is_main: its main entries [first, end), on the owner. */
typedef struct weft__part {
    uint64_t number; /* while it is recorded */
    uint64_t pass;
    uint32_t stage, first, end, worker;
    bool is_main;
} weft__part;

/* Parts of one worker. Owner: the worker while stages run. */
typedef struct weft__part_list {
    _Alignas(64) weft__part *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
} weft__part_list;

/* Owner: who set it. RECORD: lists[worker] until weft__part_order_end, which puts them into
 * lists[0] by number; DRAW: lists[0]; GIVEN: lists[0] is read. */
typedef struct weft__part_order {
    weft__part_mode mode;
    uint64_t random; /* DRAW */
    weft__memory *memory;
    weft__part_list *lists; /* [worker_count] */
    uint32_t worker_count;
    uint32_t next;      /* GIVEN: the next part */
    bool is_incomplete; /* RECORD, DRAW: memory ended */
    bool has_differed;  /* GIVEN: the run had other parts */
    weft_a64 x_number;  /* RECORD: of the next part */
} weft__part_order;

/* From now on steps of the world record, draw (seed), or follow `given` [count], which is copied.
 * Owner, world idle. NULL: out of memory. */
weft__part_order *weft__part_order_begin(weft__scheduler *scheduler, weft__part_mode mode,
                                         uint64_t seed, const weft__part *given, uint32_t count);
/* Ends it: parts [0, *count) until weft__part_order_free. Owner, world idle. */
const weft__part *weft__part_order_end(weft__scheduler *scheduler, uint32_t *count);
/* Parts go as they go. At the end of a world as well. */
void weft__part_order_free(weft__scheduler *scheduler);

static inline bool weft__part_order_rules(const weft__part_order *order)
{
    return __builtin_expect(order != NULL, 0) && order->mode != WEFT__PART_RECORD;
}
/* DRAW, GIVEN: runs the items of stages [first, end) of one segment; with `segment` as its graph
 * allows, and their main entries too. Owner. */
void weft__part_order_run(weft__scheduler *scheduler, uint32_t first, uint32_t end,
                          const weft__segment *segment);

#endif
