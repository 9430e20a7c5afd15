/* SPDX-License-Identifier: MIT */
/* observe.c: the events of contexts: to the hooks, into the ring, out of it. Only reached when
 * something observes the pool. */
#include "observe.h"

#include "trace_rows.h"

static void call_hook(weft_job_context *worker, weft_job_event_kind kind, const char *name,
                      uint32_t value)
{
    const weft_job_hooks *hooks = &worker->pool->hooks;
    void *user = hooks->user;
    switch (kind) {
    case WEFT_JOB_EVENT_BEGIN:
        if (hooks->job_begin != NULL) hooks->job_begin(user, worker->head.index, name);
        break;
    case WEFT_JOB_EVENT_END:
        if (hooks->job_end != NULL) hooks->job_end(user, worker->head.index, name);
        break;
    case WEFT_JOB_EVENT_STEAL:
        if (hooks->stolen != NULL) hooks->stolen(user, worker->head.index, value);
        break;
    case WEFT_JOB_EVENT_PARK:
        if (hooks->parked != NULL) hooks->parked(user, worker->head.index);
        break;
    case WEFT_JOB_EVENT_UNPARK:
        if (hooks->woken != NULL) hooks->woken(user, worker->head.index);
        break;
    case WEFT_JOB_EVENT_WAIT_BEGIN:
    case WEFT_JOB_EVENT_WAIT_END:
    case WEFT_JOB_EVENT_MARK:
    case WEFT_JOB_EVENT_WAKE:
    case WEFT_JOB_EVENT_SPAN_BEGIN:
    case WEFT_JOB_EVENT_SPAN_END:
    case WEFT_JOB_EVENT_COUNTER:
    case WEFT_JOB_EVENT_SHARE:
        break;
    }
}

void weft__observe_spawned(weft_job_context *worker, const char *name)
{
    const weft_job_hooks *hooks = &worker->pool->hooks;
    if (worker->guest != 0) return;
    if (hooks->spawned != NULL) hooks->spawned(hooks->user, worker->head.index, name);
}

void weft__observe_inlined(weft_job_context *worker, const char *name)
{
    const weft_job_hooks *hooks = &worker->pool->hooks;
    if (worker->guest != 0) return;
    if (hooks->inlined != NULL) hooks->inlined(hooks->user, worker->head.index, name);
}

void weft__observe(weft_job_context *worker, weft_job_event_kind kind, const char *name,
                   uint32_t value)
{
    if (worker->guest == 0) call_hook(worker, kind, name, value);
    /* relaxed: a switch, which carries no data: the rings are there from the beginning */
    if (worker->trace.buffer == NULL || at_load_rlx(&worker->pool->x_is_traced) == 0) return;
    const weft__ticks *ticks = &worker->pool->ticks;
    weft_job_event event = {.time_ns = weft__ticks_moment_ns(ticks, weft__ticks_now(ticks)),
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

void weft__pool_drain_trace(weft_job_pool *pool)
{
    if (pool->trace_file != NULL) weft__trace_file_drain(pool->trace_file);
}

void weft_job_trace_mark(weft_job_context *worker, const char *name, uint32_t value)
{
    if (worker == NULL) return;
    weft__note(worker, WEFT_JOB_EVENT_MARK, name, value);
}
