/* SPDX-License-Identifier: MIT */
/* job.h: submitted jobs: their slots, handles, dependencies and results.
 *
 * A job lives in one 64-byte slot. One word holds the slot's generation and the list of those who
 * wait for it, so a late "after this job" can never attach to the next job in the same slot: it
 * either gets into the list before the list is closed, or learns that the job has ended. `pending`
 * counts unmet predecessors plus one guard that the submission removes.
 *
 *   who              what
 *   submitter        fills the slot between take and the removal of the guard
 *   any              attach (adds a waiter), is_done, cancel, collect: by handle
 *   last predecessor makes it ready; the worker that takes it from a deque runs it
 *   runner           finish: code, state, close the list, release the waiters, recycle
 *
 * Edges:
 *   J1  submit: fields, sub of pending (release)   -> last sub of pending (acquire) -> runner
 *   J2  finish: code and state, exchange of x_list CLOSED -> is_done/collect: acquire of x_list
 *   J3  attach: edge, CAS of x_list                -> finish: exchange of x_list (acquire), edges
 *   J4  predecessor: its writes, sub of successor's pending (acq_rel) -> the successor's body: all
 *       predecessors, not only the last, are visible (release sequence of the subs)
 *   J5  collect/cancel: CAS of x_state -> others' CAS fails: one collector; flags reach
 *       no other job
 *   J6  recycle: slots.h S1 -> take: new generation, stores to x_list and x_state
 * A job that failed and has a handle is not recycled by its runner but by who collects the code. */
#pragma once

#include "slots.h"

#include <assert.h>
#include <weft/jobs.h>

#define WEFT__JOB_NONE UINT32_MAX
#define WEFT__JOB_HOSTED (UINT32_MAX - 1) /* none either: part of what a guest runs (guest.h) */
/* x_list: {generation:32 | head:32}; the head is an edge number or one of these. */
#define WEFT__JOB_LIST_EMPTY UINT32_MAX
#define WEFT__JOB_LIST_CLOSED (UINT32_MAX - 1)

/* x_state: {generation:32 | flags:32} */
enum {
    WEFT__JOB_CANCELLED = 1, /* asked to stop, or a predecessor failed */
    WEFT__JOB_FAILED = 2,    /* ended with a code */
    WEFT__JOB_SKIPPED = 4,   /* ended without having run, or as a loop stopped in the middle */
    WEFT__JOB_KEPT = 16,     /* ended, and the slot waits for a collector */
    WEFT__JOB_HAS_HANDLE = 32
};

/* traits */
enum { WEFT__JOB_CLASS = 0xFF, WEFT__JOB_RUN_ON_ERROR = 0x100 };

/* Owner: see the table above. */
typedef struct weft__job {
    /* constant from submit to finish */
    _Alignas(64) weft_job_fn fn;
    void *argument;
    const char *name;
    uint32_t traits; /* class | RUN_ON_ERROR: one store */
    /* shared atomic */
    weft_a64 x_list;
    weft_a64 x_state;
    weft_a32 x_pending;
    weft_a32 x_code; /* written by the runner before J2 */
    weft_a32 x_next; /* link in an injection list */
} weft__job;

static_assert(sizeof(weft__job) == 64, "a job is one cache line");

/* One "b after a": in a's list. Owner: who attaches, then who finishes a. */
typedef struct weft__job_edge {
    uint32_t next;      /* edge number, or EMPTY */
    uint32_t successor; /* slot of b, or WEFT__JOB_EDGE_WAITER | worker */
} weft__job_edge;

#define WEFT__JOB_EDGE_WAITER 0x80000000u

/* Owner: the pool. Edge number == number in edge_slots + worker_count. Edges [0, worker_count)
 * belong to the workers, to wait with; the others come from `edge_slots`. */
typedef struct weft__job_table {
    /* constant after init */
    weft__job *jobs; /* [capacity] */
    weft__job_edge *edges;
    uint32_t capacity;
    uint32_t edge_capacity;
    uint32_t worker_count;
    weft__slots slots;
    weft__slots edge_slots; /* number n is edge worker_count + n */
} weft__job_table;

/* The memory of a table. Owner: the pool. */
typedef struct weft__job_arrays {
    weft__job *jobs;       /* [capacity], zeroed: generation 0, which no handle has */
    weft__job_edge *edges; /* [edge_capacity + worker_count] */
    weft_a32 *slot_links;  /* [2 * capacity] */
    weft_a32 *edge_links;  /* [2 * edge_capacity] */
} weft__job_arrays;

/* A worker's private free lists. Owner: the worker. */
typedef struct weft__job_caches {
    weft__slots_cache jobs;
    weft__slots_cache edges;
} weft__job_caches;

typedef enum weft__attach {
    WEFT__ATTACHED,
    WEFT__ATTACH_ENDED,  /* it has ended: nothing to wait for */
    WEFT__ATTACH_INVALID /* never issued */
} weft__attach;

/* Touches none of the arrays, which outlive the table: memory comes with use. */
void weft__job_table_init(weft__job_table *table, const weft__job_arrays *arrays, uint32_t capacity,
                          uint32_t edge_capacity, uint32_t worker_count);

/* Puts `edge`, whose successor is set, into the list of the job `handle` names. */
weft__attach weft__job_attach(weft__job_table *table, weft_job_handle handle, uint32_t edge);
/* Turns a closed list round: in order of attachment. */
uint32_t weft__job_order_edges(weft__job_table *table, uint32_t edge);

/* Sets a flag of the job `handle` names; false when it has ended. */
bool weft__job_flag(weft__job_table *table, weft_job_handle handle, uint32_t flag);
/* Sets a flag of a job that is known to be alive. */
void weft__job_mark(weft__job *job, uint32_t flag);
/* Whether it ended with an error that was not collected yet. */
bool weft__job_has_failed(const weft__job_table *table, weft_job_handle handle);
/* Takes the result of an ended job; *is_recyclable: the caller must give the slot back. */
weft_result weft__job_collect(weft__job_table *table, weft_job_handle handle, int *code,
                              bool *is_recyclable);

static inline uint64_t weft__job_word(uint32_t generation, uint32_t low)
{
    return (uint64_t)generation << 32 | low;
}

static inline weft_job_class weft__job_class(const weft__job *job)
{
    return (weft_job_class)(job->traits & WEFT__JOB_CLASS);
}

static inline uint32_t weft__job_traits(weft_job_class class_, bool runs_on_error)
{
    return (uint32_t)class_ | (runs_on_error ? WEFT__JOB_RUN_ON_ERROR : 0u);
}

/* Makes a taken slot a new job with `guards` (0 or 1) in `pending`, which is not looked at when it
 * is 0; returns its handle. */
static inline weft_job_handle weft__job_start_with(weft__job *job, uint32_t slot, uint32_t flags,
                                                   uint32_t guards)
{
    /* relaxed: the slot is ours since slots.h S1, which made its last generation visible */
    uint32_t generation = (uint32_t)(at_load_rlx(&job->x_list) >> 32) + 1;
    if (generation == 0) generation = 1;                    /* 0 is the null handle */
    if (guards != 0) at_store_rlx(&job->x_pending, guards); /* relaxed: published by J1 */
    /* any order would do: the release of x_list that follows publishes it */
    at_store_rel(&job->x_state, weft__job_word(generation, flags));               /* J6 */
    at_store_rel(&job->x_list, weft__job_word(generation, WEFT__JOB_LIST_EMPTY)); /* J6 */
    return (weft_job_handle){slot, generation};
}

/* Ends a job: stores code and flags, closes the list and returns its youngest edge (EMPTY when
 * none). The caller orders and walks the edges, then recycles unless it is kept. */
static inline uint32_t weft__job_finish(weft__job *job, int code, uint32_t flags)
{
    if (flags != 0) {
        at_store_rlx(&job->x_code, (uint32_t)code); /* relaxed: published by J2 */
        weft__job_mark(job, flags);
    }
    /* relaxed: the generation changes only when the slot is recycled, by us */
    uint64_t closed = (at_load_rlx(&job->x_list) | UINT32_MAX) - 1;
    static_assert(WEFT__JOB_LIST_CLOSED == UINT32_MAX - 1, "the generation stays");
    uint32_t edge = (uint32_t)at_xchg_ar(&job->x_list, closed); /* J2, J3 */
    WEFT_ASSERT(edge != WEFT__JOB_LIST_CLOSED);
    return edge;
}

/* Removes one from pending: true when the job is ready and belongs to the caller. */
static inline bool weft__job_remove_pending(weft__job *job)
{
    uint32_t old = at_sub_ar(&job->x_pending, 1u); /* J1, J4 */
    WEFT_ASSERT(old != 0);
    return old == 1;
}

static inline bool weft__job_is_valid(const weft__job_table *table, weft_job_handle handle)
{
    if (handle.generation == 0) return handle.index == 0; /* null: a job that has ended */
    if (handle.index >= table->capacity) return false;
    /* relaxed: who holds a handle of this generation has seen it issued */
    uint32_t generation = (uint32_t)(at_load_rlx(&table->jobs[handle.index].x_list) >> 32);
    return (int32_t)(generation - handle.generation) >= 0;
}

static inline bool weft__job_is_done(const weft__job_table *table, weft_job_handle handle)
{
    if (handle.generation == 0) return true;
    uint64_t list = at_load_acq(&table->jobs[handle.index].x_list); /* J2 */
    return (uint32_t)(list >> 32) != handle.generation || (uint32_t)list == WEFT__JOB_LIST_CLOSED;
}

static inline uint32_t weft__job_flags(const weft__job *job)
{
    return (uint32_t)at_load_acq(&job->x_state); /* J5: any order, flags carry no data */
}
