/* SPDX-License-Identifier: MIT */
/* jobs_engine.c: what jobs_engine.h says of a pool as a whole: its contexts, its owner, its users,
 * the events of its contexts, which weft__note reports where there is a ring.
 *
 * The rest of that header is where its subject is: pool_check.c, worker_child.c. */
#include "jobs_engine.h"
#include "trace_rows.h"

weft_job_context *weft__pool_worker(weft_job_pool *pool, uint32_t index)
{
    WEFT_ASSERT(index < pool->worker_count);
    return &pool->workers[index];
}

uintptr_t weft__pool_take_over(weft_job_pool *pool, uintptr_t thread)
{
    uintptr_t old = pool->workers[0].head.thread;
    pool->workers[0].head.thread = thread;
    return old;
}

void weft__pool_add_user(weft_job_pool *pool, weft__pool_user *user, const char *name)
{
    weft__users_add(&pool->users, user, name);
}

void weft__pool_remove_user(weft_job_pool *pool, weft__pool_user *user)
{
    weft__users_remove(&pool->users, user);
}

void weft__observe(weft_job_context *worker, weft_job_event_kind kind, const char *name,
                   uint32_t value)
{
    /* relaxed: a switch, which carries no data: the rings are there from the beginning */
    if (worker->trace.buffer == NULL || at_load_rlx(&worker->pool->x_is_traced) == 0) return;
    if (weft__worker_is_forked(worker)) return; /* its ring may be the parent's */
    const weft__ticks *ticks = &worker->pool->ticks;
    if (kind != WEFT_JOB_EVENT_SHARE) /* 40 follow each other: a clock read is a third of each */
        worker->trace.last_ns = weft__ticks_moment_ns(ticks, weft__ticks_now(ticks));
    weft_job_event event = {.time_ns = worker->trace.last_ns,
                            .name = name,
                            .value = value,
                            .kind = (uint16_t)kind,
                            .worker = (uint16_t)weft__trace_row_of(worker)};
    weft__trace_write(&worker->trace, &event);
    if (worker->head.index == 0 && worker->pool->trace_file != NULL)
        weft__trace_file_count(worker->pool->trace_file, &worker->trace);
}

bool weft__pool_is_traced(const weft_job_pool *pool)
{
    return weft__trace_capacity(&pool->workers[0].trace) != 0 &&
           at_load_rlx(&pool->x_is_traced) != 0; /* relaxed: a switch */
}

void weft_job_trace_enable(weft_job_pool *pool, bool is_enabled)
{
    if (pool == NULL || pool->trace_file != NULL) return;
    at_store_rlx(&pool->x_is_traced, is_enabled ? 1u : 0u); /* relaxed: a switch */
}

bool weft__pool_is_traced_in_detail(const weft_job_pool *pool)
{
    return weft__trace_file_is_detailed(pool->trace_file);
}

uint32_t weft__pool_trace_share(const weft_job_pool *pool)
{
    return weft__trace_file_share(pool->trace_file);
}

void weft__pool_skip_trace(weft_job_pool *pool, bool is_skipped)
{
    at_store_rlx(&pool->x_is_traced, is_skipped ? 0u : 1u); /* relaxed: a switch */
}

void weft__pool_drain_trace(weft_job_pool *pool)
{
    if (pool->trace_file != NULL) weft__trace_file_drain(pool->trace_file);
}

void weft_job_trace_mark(weft_job_context *worker, const char *name, uint32_t value)
{
    if (worker == NULL) return;
    weft__note(worker, WEFT_JOB_EVENT_MARK, name, value);
}
