/* wait.c: waiting for handles, collecting results, cancelling; who may wait where.
 *
 * Only the owner waits for handles, and only outside of jobs: there it can run anything, so a wait
 * cannot deadlock. The waiter puts an edge of its own into the job's list; whoever ends the job
 * sets x_is_over of the waiter and wakes it (edge P2 of pool.h). */
#include "pool.h"

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
        at_store_rlx(&owner->x_is_over, 1u); /* relaxed: own word, nobody else has the edge */
    weft__worker_serve(owner, scope, is_wait_over, owner);
}

static weft_result collect(weft_job_context *owner, weft_job_handle handle, int *code)
{
    bool is_recyclable;
    weft_job_pool *pool = owner->pool;
    weft_result result = weft__job_collect(&pool->table, handle, code, &is_recyclable);
    if (is_recyclable) weft__slots_give(&pool->table.slots, &owner->caches.jobs, handle.index);
    return result;
}

/* Children of the owner outside of jobs must not lie under foreign work on its stack (child.h). */
static void join_own_children(weft_job_context *owner)
{
    if (owner->children.bottom == owner->frame_base) return;
    int code = weft_job_children_wait(owner);
    owner->error = (weft__first_error){.code = code}; /* for the owner's own children_wait */
}

weft_result weft__wait_any(weft_job_context *owner, weft_job_handle handle, int *code)
{
    weft_result result = weft__pool_check_owner(owner);
    if (result != WEFT_OK) return result;
    weft__job_table *table = &owner->pool->table;
    if (!weft__job_is_valid(table, handle)) return WEFT_BAD_HANDLE;
    if (weft__job_is_held(table, handle)) return WEFT_WRONG_PHASE;
    if (!weft__job_is_done(table, handle) || owner->next_job != WEFT__JOB_NONE) {
        join_own_children(owner);
        weft__note(owner, WEFT_JOB_EVENT_WAIT_BEGIN, NULL, handle.index);
        wait_handle(owner, handle, WEFT__SCOPE_WAIT);
        weft__note(owner, WEFT_JOB_EVENT_WAIT_END, NULL, handle.index);
    }
    return collect(owner, handle, code);
}

bool weft__pool_is_quiescent(weft_job_pool *pool)
{
    uint64_t completed = 0, submitted = 0;
    for (uint32_t i = 0; i < pool->worker_count; i++)
        completed += at_load_acq(&pool->workers[i].stats.x_completed); /* P3 */
    for (uint32_t i = 0; i < pool->worker_count; i++)
        submitted += at_load_acq(&pool->workers[i].stats.x_submitted); /* P3 */
    /* any order would do for the submitted counts: the acquires above made visible what was
     * submitted before the jobs they count ended, and later ones have not ended */
    return completed == submitted + at_load_sc(&pool->x_foreign_submitted); /* P3 */
}

/* Slots that were ever used. */
static uint32_t slot_mark(weft_job_pool *pool)
{
    return at_load_acq(&pool->table.slots.x_mark); /* S2: any order, old means one more round */
}

static weft_job_handle handle_of_slot(weft_job_pool *pool, uint32_t slot)
{
    /* any order would do: an old word names a job that has ended */
    uint64_t list = at_load_acq(&pool->table.jobs[slot].x_list); /* J2 */
    return (weft_job_handle){slot, (uint32_t)(list >> 32)};
}

bool weft__pool_has_pending(weft_job_pool *pool)
{
    if (weft__pool_is_quiescent(pool)) return false;
    for (uint32_t slot = 0; slot < slot_mark(pool); slot++)
        if (!weft__job_is_done(&pool->table, handle_of_slot(pool, slot))) return true;
    /* every job has ended: a worker that ended the last one has yet to count it */
    while (!weft__pool_is_quiescent(pool)) at_stall();
    return false;
}

static void drain(weft_job_context *owner)
{
    weft_job_pool *pool = owner->pool;
    for (uint32_t slot = 0; slot < slot_mark(pool); slot++) {
        weft_job_handle handle = handle_of_slot(pool, slot);
        if (weft__job_is_done(&pool->table, handle)) continue;
        if (weft__job_is_held(&pool->table, handle)) {
            weft__job_flag(&pool->table, handle, WEFT__JOB_CANCELLED);
            weft_job_release(owner, handle);
        }
    }
    for (uint32_t slot = 0; slot < slot_mark(pool); slot++) {
        weft_job_handle handle = handle_of_slot(pool, slot);
        if (!weft__job_is_done(&pool->table, handle)) wait_handle(owner, handle, WEFT__SCOPE_DRAIN);
    }
}

weft_result weft_job_wait_all(weft_job_context *owner, int *code)
{
    weft_result result = weft__pool_check_owner(owner);
    if (result != WEFT_OK) return result;
    weft_job_pool *pool = owner->pool;
    join_own_children(owner);
    while (!weft__pool_is_quiescent(pool)) {
        drain(owner);
        at_stall();
    }
    /* any order would do: the counts (P3) made it visible, and it is all there is to read */
    uint64_t error = at_xchg_ar(&pool->x_first_error, (uint64_t)0); /* J2 */
    if (error != 0) {
        result = WEFT_JOB_FAILED;
        if (code != NULL) *code = (int)(uint32_t)error;
    }
    for (uint32_t slot = 0; slot < slot_mark(pool); slot++) {
        int own = 0;
        weft_result kept = collect(owner, handle_of_slot(pool, slot), &own);
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
    if (is_recyclable) weft__slots_give_any(&pool->table.slots, handle.index);
    return result;
}

weft_result weft_job_cancel(weft_job_pool *pool, weft_job_handle handle)
{
    if (pool == NULL) return WEFT_INVALID_ARGUMENT;
    if (!weft__job_is_valid(&pool->table, handle)) return WEFT_BAD_HANDLE;
    weft__job_flag(&pool->table, handle, WEFT__JOB_CANCELLED);
    return WEFT_OK;
}

bool weft_job_is_cancelled(const weft_job_context *job)
{
    if (job == NULL || job->job >= WEFT__JOB_HOSTED) return false; /* no job */
    const weft__job *slot = &job->pool->table.jobs[job->job];
    return (weft__job_flags(slot) & WEFT__JOB_CANCELLED) != 0 &&
           (slot->traits & WEFT__JOB_RUN_ON_ERROR) == 0;
}
