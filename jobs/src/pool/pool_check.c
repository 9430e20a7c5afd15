/* SPDX-License-Identifier: MIT */
/* pool_check.c: who may call what, and whether anything is pending (pool_check.h).
 *
 * Pending is decided by two sums of counters that only grow (P3 of pool_state.h), without a lock
 * and without stopping a worker. */
#include "pool_check.h"
#include "text.h"

weft_result weft__pool_check_owner(const weft_job_context *context)
{
    if (context == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__pool_is_forked(context->pool)) return WEFT_FORKED;
    bool is_owners = context->head.index == 0 && context->guest == 0;
    /* first: the other fields are for the owner's thread only */
    if (is_owners && context->head.thread != weft__thread_self()) return WEFT_WRONG_THREAD;
    if (context->depth != 0) return WEFT_WOULD_NEST;
    return is_owners ? WEFT_OK : WEFT_WRONG_THREAD;
}

bool weft__pool_is_in_job(const weft_job_pool *pool)
{
    uintptr_t self = weft__thread_self();
    if (weft__pool_is_forked(pool)) return false; /* no job goes on in the child */
    if (pool->workers[0].head.thread == self) return pool->workers[0].depth != 0;
    for (uint32_t i = 1; i < pool->worker_count; i++) /* relaxed: only its own value counts */
        if (at_load_rlx(&pool->workers[i].x_thread) == self) return true;
    return false;
}

/* Plain jobs have no slot that shows them: they are pending until they are counted. */
static uint64_t completed_plain(const weft_job_pool *pool)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < pool->worker_count; i++)
        count += at_load_acq(&pool->workers[i].stats.x_plain_completed); /* P3 */
    return count;
}

static uint64_t submitted_plain(const weft_job_pool *pool)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < pool->worker_count; i++)
        count += at_load_acq(&pool->workers[i].stats.x_plain_submitted); /* P3 */
    return count;
}

bool weft__pool_is_quiescent(weft_job_pool *pool)
{
    uint64_t completed = completed_plain(pool), submitted = 0;
    for (uint32_t i = 0; i < pool->worker_count; i++)
        completed += at_load_acq(&pool->workers[i].stats.x_completed); /* P3 */
    for (uint32_t i = 0; i < pool->worker_count; i++)
        submitted += at_load_acq(&pool->workers[i].stats.x_submitted); /* P3 */
    /* any order would do for the submitted counts: the acquires above made visible what was
     * submitted before the jobs they count ended, and later ones have not ended */
    submitted += submitted_plain(pool);
    return completed == submitted + at_load_sc(&pool->x_foreign_submitted); /* P3 */
}

uint32_t weft__pool_slot_mark(weft_job_pool *pool)
{
    return at_load_acq(&pool->table.slots.x_mark); /* S2: any order, old means one more round */
}

weft_job_handle weft__pool_handle_of(weft_job_pool *pool, uint32_t slot)
{
    /* any order would do: an old word names a job that has ended */
    uint64_t list = at_load_acq(&pool->table.jobs[slot].x_list); /* J2 */
    return (weft_job_handle){slot, (uint32_t)(list >> 32)};
}

bool weft__pool_has_pending(weft_job_pool *pool)
{
    while (!weft__pool_is_quiescent(pool)) {
        for (uint32_t slot = 0; slot < weft__pool_slot_mark(pool); slot++)
            if (!weft__job_is_done(&pool->table, weft__pool_handle_of(pool, slot))) return true;
        uint64_t completed =
            completed_plain(pool); /* after the slots: what they submitted is seen */
        if (completed != submitted_plain(pool)) return true;
        /* all have ended: the worker of the last one has yet to count it, or one has come since */
        at_stall();
    }
    return false;
}

/* What the destruction of the pool waits for. */
static weft_result find_user(weft_job_pool *pool)
{
    char names[300];
    uint32_t count = weft__users_describe(&pool->users, names, sizeof names);
    if (count != 0)
        return weft__error_fill(
            &pool->error, WEFT_BUSY,
            "weft_job_pool_destroy: %u world%s on this pool: destroy %s first: %s", count,
            count == 1 ? " lives" : "s live", count == 1 ? "it" : "them", names);
    if (weft__guests_are_inside(pool))
        return weft__error_fill(&pool->error, WEFT_BUSY,
                                "weft_job_pool_destroy: a thread that entered the pool is still "
                                "inside: let it call weft_job_pool_leave first");
    if (weft__pool_has_pending(pool))
        return weft__error_fill(
            &pool->error, WEFT_BUSY,
            "weft_job_pool_destroy: jobs are pending: call weft_job_wait_all first");
    return WEFT_OK;
}

weft_result weft__pool_check_end(weft_job_pool *pool)
{
    weft_job_context *owner = &pool->workers[0];
    if (weft__pool_is_forked(pool)) return WEFT_OK;
    if (weft__pool_is_in_job(pool)) return WEFT_WRONG_PHASE; /* on any thread: no text */
    weft_result result = weft__pool_check_owner(owner);
    if (result != WEFT_OK) return result;
    weft_job_children_wait(owner);
    return find_user(pool);
}
