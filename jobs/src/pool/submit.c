/* SPDX-License-Identifier: MIT */
/* submit.c: submitting jobs: checks, slots, dependencies, jobs from threads that are no workers.
 * Running them is in worker_job.c, the protocol in job.h. */
#include "park.h"
#include "worker_job.h"

static weft_result check_desc(const weft_job_pool *pool, const weft_job_desc *desc)
{
    if (desc == NULL || (desc->after == NULL && desc->after_count != 0))
        return WEFT_INVALID_ARGUMENT;
    if ((unsigned)desc->class_ >= WEFT_JOB_CLASS_COUNT) return WEFT_INVALID_ARGUMENT;
    if (weft__pool_is_forked(pool)) return WEFT_FORKED;
    for (uint32_t i = 0; i < desc->after_count; i++)
        if (!weft__job_is_valid(&pool->table, desc->after[i])) return WEFT_BAD_HANDLE;
    return WEFT_OK;
}

/* Attaches a job to a predecessor with `edge`; the edge is given back when it was not needed. */
static void attach(weft__submitter by, uint32_t slot, weft_job_handle predecessor, uint32_t edge)
{
    weft__job_table *table = &by.pool->table;
    weft__job *job = &table->jobs[slot];
    at_add_rlx(&job->x_pending, 1u); /* relaxed: the guard is still there */
    table->edges[edge].successor = slot;
    if (weft__job_attach(table, predecessor, edge) == WEFT__ATTACHED) return;
    if (weft__job_has_failed(table, predecessor)) weft__job_mark(job, WEFT__JOB_CANCELLED);
    weft__job_remove_pending(job); /* never the last: the guard */
    weft__job_give_edge(by, edge);
}

/* What weft_job_submit, _for_submit and _inject have in common. Owner: the call, on its
 * stack. */
typedef struct submission {
    const weft_job_desc *desc;
    const weft_job_for_desc *loop; /* NULL: desc->fn */
} submission;

/* The body of a loop submitted as a job; `argument` is its copy in the pool's loop_descs. A loop
 * that was stopped in the middle must not end as if it had succeeded: the mark makes of any code a
 * cancellation. */
static int run_loop(weft_job_context *worker, void *argument)
{
    int code = 0;
    if (weft_job_for(worker, argument, &code) != WEFT_CANCELLED) return code;
    weft__job_mark(&worker->jobs[worker->job], WEFT__JOB_SKIPPED);
    return 1;
}

static inline uint32_t fill_slot(weft__submitter by, const submission *what, uint32_t flags,
                                 weft_job_handle *handle)
{
    uint32_t slot = weft__job_take_slot(by);
    if (slot == WEFT__SLOTS_NONE) return slot;
    weft__job *job = &by.pool->table.jobs[slot];
    job->fn = what->desc->fn;
    job->argument = what->desc->argument;
    job->name = what->loop != NULL ? what->loop->name : what->desc->name;
    job->traits = weft__job_traits(what->desc->class_, what->desc->runs_on_error);
    if (what->loop != NULL) {
        by.pool->loop_descs[slot] = *what->loop;
        job->fn = run_loop;
        job->argument = &by.pool->loop_descs[slot];
    }
    *handle = weft__job_start_with(job, slot, flags, what->desc->after_count == 0 ? 0 : 1);
    return slot;
}

static void count_submitted(weft__submitter by)
{
    if (by.worker == NULL) {
        /* any order would do: the injection that follows (P1) publishes it */
        at_add_sc(&by.pool->x_foreign_submitted, (uint64_t)1); /* P3 */
        return;
    }
    weft__stat_add(&by.worker->stats.x_submitted, 1);
}

/* Submits a job with predecessors. */
static weft_result submit_dependent(weft__submitter by, const submission *what,
                                    weft_job_handle *out)
{
    const weft_job_desc *desc = what->desc;
    weft__job_edge *edges = by.pool->table.edges;
    bool is_full;
    uint32_t edge = weft__job_take_edges(by, desc->after_count, &is_full);
    if (is_full) return WEFT_POOL_FULL;
    weft_job_handle handle;
    uint32_t slot = fill_slot(by, what, out != NULL ? WEFT__JOB_HAS_HANDLE : 0, &handle);
    bool is_refused = slot == WEFT__SLOTS_NONE;
    for (uint32_t i = 0; edge != WEFT__JOB_LIST_EMPTY; i++) {
        uint32_t next = edges[edge].next;
        if (is_refused)
            weft__job_give_edge(by, edge);
        else
            attach(by, slot, desc->after[i], edge);
        edge = next;
    }
    if (is_refused) return WEFT_POOL_FULL;
    if (out != NULL) *out = handle;
    count_submitted(by);
    if (weft__job_remove_pending(&by.pool->table.jobs[slot])) weft__job_offer(by, slot);
    return WEFT_OK;
}

static weft_result submit(weft__submitter by, const submission *what, weft_job_handle *out)
{
    const weft_job_desc *desc = what->desc;
    if (desc->after_count != 0) return submit_dependent(by, what, out);
    weft_job_handle handle;
    uint32_t slot = fill_slot(by, what, out != NULL ? WEFT__JOB_HAS_HANDLE : 0, &handle);
    if (slot == WEFT__SLOTS_NONE) return WEFT_POOL_FULL;
    if (out != NULL) *out = handle;
    count_submitted(by);
    weft__job_offer(by, slot);
    return WEFT_OK;
}

/* A guest has neither slots nor a deque that others look into: its jobs are injected. */
static inline weft__submitter submitter_of(weft_job_context *context)
{
    return (weft__submitter){context->pool, context->guest == 0 ? context : NULL};
}

static weft_result submit_from(weft_job_context *worker, const submission *what,
                               weft_job_handle *out)
{
    if (worker == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = check_desc(worker->pool, what->desc);
    if (result != WEFT_OK) return result;
    if (what->loop == NULL && what->desc->fn == NULL) return WEFT_INVALID_ARGUMENT;
    return submit(submitter_of(worker), what, out);
}

static __attribute__((noinline)) weft_result
submit_slowly(weft_job_context *worker, const weft_job_desc *desc, weft_job_handle *out)
{
    return submit_from(worker, &(submission){.desc = desc}, out);
}

/* A job that nothing names: it is its function and argument, and lies in the deque itself. */
static inline bool push_plain(weft_job_context *worker, const weft_job_desc *desc)
{
    weft__deque *deque = &worker->deques[WEFT_JOB_NORMAL];
    if (!weft__deque_has_room_owner(deque, deque->plain_limit)) return false;
    weft__stat_add(&worker->stats.x_plain_submitted, 1); /* P3: before D1 publishes the job */
    weft__deque_push_room_owner(deque,
                                (weft__deque_item){(uintptr_t)desc->fn, (uintptr_t)desc->argument});
    return true;
}

/* A job with a slot, when one is at hand. */
static inline bool push_slot(weft_job_context *worker, const weft_job_desc *desc,
                             weft_job_handle *out)
{
    weft__deque *deque = &worker->deques[WEFT_JOB_NORMAL];
    bool is_at_hand =
        worker->caches.jobs.count != 0 && weft__deque_has_room_owner(deque, deque->mask + 1);
    if (__builtin_expect(!is_at_hand, 0)) return false;
    uint32_t slot = weft__slots_take_cached(&worker->caches.jobs);
    weft__job *job = &worker->jobs[slot];
    job->fn = desc->fn;
    job->argument = desc->argument;
    job->name = desc->name;
    job->traits = weft__job_traits(WEFT_JOB_NORMAL, desc->runs_on_error);
    uint32_t flags = out != NULL ? WEFT__JOB_HAS_HANDLE : 0;
    weft_job_handle handle = weft__job_start_with(job, slot, flags, 0);
    if (out != NULL) *out = handle;
    weft__stat_add(&worker->stats.x_submitted, 1);
    weft__deque_push_room_owner(deque, weft__deque_item_of_slot(slot));
    return true;
}

/* The short way, without a call: a normal job from a worker, ready, with room for it. */
weft_result weft_job_submit(weft_job_context *worker, const weft_job_desc *desc,
                            weft_job_handle *out)
{
    bool is_ready = worker != NULL && desc != NULL && desc->fn != NULL &&
                    (desc->after_count | (uint32_t)desc->class_) == 0 &&
                    !weft__worker_is_forked(worker);
    if (__builtin_expect(!is_ready, 0)) return submit_slowly(worker, desc, out);
    bool is_named = out != NULL || desc->name != NULL;
    bool is_pushed = (!is_named && push_plain(worker, desc)) || push_slot(worker, desc, out);
    if (__builtin_expect(!is_pushed, 0)) return submit_slowly(worker, desc, out);
    if (worker->deques[WEFT_JOB_NORMAL].is_alone) return WEFT_OK; /* none to wake */
    weft__worker_notify(worker);
    return WEFT_OK;
}

weft_result weft_job_for_submit(weft_job_context *worker, const weft_job_for_desc *loop,
                                const weft_job_desc *job, weft_job_handle *out)
{
    static const weft_job_desc plain = {0};
    if (loop == NULL || loop->fn == NULL) return WEFT_INVALID_ARGUMENT;
    if ((unsigned)loop->class_ >= WEFT_JOB_CLASS_COUNT) return WEFT_INVALID_ARGUMENT;
    return submit_from(worker, &(submission){.desc = job != NULL ? job : &plain, .loop = loop},
                       out);
}

weft_result weft_job_inject(weft_job_pool *pool, const weft_job_desc *desc, weft_job_handle *out)
{
    if (pool == NULL || desc == NULL || desc->fn == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = check_desc(pool, desc);
    if (result != WEFT_OK) return result;
    return submit((weft__submitter){pool, NULL}, &(submission){.desc = desc}, out);
}
