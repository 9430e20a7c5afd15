/* SPDX-License-Identifier: MIT */
/* part_order.h: which worker ran which items of a stage, and in which order: recorded, drawn by a
 * seed, or given. A failure that depends on it can be repeated.
 *
 * RECORD: loops and graphs run as ever, item by item; each takes the next number of one counter
 *   when it begins, and is kept by its worker.
 * DRAW, GIVEN: the thread that steps the world runs the items of all stages itself, one part after
 *   the other, as the worker that the part names: its recorder, tallies, slice.worker. DRAW keeps
 *   to the edges of the segment's graph.
 *
 * Parts are what may interleave. What happens inside two parts at the same time is not in it, nor
 * are systems by depth, background systems and playback, which run serially with DRAW and GIVEN. */
#ifndef WEFT_TEST_PART_ORDER_H
#define WEFT_TEST_PART_ORDER_H

#include "atomic.h"
#include "dispatch.h"

typedef enum weft__part_mode {
    WEFT__PART_RECORD,
    WEFT__PART_DRAW,
    WEFT__PART_GIVEN
} weft__part_mode;

/* Parts of one worker. Owner: the worker while stages run. */
typedef struct weft__part_list {
    _Alignas(64) weft__part *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
} weft__part_list;

/* Owner: who set it. RECORD: lists[worker] until weft__part_order_end, which puts them into
 * lists[0] by number; DRAW: lists[0]; GIVEN: lists[0] is read. */
typedef struct weft__part_order {
    weft__part_watch watch; /* first: scheduler->part_watch */
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
/* Ends it: parts [0, *count) until the next begin or the end of the world. Owner, world idle. */
const weft__part *weft__part_order_end(weft__scheduler *scheduler, uint32_t *count);
static inline const weft__part_order *weft__part_order_of(const weft__scheduler *scheduler)
{
    return (const weft__part_order *)(const void *)scheduler->part_watch;
}

#endif
