/* SPDX-License-Identifier: MIT */
/* lease.c: threads that the host lends to a pool as workers, until they are taken back (edges P6,
 * P8, P9 of pool_state.h). */
#include "park.h"
#include "worker.h"

/* A thread lent to the pool. Owner: weft_job_worker_run, on its stack. */
typedef struct lease {
    weft_job_context *worker;
    bool (*until)(void *);
    void *user;
} lease;

/* Also the last look before sleeping: each change of one of the three wakes all afterwards. */
static bool is_lease_over(void *argument)
{
    const lease *self = argument;
    if (at_load_sc(&self->worker->pool->x_stopping) != 0) return true; /* W1 */
    /* any order would do: W6 comes between the recall and the last look */
    if (at_load_acq(&self->worker->x_lease) == WEFT__LEASE_RECALLED) return true; /* P8 */
    return self->until != NULL && self->until(self->user);
}

/* An owner that waits may have to do what it left to this thread. */
static void stop_serving(weft_job_context *worker)
{
    weft_job_pool *pool = worker->pool;
    at_sub_sc(&pool->x_serving, 1u); /* P9 */
    if (weft__wake_one(&pool->wake, 0)) weft__worker_count_wake(worker, 0);
}

/* One thread is one worker: what tells whether it is inside a job goes by the thread. */
static bool is_worker(const weft_job_pool *pool)
{
    return pool->workers[0].head.thread == weft__thread_self() || weft__pool_is_in_job(pool);
}

weft_result weft_job_worker_run(weft_job_pool *pool, uint32_t index, bool (*until)(void *user),
                                void *user)
{
    if (pool == NULL || index == 0 || index >= pool->worker_count) return WEFT_INVALID_ARGUMENT;
    if (weft__pool_is_forked(pool)) return WEFT_FORKED;
    if (!pool->is_host_driven) return WEFT_WRONG_PHASE;
    if (is_worker(pool)) return WEFT_WRONG_THREAD;
    weft_job_context *worker = &pool->workers[index];
    uint32_t state = WEFT__LEASE_NONE;
    if (!at_cas_ar(&worker->x_lease, &state, WEFT__LEASE_RUNS)) return WEFT_BUSY; /* P8 */
    at_add_sc(&pool->x_lent, 1u); /* P6: any order, the host sees to it that destroy comes later */
    at_add_sc(&pool->x_serving, 1u); /* P9: any order, an owner that sees it late works itself */
    lease self = {worker, until, user};
    at_store_rlx(&worker->x_thread, weft__thread_self()); /* relaxed: for the thread itself */
    weft__zones_to(worker);
    weft__worker_serve(worker, WEFT__SCOPE_WORKER, is_lease_over, &self);
    weft__zones_to(NULL);
    at_store_rlx(&worker->x_thread, (uint64_t)0); /* relaxed: as above */
    stop_serving(worker);
    at_xchg_ar(&worker->x_lease, WEFT__LEASE_NONE); /* P8: fields go to the next of that number */
    const weft_os *os = pool->os;
    if (at_sub_sc(&pool->x_lent, 1u) == 1) os->futex_wake(os->user, &pool->x_lent, 1); /* P6 */
    return WEFT_OK;
}

weft_result weft_job_worker_recall(weft_job_pool *pool, uint32_t index)
{
    if (pool == NULL || index == 0 || index >= pool->worker_count) return WEFT_INVALID_ARGUMENT;
    if (weft__pool_is_forked(pool)) return WEFT_FORKED;
    if (!pool->is_host_driven) return WEFT_WRONG_PHASE;
    uint32_t state = WEFT__LEASE_RUNS;
    bool is_recalled =
        at_cas_ar(&pool->workers[index].x_lease, &state, WEFT__LEASE_RECALLED); /* P8 */
    if (!is_recalled && state == WEFT__LEASE_NONE) return WEFT_NOT_FOUND;
    weft__wake_all(&pool->wake);
    return WEFT_OK;
}

void weft_job_pool_wake(weft_job_pool *pool)
{
    if (pool != NULL && !weft__pool_is_forked(pool)) weft__wake_all(&pool->wake);
}
