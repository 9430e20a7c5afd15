/* SPDX-License-Identifier: MIT */
/* worker_job.c: submitted jobs on workers: where ready jobs go, running and ending them. The
 * protocol of slots, handles and dependencies is in job.h, submission in submit.c. */
#include "worker_job.h"
#include "park.h"
#include "worker_child.h"

uint32_t weft__job_take_slot(weft__submitter by)
{
    weft__slots *slots = &by.pool->table.slots;
    return by.worker != NULL ? weft__slots_take(slots, &by.worker->caches.jobs)
                             : weft__slots_take_any(slots);
}

static void give_slot(weft__submitter by, uint32_t slot)
{
    weft__slots *slots = &by.pool->table.slots;
    if (by.worker != NULL)
        weft__slots_give(slots, &by.worker->caches.jobs, slot);
    else
        weft__slots_give_any(slots, slot);
}

void weft__job_give_edge(weft__submitter by, uint32_t edge)
{
    weft__slots *slots = &by.pool->table.edge_slots;
    uint32_t number = edge - by.pool->table.worker_count;
    if (by.worker != NULL)
        weft__slots_give(slots, &by.worker->caches.edges, number);
    else
        weft__slots_give_any(slots, number);
}

/* Takes `count` edges linked by next; EMPTY when there are not enough (none is taken then). */
uint32_t weft__job_take_edges(weft__submitter by, uint32_t count, bool *is_full)
{
    weft__job_edge *edges = by.pool->table.edges;
    uint32_t list = WEFT__JOB_LIST_EMPTY;
    *is_full = false;
    for (uint32_t i = 0; i < count; i++) {
        weft__slots *slots = &by.pool->table.edge_slots;
        uint32_t number = by.worker != NULL ? weft__slots_take(slots, &by.worker->caches.edges)
                                            : weft__slots_take_any(slots);
        uint32_t edge =
            number == WEFT__SLOTS_NONE ? WEFT__SLOTS_NONE : number + by.pool->table.worker_count;
        if (edge == WEFT__SLOTS_NONE) {
            *is_full = true;
            break;
        }
        edges[edge].next = list;
        list = edge;
    }
    while (*is_full && list != WEFT__JOB_LIST_EMPTY) {
        uint32_t next = edges[list].next;
        weft__job_give_edge(by, list);
        list = next;
    }
    return list;
}

/* ---- where ready jobs go */

static void inject(weft_job_pool *pool, uint32_t slot)
{
    weft__job *job = &pool->table.jobs[slot];
    weft_a32 *head = &pool->x_injected[weft__job_class(job)];
    uint32_t old = at_load_acq(head); /* P1: any order, the CAS decides */
    for (;;) {
        at_store_rlx(&job->x_next, old);        /* relaxed: published by P1 */
        if (at_cas_sc(head, &old, slot)) break; /* P1 */
        at_stall();
    }
}

void weft__worker_push_job(weft_job_context *worker, uint32_t slot)
{
    weft_job_class class_ = weft__job_class(&worker->jobs[slot]);
    weft__deque_item item = weft__deque_item_of_slot(slot);
    bool has_room = weft__deque_push_owner(&worker->deques[class_], item);
    WEFT_ASSERT(has_room); /* plain_limit leaves a place for each slot */
    (void)has_room;
}

bool weft__worker_take_injected(weft_job_context *worker, weft_job_class class_)
{
    weft_job_pool *pool = worker->pool;
    weft_a32 *head = &pool->x_injected[class_];
    if (at_load_rlx(head) == WEFT__JOB_NONE) return false; /* relaxed: a hint */
    /* taking needs the acquire only: who sleeps has looked with an sc load */
    uint32_t slot = at_xchg_sc(head, WEFT__JOB_NONE); /* P1 */
    uint32_t count = 0;
    while (slot != WEFT__JOB_NONE) { /* youngest first: popped from the deque oldest first */
        uint32_t next = at_load_rlx(&pool->table.jobs[slot].x_next); /* relaxed: P1 */
        weft__worker_push_job(worker, slot);
        slot = next;
        count++;
    }
    /* on the way from the list to the deque jobs were nowhere: who looked then may sleep (W1) */
    if (count > 1) weft__worker_notify(worker);
    return count != 0;
}

/* A job whose last predecessor ended here runs next in place, if it may; others are offered. */
void weft__job_offer(weft__submitter by, uint32_t slot)
{
    weft_job_context *worker = by.worker;
    if (worker == NULL) {
        inject(by.pool, slot);
        weft__wake_notify(&by.pool->wake, 0);
        return;
    }
    bool is_background = weft__job_class(&by.pool->table.jobs[slot]) == WEFT_JOB_BACKGROUND;
    if (worker->is_ending && worker->next_job == WEFT__JOB_NONE && !is_background) {
        worker->next_job = slot;
        return;
    }
    weft__worker_push_job(worker, slot);
    weft__worker_notify(worker);
}

/* ---- ending */

static void keep_first_error(weft_job_pool *pool, int code)
{
    uint64_t none = 0;
    at_cas_ar(&pool->x_first_error, &none, UINT64_C(1) << 63 | (uint32_t)code); /* J2 */
}

/* Tells those who wait for an ended job. */
static void release_edges(weft_job_context *worker, uint32_t edge, bool is_failed)
{
    weft_job_pool *pool = worker->pool;
    weft__submitter by = {pool, worker};
    while (edge != WEFT__JOB_LIST_EMPTY) {
        uint32_t next = pool->table.edges[edge].next;
        uint32_t successor = pool->table.edges[edge].successor;
        if ((successor & WEFT__JOB_EDGE_WAITER) != 0) {
            uint32_t waiter = successor & ~WEFT__JOB_EDGE_WAITER;
            at_store_sc(&pool->workers[waiter].x_is_over,
                        1u); /* P2: the edge is the waiter's again */
            if (weft__wake_one(&pool->wake, waiter)) weft__worker_count_wake(worker, waiter);
        } else {
            weft__job_give_edge(by, edge);
            weft__job *job = &pool->table.jobs[successor];
            if (is_failed) weft__job_mark(job, WEFT__JOB_CANCELLED);
            if (weft__job_remove_pending(job)) weft__job_offer(by, successor);
        }
        edge = next;
    }
}

/* The rare half of ending a job: something waits for it, or it failed. False.  */
bool weft__worker_end_noticed(weft_job_context *worker, uint32_t slot, uint32_t edge,
                              uint32_t flags)
{
    weft__job_table *table = &worker->pool->table;
    if (edge != WEFT__JOB_LIST_EMPTY) edge = weft__job_order_edges(table, edge);
    worker->is_ending = worker->depth == 0;
    release_edges(worker, edge, flags != 0);
    worker->is_ending = false;
    /* From here the slot belongs to the next job, or to who collects the error. It could be given
     * back before the edges are walked: finish has closed the list, the edges lie outside the slot,
     * and nothing above reads the job. */
    if ((flags & WEFT__JOB_KEPT) == 0) give_slot((weft__submitter){worker->pool, worker}, slot);
    weft__worker_count_completed(worker);
    return false;
}

/* The end of a job that failed or was cancelled. */
bool weft__worker_end_failed(weft_job_context *worker, uint32_t slot, int code, uint32_t flags)
{
    weft__job *job = &worker->pool->table.jobs[slot];
    uint32_t own_flags = weft__job_flags(job);
    if ((own_flags & WEFT__JOB_SKIPPED) != 0) { /* a loop, see run_loop */
        flags |= WEFT__JOB_SKIPPED;
        code = 0;
    }
    if (code != 0) flags |= WEFT__JOB_FAILED;
    if ((own_flags & WEFT__JOB_HAS_HANDLE) != 0) {
        flags |= WEFT__JOB_KEPT;
        at_add_ar(&worker->pool->x_kept, 1u); /* P3: before it counts as completed */
    } else if (code != 0) {
        keep_first_error(worker->pool, code);
    }
    return weft__worker_end_noticed(worker, slot, weft__job_finish(job, code, flags), flags);
}

void weft__worker_end_plain_failed(weft_job_context *worker, int code)
{
    keep_first_error(worker->pool, code);
}

/* weft__worker_call at depth 0, where the frame is usually empty and nothing has to be kept. */
int weft__worker_call_on_children(weft_job_context *worker, weft_job_fn fn, void *argument)
{
    return weft__worker_call(worker, fn, argument);
}

int weft__worker_join_at_depth_0(weft_job_context *worker, int code)
{
    int child_code = weft_job_children_wait(worker);
    worker->frame_base = worker->children.bottom;
    return code != 0 ? code : child_code;
}

void weft__worker_run_job(weft_job_context *worker, uint32_t slot)
{
    weft_job_pool *pool = worker->pool;
    weft__job *job = &pool->table.jobs[slot];
    bool is_background = weft__job_class(job) == WEFT_JOB_BACKGROUND;
    weft__worker_run_on_frame(worker, job, slot, weft__worker_is_frame_empty(worker));
    if (!is_background) return;
    /* sc before the look at sleepers; any order would do: this worker looks for another itself */
    at_sub_sc(&pool->x_background, 1u); /* P4 */
    weft__worker_notify(worker);        /* another worker may have passed over one */
}
