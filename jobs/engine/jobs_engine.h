/* SPDX-License-Identifier: MIT */
/* jobs_engine.h: what ecs and scheduler use of the job system besides weft/jobs.h: who the calling
 * thread is, which contexts a pool has, events and probes of a context, the users of a pool, its
 * trace. The only header of this layer, besides the public one, that another layer includes.
 *
 * What is inline reads the head of a context and nothing else: the layout behind it is private
 * (worker_state.h, pool_state.h). */
#pragma once

#include "atomic.h"

#include <pthread.h>
#include <weft/jobs.h>

#if defined(__has_include)
#if __has_include(<sys/sdt.h>) && !defined(WEFT_ATOMICS_HOOKED)
#include <sys/sdt.h>
#define WEFT_PROBE2(name, a, b) DTRACE_PROBE2(weft, name, a, b)
#define WEFT_PROBE4(name, a, b, c, d) DTRACE_PROBE4(weft, name, a, b, c, d)
#endif
#endif
#ifndef WEFT_PROBE2
#define WEFT_PROBE2(name, a, b) ((void)(a), (void)(b))
#define WEFT_PROBE4(name, a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))
#endif

/* ---- threads and contexts */

/* The first bytes of every context. Owner: the pool. Read by the thread that runs the context;
 * `thread` also by any thread that compares it with its own name: no other value equals it. */
typedef struct weft__context_head {
    uintptr_t
        thread;     /* of the owner, changed by weft__pool_take_over only; 0: no owner's context */
    uint32_t index; /* constant: place 0..worker_count-1; 0 for guests */
    bool is_observed; /* constant: traces are on */
} weft__context_head;

static inline const weft__context_head *weft__context_head_of(const weft_job_context *context)
{
    return (const weft__context_head *)(const void *)context;
}

/* Names the calling thread: a register read on x86-64. */
static inline uintptr_t weft__thread_self(void)
{
#if defined(WEFT_ATOMICS_HOOKED)
    return weft__hook_thread() + (uintptr_t)1; /* threads are fibres of one */
#elif defined(__x86_64__) && !defined(__clang__)
    return (uintptr_t)__builtin_thread_pointer();
#else
    return (uintptr_t)pthread_self();
#endif
}

/* Whether the calling thread is the owner that `context` belongs to. Threads: any. */
static inline bool weft__context_is_owners(const weft_job_context *context, uintptr_t self)
{
    return weft__context_head_of(context)->thread == self;
}

/* The context of a worker, index < worker count. Threads: any. */
weft_job_context *weft__pool_worker(weft_job_pool *pool, uint32_t index);
/* Makes another thread the owner: it was handed the pool, outside of jobs. Returns the name of the
 * old one. */
uintptr_t weft__pool_take_over(weft_job_pool *pool, uintptr_t thread);
/* OK, or WOULD_NEST, WRONG_THREAD, FORKED: for calls of the owner outside of jobs. */
weft_result weft__pool_check_owner(const weft_job_context *context);
/* Whether the calling thread is inside a job: it serves the pool as a worker, or it is the owner
 * with work on its stack. Threads: any. Cost: O(workers): for refusals and rare calls. */
bool weft__pool_is_in_job(const weft_job_pool *pool);
/* Whether the pool may be destroyed now: the errors of weft_job_pool_destroy. Joins the children of
 * the owner. Threads: owner. */
weft_result weft__pool_check_end(weft_job_pool *pool);

/* Runs `fn` as a job on top of what the context runs, and joins its children. Threads: the
 * context's. Returns the code of `fn`, or else of its first failed child. */
int weft__worker_call_nested(weft_job_context *context, weft_job_fn fn, void *argument);

/* What a body counts for in profiles, traces and times. Owner: who calls the body under it;
 * children, loops and graphs of the body refer to it until they are joined. */
typedef struct weft__label {
    const char *name;
    /* `worker` has spent `ns` on a piece of the body that another one began. On its thread, before
     * the piece is joined. NULL: times are not wanted. */
    void (*took)(void *user, uint32_t worker, uint64_t ns);
    void *user;
} weft__label;

/* weft__worker_call_nested; what others run of it counts for the label. Not jobs that it submits:
 * they may live longer. Threads: the context's. */
int weft__worker_call_labelled(weft_job_context *context, const weft__label *label, weft_job_fn fn,
                               void *argument);

/* Inside a node or a part on the thread that runs a graph: runs its ready nodes that are only for
 * that thread (weft_job_graph_node.on_caller). Elsewhere nothing. Threads: the context's. */
void weft__worker_run_caller_nodes(weft_job_context *context);

/* ---- users: worlds on a lent pool */

/* One user. Owner: the user, from add to remove; linked into the pool's list meanwhile. */
typedef struct weft__pool_user {
    const char *name; /* constant while it is in the list */
    struct weft__pool_user *next;
    struct weft__pool_user *previous;
} weft__pool_user;

/* From add to remove the pool refuses to be destroyed and names the user. Threads: any. */
void weft__pool_add_user(weft_job_pool *pool, weft__pool_user *user, const char *name);
void weft__pool_remove_user(weft_job_pool *pool, weft__pool_user *user);

/* ---- events and probes */

/* Whether events are kept. Threads: any. */
bool weft__pool_is_traced(const weft_job_pool *pool);
/* Whether the trace file wants the cost of each slice (.slices). Threads: any. */
bool weft__pool_is_traced_in_detail(const weft_job_pool *pool);
/* Percent of the time that the trace file may take (WEFT_TRACE_SHARE); 0: any. Threads: any. */
uint32_t weft__pool_trace_share(const weft_job_pool *pool);
/* Whether events are left out, for a frame: only with a share. Threads: as the next. */
void weft__pool_skip_trace(weft_job_pool *pool, bool is_skipped);
/* Takes the events out of the rings: from here on names that they point to may go away. Threads:
 * owner, or a guest between two steps. Nothing without a trace file. */
void weft__pool_drain_trace(weft_job_pool *pool);

/* Zones of the calling thread (weft/zone.h) go to this context, which it uses from now on; NULL: to
 * none. Returns the one before. */
weft_job_context *weft__zones_to(weft_job_context *context);
/* Reports an event to the ring; call through weft__note. */
void weft__observe(weft_job_context *context, weft_job_event_kind kind, const char *name,
                   uint32_t value);

#if defined(__clang__) /* sdt.h passes empty variadic arguments */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif
/* Fires the static probe of an event; `kind` is a constant, so one nop is left. */
static inline __attribute__((always_inline)) void
weft__fire_probe(weft_job_event_kind kind, uint32_t worker, const char *name, uint32_t value)
{
    switch (kind) {
    case WEFT_JOB_EVENT_BEGIN:
        WEFT_PROBE2(job_begin, worker, name);
        break;
    case WEFT_JOB_EVENT_END:
        WEFT_PROBE2(job_end, worker, name);
        break;
    case WEFT_JOB_EVENT_STEAL:
        WEFT_PROBE2(steal, worker, value);
        break;
    case WEFT_JOB_EVENT_PARK:
        WEFT_PROBE2(park, worker, value);
        break;
    case WEFT_JOB_EVENT_UNPARK:
        WEFT_PROBE2(unpark, worker, value);
        break;
    case WEFT_JOB_EVENT_WAIT_BEGIN:
        WEFT_PROBE2(wait_begin, worker, value);
        break;
    case WEFT_JOB_EVENT_WAIT_END:
        WEFT_PROBE2(wait_end, worker, value);
        break;
    case WEFT_JOB_EVENT_MARK:
        WEFT_PROBE2(mark, worker, name);
        break;
    case WEFT_JOB_EVENT_WAKE:
        WEFT_PROBE2(wake, worker, value);
        break;
    case WEFT_JOB_EVENT_SPAN_BEGIN:
        WEFT_PROBE2(span_begin, worker, name);
        break;
    case WEFT_JOB_EVENT_SPAN_END:
        WEFT_PROBE2(span_end, worker, name);
        break;
    case WEFT_JOB_EVENT_COUNTER:
        WEFT_PROBE2(counter, name, value);
        break;
    case WEFT_JOB_EVENT_SHARE:
        WEFT_PROBE2(share, name, value);
        break;
    }
    (void)name, (void)value, (void)worker;
}
/* A system is called for one slice: a nop unless the probe is traced. */
static inline __attribute__((always_inline)) void
weft__fire_system(uint32_t worker, const char *name, uint32_t stage, uint32_t rows)
{
    WEFT_PROBE4(system, worker, name, stage, rows);
}
/* A piece of a system's body begins on another worker than the one that began it, or has ended. */
static inline __attribute__((always_inline)) void weft__fire_piece(uint32_t worker,
                                                                   const char *name, bool is_begin)
{
    if (is_begin)
        WEFT_PROBE2(piece_begin, worker, name);
    else
        WEFT_PROBE2(piece_end, worker, name);
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/* Reports an event: a nop for the probe and one predicted branch when nothing observes the pool.
 * Threads: the context's. */
static inline __attribute__((always_inline)) void
weft__note(weft_job_context *context, weft_job_event_kind kind, const char *name, uint32_t value)
{
    const weft__context_head *head = weft__context_head_of(context);
    weft__fire_probe(kind, head->index, name, value);
    if (__builtin_expect(head->is_observed, 0)) weft__observe(context, kind, name, value);
}
