/* SPDX-License-Identifier: MIT */
/* wait.c: waiting for handles and collecting their results.
 *
 * Only the owner waits for handles, and only outside of jobs: there it can run anything, so a wait
 * cannot deadlock. The waiter puts an edge of its own into the job's list; the worker that ends the
 * job sets x_is_over of the waiter and wakes it (edge P2 of pool_state.h). */
#include "pool_check.h"
#include "worker.h"
#include "worker_job.h"

static bool is_wait_over(void *argument)
{
    weft_job_context *worker = argument;
    /* sc for the StoreLoad with the own sleeper bit, as W1 has it; the plans of the explorer do not
     * reach deep enough into a whole pool to show that an acquire loses a wake-up */
    return at_load_sc(&worker->x_is_over) != 0; /* P2 */
}

/* Runs work until the job has ended. */
static void wait_handle(weft_job_context *owner, weft_job_handle handle, weft__scope scope)
{
    weft_job_pool *pool = owner->pool;
    bool is_done;
    while (!(is_done = weft__job_is_done(&pool->table, handle)))
        if (!weft__worker_run_one(owner, scope)) break;
    if (is_done && owner->next_job == WEFT__JOB_NONE) return;
    uint32_t edge = owner->head.index;
    pool->table.edges[edge].successor = WEFT__JOB_EDGE_WAITER | owner->head.index;
    at_store_rlx(&owner->x_is_over, 0u); /* relaxed: published with the edge (J3) */
    if (weft__job_attach(&pool->table, handle, edge) != WEFT__ATTACHED)
        at_store_rlx(&owner->x_is_over, 1u); /* relaxed: own word, no other thread has the edge */
    weft__worker_serve(owner, scope, is_wait_over, owner);
}

static weft_result collect(weft_job_context *owner, weft_job_handle handle, int *code)
{
    bool is_recyclable;
    weft_job_pool *pool = owner->pool;
    weft_result result = weft__job_collect(&pool->table, handle, code, &is_recyclable);
    if (!is_recyclable) return result;
    at_sub_ar(&pool->x_kept, 1u); /* P3: any order, a count */
    weft__slots_give(&pool->table.slots, &owner->caches.jobs, handle.index);
    return result;
}

/* Children of the owner outside of jobs must not lie under foreign work on its stack (child.h). */
static void join_own_children(weft_job_context *owner)
{
    if (owner->children.bottom == owner->frame_base) return;
    int code = weft_job_children_wait(owner);
    owner->error = (weft__first_error){.code = code}; /* for the owner's own children_wait */
}

/* Every wait but the shortest, and every error. */
static __attribute__((noinline)) weft_result wait_any(weft_job_context *owner,
                                                      weft_job_handle handle, int *code)
{
    weft_result result = weft__pool_check_owner(owner);
    if (result != WEFT_OK) return result;
    weft__job_table *table = &owner->pool->table;
    if (!weft__job_is_valid(table, handle)) return WEFT_BAD_HANDLE;
    if (!weft__job_is_done(table, handle) || owner->next_job != WEFT__JOB_NONE) {
        join_own_children(owner);
        weft__note(owner, WEFT_JOB_EVENT_WAIT_BEGIN, NULL, handle.index);
        at_store_rlx(&owner->pool->x_is_awaited, 1u); /* relaxed: a hint */
        wait_handle(owner, handle, WEFT__SCOPE_WAIT);
        at_store_rlx(&owner->pool->x_is_awaited, 0u); /* relaxed: a hint */
        weft__note(owner, WEFT_JOB_EVENT_WAIT_END, NULL, handle.index);
    }
    return collect(owner, handle, code);
}

/* ---- the short way: the job lies on top of the owner's own deque ---- */

/* True when the job was there, ran and left nothing to collect. */
static inline bool run_youngest(weft_job_context *worker, weft_job_handle handle)
{
    weft__deque *deque = &worker->deques[WEFT_JOB_NORMAL];
    if (__builtin_expect(!weft__deque_is_youngest_owner(deque, handle.index), 0)) return false;
    weft__job *job = &worker->jobs[handle.index];
    uint64_t list = at_load_acq(&job->x_list); /* J2: any order, only the generation counts here */
    if (__builtin_expect((uint32_t)(list >> 32) != handle.generation, 0)) return false;
    if (!weft__deque_pop_youngest_owner(deque)) return false;
    return weft__worker_run_on_frame(worker, job, handle.index, true);
}

static inline bool is_idle_owner(const weft_job_context *owner)
{
    if (__builtin_expect(owner == NULL, 0)) return false;
    /* first: the other fields are for the owner's thread only */
    if (__builtin_expect(owner->head.thread != weft__thread_self(), 0)) return false;
    /* one branch for what all must be zero */
    uint64_t to_join = owner->children.bottom - owner->frame_base;
    uint32_t busy = owner->depth | ~owner->next_job | (uint32_t)owner->error.code;
    return (to_join | busy) == 0 && !weft__worker_is_forked(owner);
}

weft_result weft_job_wait(weft_job_context *owner, weft_job_handle handle, int *code)
{
    if (__builtin_expect(is_idle_owner(owner), 1) && run_youngest(owner, handle)) return WEFT_OK;
    return wait_any(owner, handle, code);
}

/* ---- all, drained ---- */

/* One call of weft_job_wait_all. Owner: that call, on its stack. */
typedef struct drain {
    weft_job_context *owner;
    uint64_t ended; /* of the owner's counts, when they were looked at last */
} drain;

/* While the owner finds jobs there is no need to read the counts of the others, which they write.
 */
static bool is_drained(void *argument)
{
    drain *self = argument;
    weft_job_pool *pool = self->owner->pool;
    const weft__worker_stats *own = &self->owner->stats;
    /* relaxed: its own */
    uint64_t ended = at_load_rlx(&own->x_completed) + at_load_rlx(&own->x_plain_completed);
    if (ended != self->ended) {
        self->ended = ended;
        return false;
    }
    return weft__pool_is_quiescent(pool); /* P10 */
}

static void run_all(weft_job_context *owner)
{
    weft_job_pool *pool = owner->pool;
    drain self = {.owner = owner};
    /* any order would do: the or of its bit, before the last look, makes it visible */
    at_store_rel(&pool->x_draining, 1u); /* P10 */
    while (!weft__pool_is_quiescent(pool)) {
        while (weft__worker_run_one(owner, WEFT__SCOPE_DRAIN)) weft__worker_run_own(owner);
        weft__worker_serve(owner, WEFT__SCOPE_DRAIN, is_drained, &self);
    }
    /* any order would do: a worker that sees it late wakes an owner that does not sleep */
    at_store_rel(&pool->x_draining, 0u); /* P10 */
}

weft_result weft_job_wait_all(weft_job_context *owner, int *code)
{
    weft_result result = weft__pool_check_owner(owner);
    if (result != WEFT_OK) return result;
    weft_job_pool *pool = owner->pool;
    join_own_children(owner);
    if (!weft__pool_is_quiescent(pool)) run_all(owner);
    /* any order would do: the counts (P3) made it visible, and it is all there is to read */
    uint64_t error = at_xchg_ar(&pool->x_first_error, (uint64_t)0); /* J2 */
    if (error != 0) {
        result = WEFT_JOB_FAILED;
        if (code != NULL) *code = (int)(uint32_t)error;
    }
    /* any order would do: the counts (P3) made it visible, too */
    if (at_load_acq(&pool->x_kept) == 0) return result; /* P3 */
    for (uint32_t slot = 0; slot < weft__pool_slot_mark(pool); slot++) {
        int own = 0;
        weft_result kept = collect(owner, weft__pool_handle_of(pool, slot), &own);
        if (result != WEFT_OK || kept == WEFT_OK) continue;
        result = kept;
        if (code != NULL) *code = own;
    }
    return result;
}

bool weft_job_is_done(const weft_job_pool *pool, weft_job_handle handle)
{
    if (pool == NULL || !weft__job_is_valid(&pool->table, handle)) return false;
    return weft__job_is_done(&pool->table, handle);
}

weft_result weft_job_result(weft_job_pool *pool, weft_job_handle handle, int *code)
{
    if (pool == NULL) return WEFT_INVALID_ARGUMENT;
    if (!weft__job_is_valid(&pool->table, handle)) return WEFT_BAD_HANDLE;
    if (!weft__job_is_done(&pool->table, handle)) return WEFT_BUSY;
    bool is_recyclable;
    weft_result result = weft__job_collect(&pool->table, handle, code, &is_recyclable);
    if (!is_recyclable) return result;
    at_sub_ar(&pool->x_kept, 1u); /* P3: any order, a count */
    weft__slots_give_any(&pool->table.slots, handle.index);
    return result;
}
