/* SPDX-License-Identifier: MIT */
/* pool_state.h: struct weft_job_pool and the edges of what its workers share. The parts have
 * their own headers and protocols: worker_state.h, job.h (handles), loop.h, graph.h, wake.h,
 * guest.h (threads that are no workers), users.h, cost.h, trace_file.h. */
#pragma once

#include "graph.h"
#include "guest.h"
#include "loop.h"
#include "trace_file.h"
#include "users.h"
#include "worker_state.h"

/* Owner: the thread that created it, or took it over. Invariants:
 *   head.thread of workers[0] is the owner's, of all others 0
 *   thread_count == worker_count - 1, or 0 when is_host_driven
 *   x_serving <= x_lent <= worker_count - 1, both 0 unless is_host_driven
 *   x_background <= background_limit, but for an owner that drains (P4)
 *   x_to_wake <= sleepers; 0 outside of frames
 *   trace_file != NULL: it is the one reader of the rings */
struct weft_job_pool {
    /* constant after create; the first line is what every call reads, also after long idleness */
    weft_job_context *workers; /* [worker_count] */
    weft_a32 *alive;           /* 1 in the process that created the pool, 0 in a forked child */
    weft__cost_limits limits;
    uint32_t worker_count;
    uint32_t background_limit;
    bool is_host_driven;
    bool is_pinned;
    bool is_always_parallel;
    bool is_observed;
    const weft_os *os;
    weft__memory memory;
    weft__ticks ticks;
    uint32_t wake_ns;          /* measured by create; 0: not measured */
    uint32_t calibration_jobs; /* submitted by create */
    weft_log log;
    char thread_name[12];
    uint32_t child_capacity;
    uint32_t deque_capacity; /* >= table.capacity: what is beyond it is for plain jobs */
    size_t mapped_bytes;     /* from `alive` on: all arrays (pool_memory.h) */
    weft__deque_place *deque_places;
    weft__child *children;
    weft_job_for_desc *loop_descs; /* [job capacity] loops submitted as jobs */
    weft__wake_token *tokens;
    weft__os_thread *threads;
    weft__trace_file *trace_file; /* NULL: none; constant after create */
    size_t stack_bytes;           /* of its threads; 0: the system's default */
    uint32_t thread_count;        /* threads started */
    weft__lock graphs_lock;
    weft_job_graph *graphs; /* list of all graphs, under the lock: guests make some, too */
    /* shared */
    weft__job_table table;
    weft__loop_table loops;
    weft__wake wake;
    _Alignas(64) weft_a32 x_injected[WEFT_JOB_CLASS_COUNT]; /* heads of take-all stacks: P1 */
    weft_a32 x_background;                                  /* background jobs running */
    weft_a32 x_draining;                                    /* the owner waits for all jobs: P10 */
    weft_a32 x_is_awaited;                                  /* the owner waits for a job; a hint */
    weft_a32 x_kept;             /* ended jobs whose slot waits for a collector: P3 */
    weft_a32 x_stopping;         /* workers shall return */
    weft_a32 x_is_traced;        /* events go into the rings, where there are some */
    weft_a64 x_spin_ticks;       /* spin budget; set once, by create, while workers run */
    weft_a64 x_frame_spin_ticks; /* the same in a frame */
    weft_a32 x_in_frame;
    weft_a32 x_to_wake; /* sleepers that woken workers are still to wake for the frame */
    weft_a32 x_used;    /* workers that ran something since frame begin: a bit set, modulo 32 */
    weft_a32 x_lent;    /* host threads inside worker_run: P6 */
    weft_a32 x_serving; /* of these, those that look for work: P9 */
    weft_a64
        x_first_error; /* {1 | class of result:31 | code:32} of jobs without a handle; 0: none */
    weft_a64 x_foreign_submitted; /* by weft_job_inject and guests */
    weft__guests guests;
    weft__pool_users users;
    /* owner only */
    weft_error error; /* why destroy was refused the last time */
};

/* Edges of the pool:
 *   P1  inject: x_next, sc CAS of the list head -> take: sc exchange of the head; also <-> W1
 *   P2  end of a job: sc store of the waiter's x_is_over, load of its sleeper bit <-> waiter: sc or
 *       of its bit, sc load of x_is_over; after the store the waiter's edge is the waiter's again
 *   P3  completed counts (release), submitted counts -> quiescence check: completed is read first;
 *       all only grow, so equal sums mean that nothing was pending at the moment in between
 *   P4  x_background up before a background job is taken -> down after it ended: never above the
 *       limit, except for the owner that drains
 *   P5  workers: or of x_used, found work -> frame begin: exchange of x_used; frame hints
 *       (x_in_frame, x_to_wake: counted down by one CAS per wake-up, so never more than wanted)
 *   P6  lent thread: x_lent up before it touches the pool, down after its last touch but the futex
 *       wake -> destroy: acquire of x_lent == 0
 *   P8  lent thread leaves: exchange of x_lease NONE -> the next one of that number: CAS of x_lease
 *       RUNS; the worker's own fields are handed over. Recall: CAS RUNS -> RECALLED, then wake all
 *       (W6) -> the lent thread's look at x_lease after announcing
 *   P9  lent thread stops serving: sc sub of x_serving, wakes the owner if it sleeps <-> the owner:
 *       announces itself (W2), sc load of x_serving: when no other serves, it runs background
 *       jobs itself while it waits
 *   P10 worker that found no work: its count (P3), sc add of x_searching (W3) or, when enough
 *       others search, sc or of its bit (W2), sc load of x_draining, wakes the owner <-> owner
 *       that waits for all jobs: x_draining, sc or of its bit (W2), looks at the counts (P3). Who
 *       ends the last job finds no work then: the owner needs no edge of its own
 *   P7  calibration job: stamp (release) -> owner: acquire of the stamp */

/* As weft__worker_is_forked. */
static inline bool weft__pool_is_forked(const weft_job_pool *pool)
{
    return at_load_rlx(pool->alive) == 0; /* relaxed: as there */
}
