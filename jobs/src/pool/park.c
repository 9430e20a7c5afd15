/* SPDX-License-Identifier: MIT */
/* park.c: spinning, sleeping and waking of workers (park.h). A spin has a budget of ticks, measured
 * when the pool was created, and a longer one inside frames; a wake-up is counted and reported by
 * the worker that sends it. The edges are those of wake.h, and P5 of pool_state.h. */
#include "park.h"

#ifndef WEFT__SPIN_PAUSES
#define WEFT__SPIN_PAUSES 4u /* models use 1 */
#endif

bool weft__worker_spin(weft_job_context *worker, weft__spin *spin)
{
    weft_job_pool *pool = worker->pool;
    if (pool->worker_count == 1) return false;
    for (uint32_t i = 0; i < WEFT__SPIN_PAUSES; i++) at_stall();
    uint64_t now = weft__ticks_now(&pool->ticks);
    if (spin->begun == 0) spin->begun = spin->last = now;
    weft__stat_add(&worker->stats.x_spin_ticks, now - spin->last);
    spin->last = now;
    /* relaxed: hints */
    bool is_in_frame = at_load_rlx(&pool->x_in_frame) != 0;
    weft_a64 *budget = is_in_frame ? &pool->x_frame_spin_ticks : &pool->x_spin_ticks;
    return now - spin->begun < at_load_rlx(budget); /* relaxed: as above */
}

void weft__worker_count_wake(weft_job_context *worker, uint32_t sleeper)
{
    weft__stat_add(&worker->stats.x_wakes, 1);
    weft__note(worker, WEFT_JOB_EVENT_WAKE, NULL, sleeper);
}

void weft__worker_notify_slow(weft_job_context *worker)
{
    bool for_host = worker->job == WEFT__JOB_HOSTED;
    if (weft__wake_notify_slow(&worker->pool->wake, worker->head.index + 1, for_host))
        weft__worker_count_wake(worker, UINT32_MAX);
}

void weft__worker_note_park(weft_job_context *worker)
{
    weft__stat_add(&worker->stats.x_parked, 1);
    weft__note(worker, WEFT_JOB_EVENT_PARK, NULL, 0);
}

void weft__worker_await_token(weft_job_context *worker)
{
    weft__worker_note_park(worker);
    weft__wake_token_wait(&worker->pool->wake, worker->token);
    weft__note(worker, WEFT_JOB_EVENT_UNPARK, NULL, 0);
}

void weft__worker_pass_on(weft_job_context *worker)
{
    weft_job_pool *pool = worker->pool;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t left = at_load_rlx(&pool->x_to_wake); /* relaxed: a hint; the CAS decides */
        /* any order would do: a count */
        while (left != 0 && !at_cas_ar(&pool->x_to_wake, &left, left - 1)) at_stall(); /* P5 */
        if (left == 0 || !weft__wake_next(&pool->wake, worker->head.index + 1, false)) return;
        weft__worker_count_wake(worker, UINT32_MAX);
    }
}
