/* SPDX-License-Identifier: MIT */
/* jobs.h: the work-stealing job system. Usable alone: nothing here knows of entities or systems.
 *
 * A pool owns N workers. Worker 0 is the thread that created the pool (the *owner*); the others are
 * threads of the pool, or threads of the host in host-driven mode. Any other thread may enter the
 * pool as a *guest*: it runs loops, graphs and children, several guests at once and beside the
 * owner, and helps with its own work only. Every function that runs on behalf of a worker or guest
 * takes its `weft_job_context`: the owner's is weft_job_pool_owner(), a guest's comes from
 * weft_job_pool_enter(), a job's is its first argument. A context is valid only on the
 * thread it belongs to, and only until the job returns or the guest leaves.
 *
 * Four ways to run work, cheapest first:
 *   weft_job_for         a loop over an index space; splits itself, or runs inline if faster
 *   weft_job_child       structured children, joined by weft_job_children_wait or the job's end
 *   weft_job_graph_run   a fixed graph, compiled once, run every frame without allocation
 *   weft_job_submit      a job with a handle, dependencies, continuations, class, cancellation
 *
 * No function aborts; functions that return no error ignore NULL (weft_job_child: a NULL fn, too).
 * After creation nothing allocates except weft_job_graph_create, weft_job_pool_enter when more
 * guests are inside than ever before, and the writing of a trace file. */
#ifndef WEFT_JOBS_H
#define WEFT_JOBS_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- handles and callbacks ---- */

/* A pool of workers. */
typedef struct weft_job_pool weft_job_pool;

/* A compiled graph of jobs. */
typedef struct weft_job_graph weft_job_graph;

/* One worker or guest as its thread sees it. Never shared between threads. */
typedef struct weft_job_context weft_job_context;

/* A submitted job. {0, 0} is null and counts as done. A handle stays valid for ever: once the
 * job has ended it means "done", even after its slot was reused (2^32 - 2 times at most). One that
 * this pool never issued is refused; some cannot be told from old ones and count as done. */
typedef struct weft_job_handle {
    uint32_t index;
    uint32_t generation; /* never 0 for a real job */
} weft_job_handle;

/* When a job is taken relative to others. */
typedef enum weft_job_class {
    WEFT_JOB_NORMAL = 0,
    WEFT_JOB_CRITICAL = 1,   /* taken first */
    WEFT_JOB_BACKGROUND = 2, /* taken last; see weft_job_wait */
    WEFT_JOB_CLASS_COUNT
} weft_job_class;

/* The function of a job. Returns 0, or a code of its own, which the caller that waits gets. */
typedef int (*weft_job_fn)(weft_job_context *job, void *argument);
/* The function of a loop: runs the items [begin, end). A non-zero result stops the loop early. */
typedef int (*weft_job_for_fn)(weft_job_context *job, void *argument, uint32_t begin, uint32_t end);

/* ---- pool ---- */

/* Describes a pool. Zero means default. Everything is copied. */
typedef struct weft_job_pool_desc {
    uint32_t worker_count;   /* 1..256, with the owner; default: CPUs of the affinity mask, at most
                                the cgroup quota rounded down, at least 1 */
    uint32_t job_capacity;   /* submitted jobs alive at once, 1..2^24; default 4096; up to 64 more
                                for each worker fit, and about as many again of normal ones without
                                handle, name and predecessors; memory comes with use */
    uint32_t child_capacity; /* unjoined children per worker, a power of two 2..2^20; default 4096;
                                more children run at once, in place */
    uint32_t edge_capacity;  /* dependencies alive at once, 1..2^26; default 4 * job_capacity */
    uint32_t spin_ns;        /* how long an idle worker looks for work before it sleeps; default:
                                twice the wake-up time measured by create, 5..50 us */
    uint32_t frame_spin_ns;  /* the same between frame begin and end; default 200 us */
    uint32_t background_workers; /* workers that may run background jobs at once; default: half,
                                    at least 1 */
    uint32_t trace_capacity;  /* events per worker for weft_job_trace_take, a power of two; 0: none,
                                or with a trace file 2^15, at most 64 MiB in all */
    bool trace_is_paused;     /* the rings stay empty until weft_job_trace_enable */
    bool is_host_driven;      /* create no threads: the host calls weft_job_worker_run for 1..N-1 */
    bool is_pinned;           /* pin the pool's own threads: worker i to the i-th CPU of the mask */
    bool is_always_parallel;  /* ignore the cost model: split every loop and graph (tests) */
    const char *thread_name;  /* prefix, at most 10 characters; default "weft-w" */
    weft_allocator allocator; /* zero: malloc and free; what the capacities size is mapped */
    const weft_os *os;        /* NULL: the real one */
    const char *trace_file;   /* written until destroy: .pftrace Perfetto,
                                    .slices for `weft simulate`; NULL: as the variable WEFT_TRACE
                                    of the environment says, "": never */
    weft_error *error;        /* filled by weft_job_pool_create; NULL: not wanted */
    weft_log log;             /* warnings about the trace file; zero: stderr */
    size_t stack_bytes; /* of the threads that it starts: rounded up to 64 KiB, at least 64 KiB;
                           0: the system's default (limits.md) */
} weft_job_pool_desc;

/* Creates a pool; the calling thread becomes its owner and worker 0. `desc` may be NULL. Costs
 * about 1 ms when it measures the wake-up time (spin_ns == 0 and more than one worker). Errors:
 * INVALID_ARGUMENT, OUT_OF_MEMORY, THREAD_FAILED, IO (trace_file); then *out is NULL, nothing is
 * left, and *desc->error has the text; on success its code is WEFT_OK. A file named by
 * WEFT_TRACE that cannot be created is a warning in the log only. The threads it creates block
 * all signals but SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT and SIGPROF: the
 * host's handlers run on the host's threads. The caller's mask is kept. Threads: any. */
WEFT_API weft_result weft_job_pool_create(const weft_job_pool_desc *desc, weft_job_pool **out);
/* Joins the owner's children and the workers (host-driven: waits until the lent threads have come
 * back) and frees everything, graphs too. Errors, and then the pool lives on: WRONG_THREAD,
 * WRONG_PHASE (inside a job), BUSY (worlds live on it, guests are inside, or jobs are pending:
 * weft_job_pool_error says which). A submitted job is pending, also when its guest has left, until
 * weft_job_is_done is true, shortly after its function returns; after weft_job_wait_all none
 * is. In a forked child it frees what is the child's and returns OK.
 * NULL is ignored. Threads: pool owner. */
WEFT_API weft_result weft_job_pool_destroy(weft_job_pool *pool);
/* Why weft_job_pool_destroy was last refused, with the names of the worlds, and what to do: never
 * NULL; code WEFT_OK when it never was. Valid until the next refusal. Threads: pool owner. */
WEFT_API const weft_error *weft_job_pool_error(const weft_job_pool *pool);
/* The owner's context, until the pool is destroyed. Threads: any; only the owner may use it. */
WEFT_API weft_job_context *weft_job_pool_owner(weft_job_pool *pool);
/* The number of workers, the owner included, 1..256. Threads: any. */
WEFT_API uint32_t weft_job_pool_worker_count(const weft_job_pool *pool);

/* ---- lent threads and guests ---- */

/* Lends the calling thread to a host-driven pool as worker `worker` (1..N-1) until `until(user)`
 * returns true (NULL: never), the thread is recalled, or the pool is being destroyed, which waits
 * for lent threads to come back. `until` is asked between jobs, before sleeping, and
 * when weft_job_pool_wake wakes the sleeper; a job that has begun ends first. Jobs that the thread
 * had taken but not begun go to other workers, or wait for them. Errors: INVALID_ARGUMENT,
 * WRONG_PHASE (not host-driven), WRONG_THREAD (the owner's, or one that is lent to this pool),
 * BUSY (that worker is taken), FORKED. Threads: any. */
WEFT_API weft_result weft_job_worker_run(weft_job_pool *pool, uint32_t worker,
                                         bool (*until)(void *user), void *user);
/* Wakes the workers that sleep: lent threads ask `until` again, and see what the caller wrote
 * before this call. Threads: any. Cost: a system call for each sleeper. */
WEFT_API void weft_job_pool_wake(weft_job_pool *pool);
/* Takes a lent thread back: its weft_job_worker_run returns as if `until` had returned true,
 * asleep or not, once its current job has ended. This call does not wait for that; the worker
 * can then be lent again. Errors: INVALID_ARGUMENT, WRONG_PHASE (not host-driven), NOT_FOUND (no
 * thread is lent as that worker), FORKED. Threads: any. */
WEFT_API weft_result weft_job_worker_recall(weft_job_pool *pool, uint32_t worker);
/* Makes the calling thread a guest of the pool until weft_job_pool_leave: *out is its context
 * for weft_job_for, _child, _children_wait, _graph_run, _submit, _then, _for_submit, _depend and
 * _release. Workers 1..N-1 help with its loops and graphs; children it runs itself. Its worker
 * index is 0: worker 0 takes no part in what a guest began. It has room for 64 unjoined
 * children; more run at once, in place. The owner's thread gets the owner's context, but a guest's
 * inside a job, as workers do. Worlds do this internally. Errors, *out is NULL: INVALID_ARGUMENT,
 * LIMIT (256 guests are inside), OUT_OF_MEMORY, FORKED. Threads: any. Cost: entering and leaving
 * about 20 ns. */
WEFT_API weft_result weft_job_pool_enter(weft_job_pool *pool, weft_job_context **out);
/* Joins the guest's children and ends its context; does nothing for the owner's context. Jobs
 * that the guest submitted stay, for the workers and for the owner that waits. Errors:
 * INVALID_ARGUMENT, WRONG_PHASE (a job's context, or inside a loop of the guest). Threads: context.
 */
WEFT_API weft_result weft_job_pool_leave(weft_job_context *guest);
/* The index of the worker that has this context, 0..N-1. A guest has 0. Two threads
 * with the same index never work on one loop, graph or tree of children at the same time. Threads:
 * context. */
WEFT_API uint32_t weft_job_worker_index(const weft_job_context *job);
/* The pool of a context. Threads: context. */
WEFT_API weft_job_pool *weft_job_context_pool(const weft_job_context *job);

/* ---- loops ---- */

/* The measured cost of a loop: a moving average that the caller keeps between runs (static, or
 * in the object the loop belongs to). Zero-initialise; do not read or copy it while the loop
 * runs. */
typedef struct weft_job_cost {
    uint64_t opaque[2];
} weft_job_cost;

/* Describes a loop. Zero means default. */
typedef struct weft_job_for_desc {
    weft_job_for_fn fn;
    void *argument;
    uint32_t count;    /* items: [0, count) */
    uint32_t grain;    /* least items of a part (the last of a share may have fewer); 0: from
                          grain_ns and cost */
    uint32_t grain_ns; /* aim of one part; default 3 us */
    weft_job_class class_;
    weft_job_cost *cost; /* NULL: unknown cost, the loop measures itself while it runs */
    const char *name;    /* for traces; kept by pointer */
} weft_job_for_desc;

/* Runs the loop; the caller takes part and returns when every item is done. When it is predicted
 * too small to gain, it runs on the calling thread; no worker is woken. Each item is handed out
 * exactly once; which worker gets it depends on timing. Errors: INVALID_ARGUMENT, FORKED;
 * JOB_FAILED: a part returned non-zero, no further parts were begun, *code (may be NULL) is the
 * code of the failed part with the lowest begin of those that ran; CANCELLED: the surrounding
 * job was cancelled. Threads: context. While it waits for parts taken by others it runs only parts
 * of this loop. */
WEFT_API weft_result weft_job_for(weft_job_context *job, const weft_job_for_desc *desc, int *code);

/* ---- children ---- */

/* Starts fn(job', argument) as a child of the running job (or of the owner). It runs at the latest
 * in weft_job_children_wait, which the end of the job implies. `argument` must live until then.
 * When child_capacity is reached it runs in place, at once. Threads: context. Cost: about 5 ns. */
WEFT_API void weft_job_child(weft_job_context *job, weft_job_fn fn, void *argument);
/* Runs and waits for all children started so far; helps only them. Returns 0 or the code of the
 * earliest started child that failed. Threads: context. */
WEFT_API int weft_job_children_wait(weft_job_context *job);

/* ---- jobs with handles ---- */

/* Describes a job. Zero means default. */
typedef struct weft_job_desc {
    weft_job_fn fn;
    void *argument;
    const weft_job_handle *after; /* predecessors; read during the call only */
    uint32_t after_count;
    weft_job_class class_;
    bool runs_on_error; /* run even when a predecessor failed or was cancelled */
    const char *name;   /* for traces; kept by pointer */
} weft_job_desc;

/* Submits a job; it may start before the call returns. *out may be NULL: then it cannot be
 * waited for alone, and its error goes to weft_job_wait_all. A job whose predecessor failed or
 * was cancelled is cancelled. A job with a handle that failed or was cancelled keeps its slot
 * until that was collected by weft_job_wait, weft_job_result or weft_job_wait_all. Errors
 * (nothing is submitted, *out stays as it is): INVALID_ARGUMENT, BAD_HANDLE (a predecessor was
 * never issued), POOL_FULL (slots or edges), FORKED. Threads: context. Cost: with its run about 5
 * ns for a normal job without handle, name and predecessors, unless traces are on; else
 * about 20 ns. */
WEFT_API weft_result weft_job_submit(weft_job_context *job, const weft_job_desc *desc,
                                     weft_job_handle *out);
/* As weft_job_submit, from any thread, without a context; slightly slower. Threads: any. */
WEFT_API weft_result weft_job_inject(weft_job_pool *pool, const weft_job_desc *desc,
                                     weft_job_handle *out);
/* Submits a loop as a job; `job` gives predecessors, class and flags (fn and argument are ignored).
 * Everything is copied. Errors: as submit. Threads: context. */
WEFT_API weft_result weft_job_for_submit(weft_job_context *context, const weft_job_for_desc *loop,
                                         const weft_job_desc *job, weft_job_handle *out);
/* Runs other jobs until the job has ended (background ones only when no other thread could);
 * sleeps when there are none. Meanwhile every 61st look of a worker for work begins with background
 * jobs: normal ones that renew themselves do not keep the caller waiting for ever.
 * OK; JOB_FAILED with its code in *code (may be NULL); CANCELLED; BAD_HANDLE (never issued);
 * WOULD_NEST inside a job (use weft_job_desc.after, children or loops there); WRONG_THREAD;
 * FORKED. Threads: pool owner. */
WEFT_API weft_result weft_job_wait(weft_job_context *job, weft_job_handle handle, int *code);
/* Waits until no job is pending, background ones too. Returns one failure
 * that was not collected before and forgets the others: the first of jobs without a handle
 * (JOB_FAILED), else that of any job with one (JOB_FAILED or CANCELLED). Errors: WOULD_NEST,
 * WRONG_THREAD, FORKED. Threads: pool owner. */
WEFT_API weft_result weft_job_wait_all(weft_job_context *job, int *code);
/* True when the job has ended (also for null); false for a handle that was never issued.
 * Threads: any. */
WEFT_API bool weft_job_is_done(const weft_job_pool *pool, weft_job_handle handle);
/* Collects the result: BUSY while it has not ended, else as weft_job_wait. Threads: any. */
WEFT_API weft_result weft_job_result(weft_job_pool *pool, weft_job_handle handle, int *code);
/* Asks a job to stop: it does not start if it has not, its loops stop between parts, its body
 * sees weft_job_is_cancelled. A job with runs_on_error ignores this: it runs, and
 * weft_job_is_cancelled is false in it. A job that did not start, or a loop submitted as a job
 * that was stopped, ends as CANCELLED, and so do the jobs after it. If the body has begun, its
 * return value decides; if it fails, the jobs after it are cancelled too. Errors: BAD_HANDLE.
 * Threads: any. */
WEFT_API weft_result weft_job_cancel(weft_job_pool *pool, weft_job_handle handle);
/* Whether the running job (children and loop parts: the job they belong to) was asked to stop;
 * false for the owner and guests. Threads: context. */
WEFT_API bool weft_job_is_cancelled(const weft_job_context *job);

/* ---- graphs ---- */

/* A node of a graph. */
typedef struct weft_job_graph_node {
    weft_job_fn fn;
    void *argument;
    const char *name; /* kept by pointer; may be NULL */
    uint64_t cost_ns; /* expected time: what lies on the longest path runs first; 0 in all nodes:
                         each counts as 1 */
    bool on_caller;   /* only the thread that calls weft_job_graph_run runs it */
} weft_job_graph_node;

/* Describes a graph. */
typedef struct weft_job_graph_desc {
    const weft_job_graph_node *nodes; /* node_count; copied */
    uint32_t node_count;              /* 1..2^20 */
    uint32_t edge_count;
    const uint32_t (*edges)[2]; /* edge_count pairs {before, after} of node numbers; copied */
    bool is_shared; /* always offered to the other workers, whatever its measured cost: for nodes
                       that run loops of their own. Its caller, if it is the owner outside of
                       jobs, helps with any loop while it waits */
} weft_job_graph_desc;

/* Compiles a graph. Errors: INVALID_ARGUMENT (no nodes, a node number out of range, fn NULL),
 * CYCLE, OUT_OF_MEMORY, LIMIT (more than 2^20 nodes or 2^26 edges). Cost O(nodes + edges), with
 * costs O(nodes log nodes + edges). Threads: any. */
WEFT_API weft_result weft_job_graph_create(weft_job_pool *pool, const weft_job_graph_desc *desc,
                                           weft_job_graph **out);
/* Destroys a graph. NULL is ignored. Errors: BUSY (it runs). Threads: holder. */
WEFT_API weft_result weft_job_graph_destroy(weft_job_graph *graph);
/* Runs every node once, each after its predecessors, and returns when all are done; the caller
 * takes part. No allocation. JOB_FAILED: the code of the failed node with the lowest number; the
 * nodes after a failed one, directly or not, are skipped. Also BUSY (already running), CANCELLED,
 * FORKED. Threads: context; one run at a time. */
WEFT_API weft_result weft_job_graph_run(weft_job_context *job, weft_job_graph *graph, int *code);

/* ---- frames, statistics, traces ---- */

/* A hint that work is coming: wakes as many workers as the last frame used and keeps idle ones
 * looking for work (frame_spin_ns) until weft_job_frame_end. Threads: pool owner. */
WEFT_API void weft_job_frame_begin(weft_job_pool *pool);
/* Ends the frame: spin_ns counts again, and a worker that has looked for longer sleeps at once.
 * Threads: pool owner. */
WEFT_API void weft_job_frame_end(weft_job_pool *pool);
/* Counts of a pool, summed over all workers since creation. */
typedef struct weft_job_stats {
    uint64_t submitted;        /* weft_job_submit and its kind, weft_job_inject */
    uint64_t children;         /* weft_job_child calls */
    uint64_t children_inlined; /* of these, run at once because child_capacity was reached */
    uint64_t stolen;           /* jobs, children and loop ranges taken from another worker */
    uint64_t steals_failed;    /* attempts that lost a race */
    uint64_t loops_parallel;   /* loops that were split */
    uint64_t loops_inlined;    /* loops predicted too small */
    uint64_t graph_runs;
    uint64_t graph_inlined;   /* of these, run by one worker in order */
    uint64_t parked;          /* times a worker went to sleep */
    uint64_t wakes;           /* futex wakes sent */
    uint64_t spin_ns;         /* time spent looking for work */
    uint32_t jobs_high_water; /* most job slots in use at once (rounded up to batches) */
    uint32_t spin_budget_ns;  /* as calibrated */
    uint32_t wake_ns;         /* futex wake to run, median measured by create; 0: not measured */
} weft_job_stats;

/* Counts of a pool, slightly old where workers run. `out_bytes`: sizeof *out. Threads: any. */
WEFT_API void weft_job_stats_get(const weft_job_pool *pool, weft_job_stats *out, size_t out_bytes);
/* The same of one worker; guests and foreign threads count for none. Threads: any. */
WEFT_API void weft_job_worker_stats_get(const weft_job_pool *pool, uint32_t worker,
                                        weft_job_stats *out, size_t out_bytes);
/* The kind of a trace event. */
typedef enum weft_job_event_kind {
    WEFT_JOB_EVENT_BEGIN = 1, /* a job, loop part, node or taken child begins */
    WEFT_JOB_EVENT_END = 2,
    WEFT_JOB_EVENT_STEAL = 3, /* value: victim */
    WEFT_JOB_EVENT_PARK = 4,
    WEFT_JOB_EVENT_UNPARK = 5,
    WEFT_JOB_EVENT_WAIT_BEGIN = 6, /* a wait that found nothing ready */
    WEFT_JOB_EVENT_WAIT_END = 7,
    WEFT_JOB_EVENT_MARK = 8,        /* weft_job_trace_mark */
    WEFT_JOB_EVENT_WAKE = 9,        /* sent a wake-up; value: the worker; UINT32_MAX: any */
    WEFT_JOB_EVENT_SPAN_BEGIN = 10, /* of a layer above: frame, stage, system, playback */
    WEFT_JOB_EVENT_SPAN_END = 11,
    WEFT_JOB_EVENT_COUNTER = 12, /* value: its new value */
    WEFT_JOB_EVENT_SHARE = 13    /* before the end of a span of fused systems: of one of them;
                                       value: ns, sampled (docs/guide/tracing.md) */
} weft_job_event_kind;

/* A trace event of a worker. */
typedef struct weft_job_event {
    uint64_t time_ns; /* clock of weft_os, CLOCK_MONOTONIC for the real one */
    const char *name; /* of the job, loop, node or mark; may be NULL */
    uint32_t value;   /* loop part: begin; steal: victim; mark: as given */
    uint16_t kind;    /* weft_job_event_kind */
    uint16_t worker;  /* as for weft_job_trace_take */
} weft_job_event;

/* Takes up to `capacity` events of one worker out of its ring, oldest first; returns how many.
 * `worker`: 0..N-1, or N and more for guests, by the numbers that the first threads to enter got.
 * *dropped (may be NULL) is the number lost since creation because the ring was full. Nothing
 * when the pool writes a trace file: the events go there. Threads: holder; of a worker's
 * events one reader at a time, while the worker may run. */
WEFT_API uint32_t weft_job_trace_take(weft_job_pool *pool, uint32_t worker, weft_job_event *out,
                                      uint32_t capacity, uint64_t *dropped);
/* Whether events go into the rings of a pool. Threads: any. Cost while paused: 2 ns an event. */
WEFT_API void weft_job_trace_enable(weft_job_pool *pool, bool is_enabled);
/* Puts a MARK event into the ring of the worker or guest. Threads: context. */
WEFT_API void weft_job_trace_mark(weft_job_context *job, const char *name, uint32_t value);

#ifdef __cplusplus
}
#endif
#endif
