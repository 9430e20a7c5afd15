/* SPDX-License-Identifier: MIT */
/* worker_job.h: submitted jobs on workers: free slots and edges, where ready jobs go, running
 * and ending them. What weft_job_wait does on its short way is inline. The protocol is in job.h. */
#pragma once

#include "pool_state.h"

/* Who submits: a worker, or a thread that is none (worker == NULL). Owner: the call, by value. */
typedef struct weft__submitter {
    weft_job_pool *pool;
    weft_job_context *worker;
} weft__submitter;

/* ---- slots and edges; NONE: none is free */

uint32_t weft__job_take_slot(weft__submitter by);
void weft__job_give_edge(weft__submitter by, uint32_t edge);
/* Takes `count` edges linked by next; EMPTY when there are not enough (none is taken then). */
uint32_t weft__job_take_edges(weft__submitter by, uint32_t count, bool *is_full);

/* ---- where ready jobs go */

/* Gives a ready job to its class's deque, which has a place for each slot. */
void weft__worker_push_job(weft_job_context *worker, uint32_t slot);
/* Moves an injection list into the worker's deque; false when it was empty. */
bool weft__worker_take_injected(weft_job_context *worker, weft_job_class class_);
/* A job whose last predecessor ended here runs next in place, if it may; others are offered. */
void weft__job_offer(weft__submitter by, uint32_t slot);

/* ---- running and ending */

/* Runs one submitted job and ends it. */
void weft__worker_run_job(weft_job_context *worker, uint32_t slot);

/* The rare half of ending a job: something waits for it, or it failed. False. */
bool weft__worker_end_noticed(weft_job_context *worker, uint32_t slot, uint32_t edge,
                              uint32_t flags);
/* The end of a job that failed or was cancelled. False. */
bool weft__worker_end_failed(weft_job_context *worker, uint32_t slot, int code, uint32_t flags);
/* Keeps the error of a plain job. */
void weft__worker_end_plain_failed(weft_job_context *worker, int code);
/* weft__worker_call at depth 0, out of line. */
int weft__worker_call_on_children(weft_job_context *worker, weft_job_fn fn, void *argument);
/* Joins what a body at depth 0 started; returns its code, or else that of the children. */
int weft__worker_join_at_depth_0(weft_job_context *worker, int code);

static inline void weft__worker_count_completed(weft_job_context *worker)
{
    /* release: a reader of the new count sees everything the job did (P3) */
    at_store_rel(&worker->stats.x_completed, at_load_rlx(&worker->stats.x_completed) + 1);
}

/* True when it succeeded and nothing waited for it. */
static inline bool weft__worker_end_job(weft_job_context *worker, weft__job *job, uint32_t slot,
                                        int code)
{
    if (__builtin_expect(code != 0, 0)) return weft__worker_end_failed(worker, slot, code, 0);
    uint32_t edge = weft__job_finish(job, 0, 0);
    if (__builtin_expect(edge != WEFT__JOB_LIST_EMPTY, 0))
        return weft__worker_end_noticed(worker, slot, edge, 0);
    weft__slots_give(&worker->pool->table.slots, &worker->caches.jobs, slot);
    weft__worker_count_completed(worker);
    return true;
}

static inline bool weft__worker_is_frame_empty(const weft_job_context *worker)
{
    /* one branch for both */
    uint64_t to_join = worker->children.bottom - worker->frame_base;
    return __builtin_expect((to_join | (uint32_t)worker->error.code) == 0, 1);
}

/* True when it succeeded and nothing waited for it. `is_empty`: the worker's frame is. */
static inline __attribute__((always_inline)) bool
weft__worker_run_on_frame(weft_job_context *worker, weft__job *job, uint32_t slot, bool is_empty)
{
    WEFT_ASSERT(worker->depth == 0);
    bool is_cancelled = (weft__job_flags(job) & WEFT__JOB_CANCELLED) != 0;
    if (__builtin_expect(is_cancelled && (job->traits & WEFT__JOB_RUN_ON_ERROR) == 0, 0))
        return weft__worker_end_failed(worker, slot, 0, WEFT__JOB_SKIPPED);
    worker->depth = 1;
    worker->job = slot;
    weft__note(worker, WEFT_JOB_EVENT_BEGIN, job->name, slot);
    int code = __builtin_expect(is_empty, 1)
                   ? job->fn(worker, job->argument)
                   : weft__worker_call_on_children(worker, job->fn, job->argument);
    if (__builtin_expect(is_empty && !weft__worker_is_frame_empty(worker), 0))
        code = weft__worker_join_at_depth_0(worker, code);
    weft__note(worker, WEFT_JOB_EVENT_END, job->name, slot);
    worker->job = WEFT__JOB_NONE;
    worker->depth = 0;
    return weft__worker_end_job(worker, job, slot, code);
}

/* Runs a plain job: it has neither slot nor name, and nothing waits for it alone. `is_empty`: as
 * above. */
static inline __attribute__((always_inline)) void
weft__worker_run_plain(weft_job_context *worker, weft__deque_item item, bool is_empty)
{
    weft_job_fn fn = (weft_job_fn)(uintptr_t)item.fn;
    void *argument = (void *)(uintptr_t)item.argument;
    WEFT_ASSERT(worker->depth == 0 && worker->job == WEFT__JOB_NONE);
    worker->depth = 1;
    weft__note(worker, WEFT_JOB_EVENT_BEGIN, NULL, WEFT__JOB_NONE);
    int code = __builtin_expect(is_empty, 1) ? fn(worker, argument)
                                             : weft__worker_call_on_children(worker, fn, argument);
    if (__builtin_expect(is_empty && !weft__worker_is_frame_empty(worker), 0))
        code = weft__worker_join_at_depth_0(worker, code);
    weft__note(worker, WEFT_JOB_EVENT_END, NULL, WEFT__JOB_NONE);
    worker->depth = 0;
    if (__builtin_expect(code != 0, 0)) weft__worker_end_plain_failed(worker, code);
    weft_a64 *count = &worker->stats.x_plain_completed;
    at_store_rel(count, at_load_rlx(count) + 1); /* P3; relaxed: its own */
}
