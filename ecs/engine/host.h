/* SPDX-License-Identifier: MIT */
/* host.h: the thread that runs loops for a world, as its pool sees it: the owner of the pool, or a
 * guest for as long as a step or a loop over a query lasts (guest.h). Any thread may step a world
 * of its own; two threads in one world are a mistake that is refused where it is seen: always in
 * checked builds, in others unless both come in the same moment. So a call comes in before it looks
 * at the world, and leaves behind its last look. The way of the pool's owner is inline: with calls
 * `frame.one` takes 64.5 ns instead of 61.5.
 *
 * Edges:
 *   K1  host_end: release of x_host_thread 0 -> checked builds, the next to come in: CAS of it */
#pragma once

#include "world_front.h"

/* As weft__host_begin, for all threads and for calls inside others. */
weft_result weft__host_begin_any(weft_world *world, const char *what);
void weft__host_end_any(weft_world *world);

/* Gives the calling thread a context on the world's pool, world->front.host.context, until
 * weft__host_end: for what runs loops. Calls nest. Errors: BUSY (another thread is inside; no
 * text: the error record is that thread's), WRONG_PHASE (a system of the world called), LIMIT,
 * OUT_OF_MEMORY. */
static inline weft_result weft__host_begin(weft_world *world, const char *what)
{
    weft__host *host = &weft__front(world)->host;
    weft_job_context *owner = host->owner;
    uint64_t self = weft__thread_self();
    /* relaxed: the next thread of the world comes after a hand-over that the caller synchronises */
    bool is_first = weft__context_is_owners(owner, self) && at_load_rlx(&host->x_thread) == 0;
    if (WEFT_IS_CHECKED || !is_first) return weft__host_begin_any(world, what);
    at_store_rlx(&host->x_thread, self); /* relaxed: as above */
    host->context = owner;
    return WEFT_OK;
}

static inline void weft__host_end(weft_world *world)
{
    weft__host *host = &weft__front(world)->host;
    if (host->depth != 0 || host->context != host->owner) {
        weft__host_end_any(world);
        return;
    }
    host->context = NULL;
    at_store_rel(&host->x_thread, (uint64_t)0); /* K1 */
}

/* Runs a loop on the pool of `job`, with the callbacks of the world closed; serial without one, or
 * where the pool refuses it. False: a part of it returned what is not 0. Owner. */
bool weft__host_for(weft_world *world, weft_job_context *job, const weft_job_for_desc *loop);

/* The context of a worker of the world: place 0 is the host's. Between the two calls above. */
static inline weft_job_context *weft__host_worker(const weft_world *world, uint32_t worker)
{
    const weft__host *host = &weft__front(world)->host;
    return worker == 0 ? host->context : weft__pool_worker(host->pool, worker);
}
