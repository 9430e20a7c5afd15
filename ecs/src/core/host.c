/* SPDX-License-Identifier: MIT */
/* host.c: what of host.h is out of line: threads that are not the owner of the world's pool, which
 * enter it as guests, calls inside others, forked processes, and two threads in one world. Checked
 * builds come here always. Protocol: host.h. */
#include "host.h"
#include "world_state.h"

static bool come_in(weft_world *world, uint64_t self)
{
    uint64_t none = 0;
    /* the next thread of the world comes after a hand-over that the caller synchronises; checked
     * builds decide with one CAS */
    if (WEFT_IS_CHECKED) return at_cas_ar(&world->front.host.x_thread, &none, self); /* K1 */
    if (at_load_rlx(&world->front.host.x_thread) != 0) return false; /* relaxed: as above */
    at_store_rlx(&world->front.host.x_thread, self);                 /* relaxed: as above */
    return true;
}

/* Another thread is in the world. A job of its pool is a system of it, which gets a text. */
static weft_result refuse(const weft_world *world, const char *what)
{
    bool is_system = weft__pool_is_in_job(world->front.host.pool) && world->front.busy != 0;
    return is_system ? weft__error_busy(world, what) : WEFT_BUSY;
}

weft_result weft__host_begin_any(weft_world *world, const char *what)
{
    uint64_t self = weft__thread_self();
    if (at_load_rlx(&world->front.host.x_thread) == self) { /* relaxed: only its own value counts */
        world->front.host.depth++;
        return WEFT_OK;
    }
    if (!come_in(world, self)) return refuse(world, what);
    weft_job_context *owner = world->front.host.owner;
    if (__builtin_expect(weft__context_is_owners(owner, self), 1)) {
        world->front.host.context = owner;
        return WEFT_OK;
    }
    weft_result result = weft_job_pool_enter(world->front.host.pool, &world->front.host.context);
    if (result == WEFT_FORKED) { /* no other thread exists, and the calls say so */
        world->front.host.context = owner;
        result = WEFT_OK;
    }
    if (result == WEFT_OK) return WEFT_OK;
    weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "%s: the thread cannot enter the job pool of '%s': %s", what, world->desc.name,
                result == WEFT_LIMIT ? "256 threads are inside: let fewer run at once"
                                     : "no memory for its context");
    at_store_rel(&world->front.host.x_thread, (uint64_t)0); /* K1 */
    return result;
}

void weft__host_end_any(weft_world *world)
{
    if (world->front.host.depth != 0) {
        world->front.host.depth--;
        return;
    }
    weft_job_context *host = world->front.host.context;
    world->front.host.context = NULL;
    at_store_rel(&world->front.host.x_thread, (uint64_t)0); /* K1 */
    weft_job_pool_leave(host);                              /* nothing for the owner */
}

bool weft__host_for(weft_world *world, weft_job_context *job, const weft_job_for_desc *loop)
{
    if (loop->count == 0) return true;
    if (job == NULL || loop->count == 1) return loop->fn(NULL, loop->argument, 0, loop->count) == 0;
    weft__callback_begin(world); /* hooks run on any worker */
    weft_result result = weft_job_for(job, loop, NULL);
    weft__callback_end(world);
    if (result == WEFT_OK || result == WEFT_JOB_FAILED) return result == WEFT_OK;
    return loop->fn(NULL, loop->argument, 0, loop->count) == 0; /* refused: nothing ran yet */
}
