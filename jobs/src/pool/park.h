/* SPDX-License-Identifier: MIT */
/* park.h: how a worker spins, sleeps for one awaited event, and wakes others. Looking for work
 * before sleeping is in worker.h, the protocol of sleeping in wake.h. */
#pragma once

#include "pool_state.h"

/* A wait that spins. Owner: the wait, on its stack; starts as zero. Invariant: begun <= last. */
typedef struct weft__spin {
    uint64_t begun;
    uint64_t last;
} weft__spin;
/* One turn of spinning (about 100 ns); false when the spin budget is used up. */
bool weft__worker_spin(weft_job_context *worker, weft__spin *spin);
/* Counts and reports that the worker is about to sleep. */
void weft__worker_note_park(weft_job_context *worker);
/* Sleeps until the worker's token is set: for one awaited event, at any depth. */
void weft__worker_await_token(weft_job_context *worker);
/* Wakes up to two of the sleepers that the frame wants. */
void weft__worker_pass_on(weft_job_context *worker);
/* A wake-up was sent to `sleeper`; UINT32_MAX: to any that slept. */
void weft__worker_count_wake(weft_job_context *worker, uint32_t sleeper);
/* weft__worker_notify when a worker sleeps: apart, so that its callers need no frame. */
void weft__worker_notify_slow(weft_job_context *worker);
/* After publishing work: wakes a sleeper unless a worker searches. */
static inline void weft__worker_notify(weft_job_context *worker)
{
    if (__builtin_expect(weft__wake_is_awake(&worker->pool->wake), 1)) return;
    weft__worker_notify_slow(worker);
}
