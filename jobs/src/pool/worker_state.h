/* SPDX-License-Identifier: MIT */
/* worker_state.h: struct weft_job_context: a worker, or a guest. Its thread, and only that
 * thread, touches the fields marked "worker only". The parts have their own headers and
 * protocols: deque.h (submitted jobs), child.h (structured children), slots.h (free slots),
 * wake.h (sleeping), trace.h.
 *
 * Depth: 0 while a worker looks for work, else the number of jobs, parts and nodes on its stack.
 * Only at depth 0 does it take work that it did not start itself, so a stack never nests deeper
 * than the program's own nesting plus one, and a wait never runs unrelated work. */
#pragma once

#include "child.h"
#include "job.h"
#include "jobs_engine.h"
#include "trace.h"
#include "wake.h"

/* Owner: the worker, the one writer; any thread reads: relaxed. Invariants: each only grows;
 * summed over all workers and guests, x_completed <= x_submitted + x_foreign_submitted of the
 * pool and x_plain_completed <= x_plain_submitted, equal when the pool is quiescent (P3). */
typedef struct weft__worker_stats {
    weft_a64 x_submitted; /* jobs with a slot */
    weft_a64 x_completed;
    weft_a64 x_plain_submitted; /* plain jobs */
    weft_a64 x_plain_completed;
    weft_a64 x_children;
    weft_a64 x_children_inlined;
    weft_a64 x_stolen;
    weft_a64 x_steals_failed;
    weft_a64 x_loops_parallel;
    weft_a64 x_loops_inlined;
    weft_a64 x_graph_runs;
    weft_a64 x_graph_inlined;
    weft_a64 x_parked;
    weft_a64 x_wakes;
    weft_a64 x_spin_ticks;
} weft__worker_stats;

/* Adds to a counter that only the calling worker writes. */
static inline void weft__stat_add(weft_a64 *counter, uint64_t amount)
{
    /* relaxed: a statistic with one writer */
    at_store_rlx(counter, at_load_rlx(counter) + amount);
}

/* The failed child of a frame that was started first. Owner: the worker. code 0: none failed. */
typedef struct weft__first_error {
    int32_t code;
    uint64_t index; /* in the child stack; of a child run in place: where it would have been */
} weft__first_error;

/* x_lease of a worker of a host-driven pool. */
enum {
    WEFT__LEASE_NONE,    /* no thread runs it */
    WEFT__LEASE_RUNS,    /* a thread of the host does */
    WEFT__LEASE_RECALLED /* and shall return */
};

/* Owner: the thread that runs it; the groups say who else may touch what. Invariants:
 *   depth == jobs, parts and nodes on the stack; 0 while it looks for work
 *   the children of the running body are [frame_base, children.bottom)
 *   is_searching: counted once in wake.x_searching
 *   guest != 0: head.thread == 0 == head.index, next_job == NONE, nothing in its deques
 *   x_lease != NONE only in host-driven pools */
struct weft_job_context {
    /* the first line is all that a loop needs to decide that it stays here */
    weft__context_head head;
    /* worker only */
    uint64_t frame_base;     /* children of the running job have indices from here on */
    weft_job_pool *pool;     /* constant */
    uint64_t small_ticks;    /* constant after create: loops predicted below this run at once */
    weft__first_error error; /* of children that ended before children_wait was called */
    uint32_t depth;
    uint32_t job;            /* slot of the submitted job being run, or WEFT__JOB_NONE, _HOSTED */
    const weft_a32 *alive;   /* constant: the pool's */
    weft__job *jobs;         /* constant: of the pool's table */
    weft__wake_token *token; /* constant: what it sleeps on */
    uint32_t guest;          /* constant: number + 1 of a guest; 0: a worker */
    uint32_t next_job;       /* ready continuation to run next, or WEFT__JOB_NONE */
    uint32_t pick;           /* counts picks, for fairness to the injection lists */
    uint32_t last_victim;    /* where the last steal succeeded */
    uint32_t overflow_skip;  /* children to run in place before looking for room again */
    struct weft__loop *graph_loop; /* of the graph that it opened and runs; NULL: none */
    bool is_searching;             /* counted in wake.x_searching */
    bool is_ending;                /* a job is ending here: its first ready successor runs next */
    /* worker pushes, pops and joins, others steal */
    weft__child_stack children;
    weft__job_caches caches; /* worker only: free slots */
    weft__cost_burst burst;  /* worker only: short loops that found no worker awake */
    /* deques: worker pushes and pops, others steal */
    weft__deque deques[WEFT_JOB_CLASS_COUNT];
    weft__trace_ring trace; /* worker writes, one reader */
    uint32_t thread_number; /* of the system, for traces; written before its thread runs a job, read
                               when it was joined; 0: none was started */
    weft_aptr x_label;      /* weft__label: what its children count for (label.h); NULL: nothing */
    /* shared atomic */
    _Alignas(64) weft_a32 x_is_over; /* the awaited job has ended (P2) */
    weft_a32 x_lease;                /* WEFT__LEASE_*, host-driven pools: P8 */
    weft_a64 x_thread;               /* that serves as this worker; 0: none, or the owner */
    weft__worker_stats stats;
};

static_assert(offsetof(weft_job_context, head) == 0, "weft__context_head_of reads it there");
static_assert(offsetof(weft_job_context, children) == 128, "thieves write apart");

/* The workers follow the page with `alive` in memory, so that a call of the owner after a long rest
 * can ask for both pages at once, before it has read where `alive` is: after 20 ms of idleness each
 * page that waits for the one before costs 330 ns, a walk through cold tables. */
#define WEFT__ALIVE_BYTES 4096u

/* Whether this process is a forked child of the one that created the pool. */
static inline bool weft__worker_is_forked(const weft_job_context *worker)
{
    return at_load_rlx(worker->alive) == 0; /* relaxed: changes only by fork */
}
