/* SPDX-License-Identifier: MIT */
/* split.c: what loops and graphs have in common (split.h).
 *
 * Sharing pays when the predicted time is above what waking workers costs: less when one is awake
 * and searches, and a row of loops that would be shared then wakes one. The predictions and the
 * back-off after a bad split are in cost.h. */
#include "split.h"
#include "label.h"
#include "park.h"

bool weft__worker_pays_off(weft_job_context *worker, weft__cost_state *cost, uint64_t predicted)
{
    weft_job_pool *pool = worker->pool;
    const weft__cost_limits *limits = &pool->limits;
    bool is_short = weft__cost_is_short(predicted, limits);
    bool needs_now = is_short || weft__cost_failures(cost) != 0;
    uint64_t now = needs_now ? weft__ticks_now(&pool->ticks) : 0;
    if (!weft__cost_pays(cost, predicted, limits->awake_ticks, now)) return false;
    uint64_t spin = at_load_rlx(&pool->x_spin_ticks); /* relaxed: a hint */
    if (is_short && weft__cost_is_checked(now, spin)) return false;
    if (!weft__worker_is_alone(worker, predicted)) return true;
    return weft__cost_burst_wakes(&worker->burst, predicted, now, spin, limits->asleep_ticks);
}

bool weft__worker_is_alone(const weft_job_context *worker, uint64_t predicted)
{
    weft_job_pool *pool = worker->pool;
    /* relaxed: a guess about the next moment */
    return predicted != 0 && predicted < pool->limits.asleep_ticks &&
           at_load_rlx(&pool->wake.x_searching) == 0;
}

void weft__worker_fill_opener(const weft_job_context *worker, weft__loop *loop)
{
    loop->opener = worker->head.index;
    loop->token = worker->token;
    loop->job = worker->job;
    loop->is_hosted = worker->job == WEFT__JOB_HOSTED;
    loop->is_served = false;
    loop->label = weft__label_of(worker);
}

void weft__worker_report(weft_job_context *worker, weft__loop *loop, uint32_t count, uint64_t begun)
{
    weft_job_pool *pool = worker->pool;
    if (count == 0) return;
    uint64_t busy = weft__ticks_now(&pool->ticks) - begun;
    at_add_rlx(&loop->x_busy, busy); /* relaxed: read after L4 */
    bool is_served = loop->is_served;
    weft__wake_token *token = loop->token;
    if (!weft__loop_finish(loop, count)) return;
    if (is_served && !weft__wake_one(&pool->wake, 0)) return; /* G6 */
    if (!is_served) weft__wake_token_set(&pool->wake, token);
    weft__worker_count_wake(worker, is_served ? 0 : loop->opener);
}
