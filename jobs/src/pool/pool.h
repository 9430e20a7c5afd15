/* pool.h: the pool and its workers: what the parts share.
 *
 * A weft_job_context is a worker, or a guest: its thread, and only that thread, touches the fields
 * marked "worker only". The parts have their own headers and protocols: deque.h (submitted jobs),
 * child.h (structured children), loop.h, graph.h, job.h (handles), wake.h (sleeping), guest.h
 * (threads that are no workers), users.h, cost.h, trace.h.
 *
 * Depth: 0 while a worker looks for work, else the number of jobs, parts and nodes on its stack.
 * Only at depth 0 does it take work that it did not start itself, so a stack never nests deeper
 * than the program's own nesting plus one, and a wait never runs a stranger. */
#ifndef WEFT_POOL_H
#define WEFT_POOL_H

#include <assert.h>

#include <weft/jobs.h>

#include "child.h"
#include "cost.h"
#include "deque.h"
#include "graph.h"
#include "guest.h"
#include "heap.h"
#include "job.h"
#include "jobs_engine.h"
#include "loop.h"
#include "ticks.h"
#include "trace.h"
#include "trace_file.h"
#include "users.h"
#include "wake.h"

/* Written by one worker, read by anyone: relaxed. */
typedef struct weft__worker_stats {
    weft_a64 x_submitted;
    weft_a64 x_completed;
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
    weft_a64 x_overflowed;
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

/* Of a worker of a host-driven pool. */
enum {
    WEFT__LEASE_NONE,    /* no thread runs it */
    WEFT__LEASE_RUNS,    /* a thread of the host does */
    WEFT__LEASE_RECALLED /* and shall return */
};

/* Owner: its thread; the groups say who else may touch what. Invariant: depth 0 while it looks for
 * work; the children of the running body are [frame_base, children.bottom). */
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
    bool is_searching;       /* counted in wake.x_searching */
    bool is_ending;          /* a job is ending here: its first ready successor runs next */
    /* worker pushes, pops and joins, others steal */
    weft__child_stack children;
    weft__job_caches caches; /* worker only: free slots */
    /* deques: worker pushes and pops, others steal */
    weft__deque deques[WEFT_JOB_CLASS_COUNT];
    weft__trace_ring trace; /* worker writes, one reader */
    /* shared atomic */
    _Alignas(64) weft_a32 x_is_over; /* the awaited job has ended (P2 of wait.c) */
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

/* Owner: the thread that created it. */
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
    weft_job_hooks hooks;
    weft_log log;
    char thread_name[12];
    uint32_t child_capacity;
    uint32_t deque_capacity;
    weft_a32 *deque_slots;
    weft__child *children;
    weft_job_for_desc *loop_descs; /* [job capacity] loops submitted as jobs */
    weft__wake_token *tokens;
    weft__os_thread *threads;
    weft__trace_file *trace_file; /* NULL: none; used by the owner only */
    uint32_t thread_count;        /* threads started */
    weft_job_graph *graphs;       /* owner only: list of all graphs */
    /* shared */
    weft__job_table table;
    weft__loop_table loops;
    weft__wake wake;
    _Alignas(64) weft_a32 x_injected[WEFT_JOB_CLASS_COUNT]; /* heads of take-all stacks: P1 */
    weft_a32 x_background;                                  /* background jobs running */
    weft_a32 x_stopping;                                    /* workers shall return */
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
    char error[400]; /* why destroy was refused the last time */
};

/* Edges of the pool:
 *   P1  inject: x_next, sc CAS of the list head -> take: sc exchange of the head; also <-> W1
 *   P2  end of a job: sc store of the waiter's x_is_over, load of its sleeper bit <-> waiter: sc or
 *       of its bit, sc load of x_is_over; after the store the waiter's edge is the waiter's again
 *   P3  completed count (release), submitted counts -> quiescence check: completed is read first;
 *       both only grow, so equal sums mean that nothing was pending at the moment in between
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
 *       announces itself (W2), sc load of x_serving: when nobody else serves, it runs background
 *       jobs itself while it waits
 *   P7  calibration job: stamp (release) -> owner: acquire of the stamp */

/* ---- worker_job.c: submitted jobs on workers */

/* Gives a ready job to its class's deque, or the injection list when that is full. */
void weft__worker_push_job(weft_job_context *worker, uint32_t slot);
void weft__pool_inject(weft_job_pool *pool, uint32_t slot);
/* Moves an injection list into the worker's deque; false when it was empty. */
bool weft__worker_take_injected(weft_job_context *worker, weft_job_class class_);
/* Runs one submitted job and ends it. */
void weft__worker_run_job(weft_job_context *worker, uint32_t slot);
/* ---- worker_child.c */

/* Runs a child taken from `victim`'s stack. */
void weft__worker_run_taken(weft_job_context *worker, weft__child *child, uint32_t victim);

/* ---- worker_loop.c */

/* Takes part in a joined loop until nothing is left to claim, and leaves it. */
void weft__worker_join_loop(weft_job_context *worker, weft__loop *loop);

/* Whether splitting work predicted to take this long pays now. */
bool weft__worker_pays_off(weft_job_context *worker, weft__cost_state *cost, uint64_t predicted);

/* ---- worker_graph.c */

/* Takes part in a joined graph until no node is ready. */
void weft__worker_run_nodes(weft_job_context *worker, weft__loop *loop);

/* ---- worker.c: looking for work */

typedef enum weft__scope {
    WEFT__SCOPE_WORKER, /* everything */
    WEFT__SCOPE_WAIT,   /* no background work while others could do it */
    WEFT__SCOPE_DRAIN   /* everything, background without limit */
} weft__scope;

/* Finds and runs one piece of work; false when there was none. Depth 0 only. */
bool weft__worker_run_one(weft_job_context *worker, weft__scope scope);
/* Whether there is something to take: sequentially consistent, for the look before sleeping. */
bool weft__worker_sees_work(weft_job_context *worker, weft__scope scope);
/* Looks for work until `is_over(argument)`, sleeping when there is none. The caller makes sure that
 * the worker is woken when is_over becomes true. */
void weft__worker_serve(weft_job_context *worker, weft__scope scope, bool (*is_over)(void *),
                        void *argument);
/* A wait that spins. Starts as zero. */
typedef struct weft__spin {
    uint64_t begun;
    uint64_t last;
} weft__spin;
/* One turn of spinning (about 100 ns); false when the spin budget is used up. */
bool weft__worker_spin(weft_job_context *worker, weft__spin *spin);
/* Whether a thread besides the owner serves the pool (P9). */
bool weft__pool_has_others(weft_job_pool *pool);
/* Sleeps until the worker's token is set: for one awaited event, at any depth. */
void weft__worker_await_token(weft_job_context *worker);
/* Wakes up to two of the sleepers that the frame wants. */
void weft__worker_pass_on(weft_job_context *worker);
/* A wake-up was sent to `sleeper`; UINT32_MAX: to whoever slept. */
void weft__worker_count_wake(weft_job_context *worker, uint32_t sleeper);
/* weft__worker_notify when somebody sleeps: apart, so that its callers need no frame. */
void weft__worker_notify_slow(weft_job_context *worker);
/* After publishing work: wakes a sleeper unless somebody searches. */
static inline void weft__worker_notify(weft_job_context *worker)
{
    if (__builtin_expect(weft__wake_nobody_sleeps(&worker->pool->wake), 1)) return;
    weft__worker_notify_slow(worker);
}

/* ---- wait.c: who may call what */

/* weft_job_wait in full. */
weft_result weft__wait_any(weft_job_context *owner, weft_job_handle handle, int *code);
/* Nothing submitted is pending, and every ended job has been counted. */
bool weft__pool_is_quiescent(weft_job_pool *pool);
/* Something submitted has not ended. */
bool weft__pool_has_pending(weft_job_pool *pool);
static inline bool weft__pool_is_forked(const weft_job_pool *pool)
{
    return at_load_rlx(pool->alive) == 0; /* relaxed: changes only by fork */
}
/* Asks for what the next calls on the owner will read; harmless on any other worker. */
static inline void weft__worker_prefetch(const weft_job_context *worker)
{
    __builtin_prefetch((const char *)worker - WEFT__ALIVE_BYTES);
    __builtin_prefetch(&worker->children.bottom);
    __builtin_prefetch(&worker->stats.x_loops_inlined);
}
/* The same, one load nearer. */
static inline bool weft__worker_is_forked(const weft_job_context *worker)
{
    return at_load_rlx(worker->alive) == 0; /* relaxed: as above */
}
/* From here on the worker runs a piece of what `job` names; returns what it worked on before. */
static inline uint32_t weft__worker_begin_piece(weft_job_context *worker, uint32_t job)
{
    uint32_t before = worker->job;
    worker->job = job;
    if (__builtin_expect(job == WEFT__JOB_HOSTED, 0) && before != WEFT__JOB_HOSTED)
        weft__child_set_hosted_owner(&worker->children, true); /* C7 */
    return before;
}

static inline void weft__worker_end_piece(weft_job_context *worker, uint32_t before)
{
    if (__builtin_expect(worker->job == WEFT__JOB_HOSTED, 0) && before != WEFT__JOB_HOSTED)
        weft__child_set_hosted_owner(&worker->children, false); /* C7 */
    worker->job = before;
}

/* The fields of a loop that say who opens it. */
static inline void weft__worker_fill_opener(const weft_job_context *worker, weft__loop *loop)
{
    loop->opener = worker->head.index;
    loop->token = worker->token;
    loop->job = worker->job;
    loop->is_hosted = worker->job == WEFT__JOB_HOSTED;
}

/* Counts what was not split; `name` may be NULL. */
static inline void weft__note_inlined(weft_job_context *worker, weft_a64 *counter, const char *name)
{
    weft__stat_add(counter, 1);
    if (__builtin_expect(worker->head.is_observed, 0)) weft__observe_inlined(worker, name);
}

/* Runs a body on top of the stack with its own frame of children; joins them. */
static inline int weft__worker_call(weft_job_context *worker, weft_job_fn fn, void *argument)
{
    uint64_t base = worker->frame_base;
    weft__first_error error = worker->error;
    worker->frame_base = worker->children.bottom;
    worker->error.code = 0;
    int code = fn(worker, argument);
    if (worker->children.bottom != worker->frame_base || worker->error.code != 0) {
        int child_code = weft_job_children_wait(worker);
        if (code == 0) code = child_code;
    }
    worker->frame_base = base;
    worker->error = error;
    return code;
}

#endif
