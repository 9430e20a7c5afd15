/* SPDX-License-Identifier: MIT */
/* loop.h: parallel loops: a table of open loops that workers join, and the ranges they share.
 *
 * The opener claims an entry, splits [begin, end) into one packed range per wanted participant
 * and opens the entry. Each worker has its own range word in each entry, on its own cache line:
 * it claims parts from the front, and steals the upper half of another's when its own is
 * empty (as Unity's job ranges do). Every participant subtracts what it ran from `left` once,
 * when it finds nothing more; the opener waits for zero. Entries are type-stable: a late joiner
 * finds empty ranges and leaves. The last to leave a closed entry recycles it.
 *
 *   who            open, close    join, leave    claim             steal into own range
 *   opener         yes            implied        its own range     yes
 *   participant    never          yes            its own range     yes
 *   others         never          may join       never             never
 *   worker 0       yes            not hosted     its own range     yes
 *
 * A loop that a guest opened, and every loop inside its parts, is *hosted* (guest.h): the guest
 * stands where worker 0 would, and has its range, so worker 0 does not join.
 *
 * Edges:
 *   L1  open: fields, ranges, release of x_ctl OPEN  -> join: CAS of x_ctl (acquire)
 *   L2  open: sc or of the table's open bits        <-> a sleeper's look for work (W1)
 *   L3  claim/steal: CAS of a range: one winner per item; a range word says everything there is to
 *       know about its items, so a word seen again is as good as unchanged (no ABA)
 *   L4  participant: sub of x_left (release)         -> opener: acquire of x_left == 0 (results)
 *   L5  opener: or of WAITING into x_left           <-> last finisher: sub sees WAITING, wakes
 *   L6  leave/close: RMW of x_ctl (release)          -> the recycler, then the next opener: L7
 *   L8  leave: sub of x_ctl, futex wake of x_ctl      -> close_sync: acquire of x_ctl, futex wait
 *   L7  recycle: or of x_free (release)              -> open: CAS of x_free (acquire) */
#pragma once

#include "heap.h"
#include "wake.h"

#include <weft/jobs.h>

/* A participant claims at least this part of what is left of its range. */
#define WEFT__LOOP_SHARE 8u

#ifndef WEFT__LOOPS_MAX
#define WEFT__LOOPS_MAX 64u /* loops open at once; more run inline */
#endif
#define WEFT__LOOP_CLOSED 0x80000000u          /* in x_ctl */
#define WEFT__LOOP_HOSTED 0x40000000u          /* in x_ctl: not for worker 0 */
#define WEFT__LOOP_LIMIT_SHIFT 16              /* in x_ctl: most participants besides the opener */
#define WEFT__LOOP_LIMIT 0x3FFFu               /* in x_ctl, shifted down */
#define WEFT__LOOP_INSIDE 0xFFFFu              /* in x_ctl: participants inside */
#define WEFT__LOOP_WAITING (UINT64_C(1) << 63) /* in x_left */

/* Owner: the loop. {end:32 | begin:32}: the unclaimed items of one participant. */
typedef struct weft__loop_range {
    _Alignas(64) weft_a64 x_items;
} weft__loop_range;

/* Owner: the opener, from open to close; type-stable. */
typedef struct weft__loop {
    /* constant while open */
    weft_job_for_fn fn;
    void *argument;
    const char *name;
    uint32_t grain;  /* items of one part, >= 1 */
    uint32_t limit;  /* participants besides the opener; others read it in x_ctl */
    uint32_t opener; /* worker whose range the opener has */
    uint32_t job;    /* slot of the submitted job above, for cancellation; or NONE, HOSTED */
    bool is_hosted;  /* not for worker 0; others read it in x_ctl */
    bool is_served;  /* a graph whose opener, worker 0, serves while it waits (G6) */
    weft_job_class class_;
    const struct weft__label *label; /* what it counts for (label.h); lives while parts are left */
    struct weft_job_graph *graph;    /* not NULL: the items are the nodes of a graph (graph.h) */
    weft__wake_token *token;         /* of the opener (L5) */
    uint32_t worker_count;           /* constant after init */
    weft__loop_range *ranges;        /* [worker_count]; constant after init */
    /* shared atomic */
    _Alignas(64) weft_a32 x_ctl; /* CLOSED | HOSTED | limit | participants inside */
    /* shared atomic; written once per participant */
    _Alignas(64) weft_a64 x_left; /* WAITING | items not yet run */
    weft_a64 x_busy;              /* ticks spent in parts */
    weft_a64 x_error;             /* {begin:32 | code:32} of the lowest failed part; ~0: none */
    weft_a32 x_stop;              /* no further parts */
} weft__loop;

/* Owner: the pool. */
typedef struct weft__loop_table {
    weft__loop *loops;        /* constant: [WEFT__LOOPS_MAX] */
    weft__loop_range *ranges; /* constant: [WEFT__LOOPS_MAX * worker_count] */
    uint32_t worker_count;
    /* shared atomic */
    _Alignas(64) weft_a64 x_open[WEFT_JOB_CLASS_COUNT]; /* hints: entries worth joining */
    _Alignas(64) weft_a64 x_free;
} weft__loop_table;

weft_result weft__loop_table_init(weft__loop_table *table, weft__memory *memory,
                                  uint32_t worker_count);
void weft__loop_table_fini(weft__loop_table *table, weft__memory *memory);

/* An unused entry, or NULL when all are in use. Threads: any worker. */
weft__loop *weft__loop_acquire(weft__loop_table *table);
/* Splits [begin, end) among the opener and the `limit` workers after it, and lets others join; the
 * fields of the first group are set. */
void weft__loop_open(weft__loop_table *table, weft__loop *loop, uint32_t begin, uint32_t end);
/* The same for a graph: `left` items that are not in ranges. */
void weft__loop_open_graph(weft__loop_table *table, weft__loop *loop, uint32_t left);
/* No more joins; the entry is recycled when the last participant has left. */
void weft__loop_close(weft__loop_table *table, weft__loop *loop);
/* No more joins; returns when every participant has left (graphs). */
void weft__loop_close_sync(weft__loop_table *table, weft__loop *loop, const weft_os *os);
/* Nothing is left to claim: stop offering the entry. */
void weft__loop_hide(weft__loop_table *table, weft__loop *loop);

/* Offers it again (graphs: new nodes are ready). */
void weft__loop_show(weft__loop_table *table, weft__loop *loop);

/* Whether an entry of the class seems worth joining. */
static inline bool weft__loop_is_open(const weft__loop_table *table, weft_job_class class_)
{
    return at_load_rlx(&table->x_open[class_]) != 0; /* relaxed: a hint */
}
/* An open entry of the class with room for the worker, joined; or NULL. */
weft__loop *weft__loop_join(weft__loop_table *table, weft_job_class class_, uint32_t worker);
void weft__loop_leave(weft__loop_table *table, weft__loop *loop, const weft_os *os);
/* Whether a join could succeed; sequentially consistent, for the look before sleeping (L2). */
bool weft__loop_has_room(weft__loop_table *table, weft_job_class class_, uint32_t worker);

/* Claims `wanted` items from the front of a participant's own range, or an eighth of what is left
 * of it when that is more; false when empty. Large parts first: a pause between parts makes the
 * hardware lose the streams of memory it follows (seven fused systems on two workers: 2.4 ns per
 * entity in parts of 3 us, 1.1 so). What is left is small in the end, and can be stolen. */
bool weft__loop_claim(weft__loop *loop, uint32_t worker, uint32_t wanted, uint32_t *begin,
                      uint32_t *end);
/* Moves half of another worker's range (all of it when it is one part) into the worker's empty
 * own range; the victim, or UINT32_MAX when every range was empty. */
uint32_t weft__loop_steal(weft__loop *loop, uint32_t worker);

/* Records a failed part; the lowest `begin` wins. */
void weft__loop_fail(weft__loop *loop, uint32_t begin, int code);
/* Reports `count` items run; true when these were the last and the opener may sleep: wake it. */
bool weft__loop_finish(weft__loop *loop, uint32_t count);
/* True when every item has been run: all results are visible. */
bool weft__loop_is_finished(weft__loop *loop);
/* The same, sequentially consistent, for the look before sleeping (G6). */
bool weft__loop_is_finished_sc(weft__loop *loop);
/* Announces that the opener sleeps on its token; false when everything has been run meanwhile. */
bool weft__loop_announce_wait(weft__loop *loop);
/* Takes the announcement back: true for exactly one of the opener and those who would wake it. */
bool weft__loop_retract_wait(weft__loop *loop);
