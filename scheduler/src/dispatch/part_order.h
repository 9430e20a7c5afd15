/* SPDX-License-Identifier: MIT */
/* part_order.h: which worker ran which items of a stage, in which order (weft/order.h).
 *
 * RECORD: loops and graphs run as ever; each item is kept when it begins. DRAW, REPLAY: the thread
 * that steps the world runs all items of stages, as the worker that a part names: its recorder,
 * tallies, slice.worker. DRAW keeps to the edges of the segment's graph. */
#pragma once

#include "lock.h"
#include "scheduler_state.h"

#include <weft/order.h>

typedef enum weft__part_mode {
    WEFT__PART_RECORD,
    WEFT__PART_DRAW,
    WEFT__PART_REPLAY
} weft__part_mode;

/* What may interleave. In files: there is no byte between fields. */
typedef struct weft__part {
    uint32_t pass; /* since the order began, from 1 */
    uint32_t stage;
    uint32_t item; /* of the stage; behind its items are its main entries */
    uint32_t worker;
} weft__part;

/* Owner: the scheduler. */
typedef struct weft__part_order {
    weft__part_mode mode;
    uint64_t random;              /* DRAW, as the next */
    uint32_t rotated;             /* added to the number of each worker that is drawn */
    uint64_t before;              /* the pass before the first one */
    WEFT__LIST(weft__part) parts; /* REPLAY: to run; else those that ran, by any worker */
    uint32_t next;                /* REPLAY */
    weft__lock lock;              /* RECORD: of parts */
    bool is_incomplete;           /* memory ended */
    bool has_differed;            /* REPLAY: the run had other items */
    bool is_asked;                /* by the environment */
    char path[4001];              /* of the file that is written at the end; "": none */
} weft__part_order;

/* Begins one in place of another; its `parts` are the caller's to fill. Owner, idle. NULL: out of
 * memory. */
weft__part_order *weft__part_order_begin(weft__scheduler *scheduler, weft__part_mode mode,
                                         uint64_t seed);
/* As weft_order_begin and _end; what the environment asks for. Owner, idle. */
weft_result weft__order_open(weft__scheduler *scheduler, const char *order);
weft_result weft__order_close(weft__scheduler *scheduler);
void weft__order_obey(weft__scheduler *scheduler);

/* An item begins on a worker. Its thread. */
void weft__part_keep(weft__scheduler *scheduler, uint32_t worker, uint32_t stage, uint32_t item);
/* Whether items run by weft__parts_run: those of stages [first, end), as the graph of a plan allows
 * with their main entries; without a plan of one stage. Owner. */
static inline bool weft__parts_are_ruled(const weft__scheduler *scheduler)
{
    const weft__part_order *order = scheduler->part_order;
    return __builtin_expect(order != NULL, 0) && order->mode != WEFT__PART_RECORD;
}
typedef void weft__part_fn(weft__scheduler *scheduler, uint32_t worker, uint32_t stage,
                           uint32_t item);
void weft__parts_run(weft__scheduler *scheduler, uint32_t first, uint32_t end,
                     const weft__task_plan *plan, weft__part_fn *run);
