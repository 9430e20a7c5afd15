/* worker_job.c: submitted jobs on workers: submission, where ready jobs go, running and ending
 * them. The protocol of slots, handles and dependencies is in job.h. */
#include "pool.h"

#include "invariant.h"

/* Who submits: a worker, or a thread that is none (worker == NULL). */
typedef struct submitter {
    weft_job_pool *pool;
    weft_job_context *worker;
} submitter;

/* A guest has neither slots nor a deque that others look into: its jobs are injected. */
static submitter submitter_of(weft_job_context *context)
{
    return (submitter){context->pool, context->guest == 0 ? context : NULL};
}

/* ---- slots and edges */

static uint32_t take_job_slot(submitter by)
{
    weft__slots *slots = &by.pool->table.slots;
    return by.worker != NULL ? weft__slots_take(slots, &by.worker->caches.jobs)
                             : weft__slots_take_any(slots);
}

static void give_job_slot(submitter by, uint32_t slot)
{
    weft__slots *slots = &by.pool->table.slots;
    if (by.worker != NULL)
        weft__slots_give(slots, &by.worker->caches.jobs, slot);
    else
        weft__slots_give_any(slots, slot);
}

static uint32_t take_edge(submitter by)
{
    weft__slots *slots = &by.pool->table.edge_slots;
    uint32_t number = by.worker != NULL ? weft__slots_take(slots, &by.worker->caches.edges)
                                        : weft__slots_take_any(slots);
    return number == WEFT__SLOTS_NONE ? WEFT__SLOTS_NONE : number + by.pool->table.worker_count;
}

static void give_edge(submitter by, uint32_t edge)
{
    weft__slots *slots = &by.pool->table.edge_slots;
    uint32_t number = edge - by.pool->table.worker_count;
    if (by.worker != NULL)
        weft__slots_give(slots, &by.worker->caches.edges, number);
    else
        weft__slots_give_any(slots, number);
}

/* Takes `count` edges linked by next; EMPTY when there are not enough (none is taken then). */
static uint32_t take_edges(submitter by, uint32_t count, bool *is_full)
{
    weft__job_edge *edges = by.pool->table.edges;
    uint32_t list = WEFT__JOB_LIST_EMPTY;
    *is_full = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t edge = take_edge(by);
        if (edge == WEFT__SLOTS_NONE) {
            *is_full = true;
            break;
        }
        edges[edge].next = list;
        list = edge;
    }
    while (*is_full && list != WEFT__JOB_LIST_EMPTY) {
        uint32_t next = edges[list].next;
        give_edge(by, list);
        list = next;
    }
    return list;
}

/* ---- where ready jobs go */

void weft__pool_inject(weft_job_pool *pool, uint32_t slot)
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
    weft_job_pool *pool = worker->pool;
    weft_job_class class_ = weft__job_class(&pool->table.jobs[slot]);
    if (!weft__deque_push_owner(&worker->deques[class_], slot)) {
        weft__stat_add(&worker->stats.x_overflowed, 1);
        weft__pool_inject(pool, slot);
    }
}

bool weft__worker_take_injected(weft_job_context *worker, weft_job_class class_)
{
    weft_job_pool *pool = worker->pool;
    weft_a32 *head = &pool->x_injected[class_];
    if (at_load_rlx(head) == WEFT__JOB_NONE) return false; /* relaxed: a hint */
    /* taking needs the acquire only: who sleeps has looked with an sc load */
    uint32_t slot = at_xchg_sc(head, WEFT__JOB_NONE); /* P1 */
    bool is_any = slot != WEFT__JOB_NONE;
    while (slot != WEFT__JOB_NONE) { /* youngest first: popped from the deque oldest first */
        uint32_t next = at_load_rlx(&pool->table.jobs[slot].x_next); /* relaxed: P1 */
        weft__worker_push_job(worker, slot);
        slot = next;
    }
    return is_any;
}

/* A job whose last predecessor ended here runs next in place, if it may; others are offered. */
static void offer(submitter by, uint32_t slot)
{
    weft_job_context *worker = by.worker;
    if (worker == NULL) {
        weft__pool_inject(by.pool, slot);
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

static inline void count_completed(weft_job_context *worker)
{
    /* release: whoever reads the new count sees everything the job did (P3) */
    at_store_rel(&worker->stats.x_completed, at_load_rlx(&worker->stats.x_completed) + 1);
}

/* Tells those who wait for an ended job. */
static void release_edges(weft_job_context *worker, uint32_t edge, bool is_failed)
{
    weft_job_pool *pool = worker->pool;
    submitter by = {pool, worker};
    while (edge != WEFT__JOB_LIST_EMPTY) {
        uint32_t next = pool->table.edges[edge].next;
        uint32_t successor = pool->table.edges[edge].successor;
        if ((successor & WEFT__JOB_EDGE_WAITER) != 0) {
            uint32_t waiter = successor & ~WEFT__JOB_EDGE_WAITER;
            at_store_sc(&pool->workers[waiter].x_is_over,
                        1u); /* P2: the edge is the waiter's again */
            if (weft__wake_one(&pool->wake, waiter)) weft__worker_count_wake(worker, waiter);
        } else {
            give_edge(by, edge);
            weft__job *job = &pool->table.jobs[successor];
            if (is_failed) weft__job_mark(job, WEFT__JOB_CANCELLED);
            if (weft__job_remove_pending(job)) offer(by, successor);
        }
        edge = next;
    }
}

/* The rare half of ending a job: somebody waits for it, or it failed. False, as end_job says. */
static __attribute__((noinline)) bool end_noticed(weft_job_context *worker, uint32_t slot,
                                                  uint32_t edge, uint32_t flags)
{
    weft__job_table *table = &worker->pool->table;
    if (edge != WEFT__JOB_LIST_EMPTY) edge = weft__job_order_edges(table, edge);
    worker->is_ending = worker->depth == 0;
    release_edges(worker, edge, flags != 0);
    worker->is_ending = false;
    /* From here the slot belongs to the next job, or to who collects the error. It could be given
     * back before the edges are walked: finish has closed the list, the edges lie outside the slot,
     * and nothing above reads the job. */
    if ((flags & WEFT__JOB_KEPT) == 0) give_job_slot((submitter){worker->pool, worker}, slot);
    count_completed(worker);
    return false;
}

/* The end of a job that failed or was cancelled. */
static __attribute__((noinline)) bool end_failed(weft_job_context *worker, uint32_t slot, int code,
                                                 uint32_t flags)
{
    weft__job *job = &worker->pool->table.jobs[slot];
    uint32_t own_flags = weft__job_flags(job);
    if ((own_flags & WEFT__JOB_SKIPPED) != 0) { /* a loop, see run_loop */
        flags |= WEFT__JOB_SKIPPED;
        code = 0;
    }
    if (code != 0) flags |= WEFT__JOB_FAILED;
    if ((own_flags & WEFT__JOB_HAS_HANDLE) != 0)
        flags |= WEFT__JOB_KEPT;
    else if (code != 0)
        keep_first_error(worker->pool, code);
    return end_noticed(worker, slot, weft__job_finish(job, code, flags), flags);
}

/* True when it succeeded and nobody waited for it. */
static inline bool end_job(weft_job_context *worker, weft__job *job, uint32_t slot, int code)
{
    if (__builtin_expect(code != 0, 0)) return end_failed(worker, slot, code, 0);
    uint32_t edge = weft__job_finish(job, 0, 0);
    if (__builtin_expect(edge != WEFT__JOB_LIST_EMPTY, 0))
        return end_noticed(worker, slot, edge, 0);
    weft__slots_give(&worker->pool->table.slots, &worker->caches.jobs, slot);
    count_completed(worker);
    return true;
}

/* weft__worker_call at depth 0, where the frame is usually empty and nothing has to be kept. */
static __attribute__((noinline)) int call_on_children(weft_job_context *worker, weft_job_fn fn,
                                                      void *argument)
{
    return weft__worker_call(worker, fn, argument);
}

static __attribute__((noinline)) int join_at_depth_0(weft_job_context *worker, int code)
{
    int child_code = weft_job_children_wait(worker);
    worker->frame_base = worker->children.bottom;
    return code != 0 ? code : child_code;
}

static inline bool is_frame_empty(const weft_job_context *worker)
{
    /* one branch for both */
    uint64_t to_join = worker->children.bottom - worker->frame_base;
    return __builtin_expect((to_join | (uint32_t)worker->error.code) == 0, 1);
}

/* True when it succeeded and nobody waited for it. `is_empty`: the worker's frame is. */
static inline __attribute__((always_inline)) bool run_job(weft_job_context *worker, weft__job *job,
                                                          uint32_t slot, bool is_empty)
{
    WEFT_ASSERT(worker->depth == 0);
    bool is_cancelled = (weft__job_flags(job) & WEFT__JOB_CANCELLED) != 0;
    if (__builtin_expect(is_cancelled && (job->traits & WEFT__JOB_RUN_ON_ERROR) == 0, 0))
        return end_failed(worker, slot, 0, WEFT__JOB_SKIPPED);
    worker->depth = 1;
    worker->job = slot;
    weft__note(worker, WEFT_JOB_EVENT_BEGIN, job->name, slot);
    int code = __builtin_expect(is_empty, 1) ? job->fn(worker, job->argument)
                                             : call_on_children(worker, job->fn, job->argument);
    if (__builtin_expect(is_empty && !is_frame_empty(worker), 0))
        code = join_at_depth_0(worker, code);
    weft__note(worker, WEFT_JOB_EVENT_END, job->name, slot);
    worker->job = WEFT__JOB_NONE;
    worker->depth = 0;
    return end_job(worker, job, slot, code);
}

void weft__worker_run_job(weft_job_context *worker, uint32_t slot)
{
    weft_job_pool *pool = worker->pool;
    weft__job *job = &pool->table.jobs[slot];
    bool is_background = weft__job_class(job) == WEFT_JOB_BACKGROUND;
    run_job(worker, job, slot, is_frame_empty(worker));
    if (!is_background) return;
    /* sc before the look at sleepers; any order would do: this worker looks for another itself */
    at_sub_sc(&pool->x_background, 1u); /* P4 */
    weft__worker_notify(worker);        /* somebody may have passed over another one */
}

/* ---- waiting, the short way: the job lies on top of the owner's own deque. Everything else, and
 * every error, is weft__wait_any in wait.c. */

/* True when the job was there, ran and left nothing to collect. */
static inline bool run_youngest(weft_job_context *worker, weft_job_handle handle)
{
    weft__deque *deque = &worker->deques[WEFT_JOB_NORMAL];
    if (__builtin_expect(!weft__deque_is_youngest_owner(deque, handle.index), 0)) return false;
    weft__job *job = &worker->jobs[handle.index];
    uint64_t list = at_load_acq(&job->x_list); /* J2: any order, only the generation counts here */
    if (__builtin_expect((uint32_t)(list >> 32) != handle.generation, 0)) return false;
    if (!weft__deque_pop_youngest_owner(deque)) return false;
    return run_job(worker, job, handle.index, true);
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
    return weft__wait_any(owner, handle, code);
}

/* ---- submission */

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
static void attach(submitter by, uint32_t slot, weft_job_handle predecessor, uint32_t edge)
{
    weft__job_table *table = &by.pool->table;
    weft__job *job = &table->jobs[slot];
    at_add_rlx(&job->x_pending, 1u); /* relaxed: the guard is still there */
    table->edges[edge].successor = slot;
    if (weft__job_attach(table, predecessor, edge) == WEFT__ATTACHED) return;
    if (weft__job_has_failed(table, predecessor)) weft__job_mark(job, WEFT__JOB_CANCELLED);
    weft__job_remove_pending(job); /* never the last: the guard */
    give_edge(by, edge);
}

/* What weft_job_submit, _then, _for_submit and _inject have in common. */
typedef struct submission {
    const weft_job_desc *desc;
    const weft_job_for_desc *loop; /* NULL: desc->fn */
    weft_job_handle extra;         /* one more predecessor; null: none */
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

static inline uint32_t fill_slot(submitter by, const submission *what, uint32_t flags,
                                 weft_job_handle *handle)
{
    uint32_t slot = take_job_slot(by);
    if (slot == WEFT__SLOTS_NONE) return slot;
    weft__job *job = &by.pool->table.jobs[slot];
    job->fn = what->desc->fn;
    job->argument = what->desc->argument;
    job->name = what->loop != NULL ? what->loop->name : what->desc->name;
    job->traits = weft__job_traits(what->desc->class_, what->desc->is_run_on_error);
    if (what->loop != NULL) {
        by.pool->loop_descs[slot] = *what->loop;
        job->fn = run_loop;
        job->argument = &by.pool->loop_descs[slot];
    }
    if (what->desc->is_held) flags |= WEFT__JOB_HELD;
    bool is_free =
        !what->desc->is_held && what->desc->after_count == 0 && what->extra.generation == 0;
    *handle = weft__job_start_with(job, slot, flags, is_free ? 0 : 1);
    return slot;
}

static void count_submitted(submitter by, const char *name)
{
    if (by.worker == NULL) {
        /* any order would do: the injection that follows (P1) publishes it */
        at_add_sc(&by.pool->x_foreign_submitted, (uint64_t)1); /* P3 */
        return;
    }
    weft__stat_add(&by.worker->stats.x_submitted, 1);
    if (by.worker->head.is_observed) weft__observe_spawned(by.worker, name);
}

/* Submits a job with predecessors, or a held one. */
static weft_result submit_dependent(submitter by, const submission *what, weft_job_handle *out)
{
    const weft_job_desc *desc = what->desc;
    weft__job_edge *edges = by.pool->table.edges;
    bool is_full, has_extra = what->extra.generation != 0;
    uint32_t edge = take_edges(by, desc->after_count + has_extra, &is_full);
    if (is_full) return WEFT_POOL_FULL;
    weft_job_handle handle;
    uint32_t slot = fill_slot(by, what, out != NULL ? WEFT__JOB_HAS_HANDLE : 0, &handle);
    bool is_refused = slot == WEFT__SLOTS_NONE;
    for (uint32_t i = 0; edge != WEFT__JOB_LIST_EMPTY; i++) {
        uint32_t next = edges[edge].next;
        if (is_refused)
            give_edge(by, edge);
        else
            attach(by, slot, i < desc->after_count ? desc->after[i] : what->extra, edge);
        edge = next;
    }
    if (is_refused) return WEFT_POOL_FULL;
    if (out != NULL) *out = handle;
    count_submitted(by, by.pool->table.jobs[slot].name);
    if (!desc->is_held && weft__job_remove_pending(&by.pool->table.jobs[slot])) offer(by, slot);
    return WEFT_OK;
}

static weft_result submit(submitter by, const submission *what, weft_job_handle *out)
{
    const weft_job_desc *desc = what->desc;
    if (desc->is_held || desc->after_count != 0 || what->extra.generation != 0)
        return submit_dependent(by, what, out);
    weft_job_handle handle;
    uint32_t slot = fill_slot(by, what, out != NULL ? WEFT__JOB_HAS_HANDLE : 0, &handle);
    if (slot == WEFT__SLOTS_NONE) return WEFT_POOL_FULL;
    if (out != NULL) *out = handle;
    count_submitted(by, by.pool->table.jobs[slot].name);
    offer(by, slot);
    return WEFT_OK;
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

/* The short way, without a call: a plain normal job from a worker with a free slot and room. */
weft_result weft_job_submit(weft_job_context *worker, const weft_job_desc *desc,
                            weft_job_handle *out)
{
    bool is_plain = worker != NULL && desc != NULL && desc->fn != NULL &&
                    (desc->after_count | (uint32_t)desc->class_ | desc->is_held |
                     worker->head.is_observed) == 0 &&
                    worker->caches.jobs.count != 0 && !weft__worker_is_forked(worker) &&
                    weft__deque_has_room_owner(&worker->deques[WEFT_JOB_NORMAL]);
    if (__builtin_expect(!is_plain, 0)) return submit_slowly(worker, desc, out);
    uint32_t slot = weft__slots_take_cached(&worker->caches.jobs);
    weft__job *job = &worker->jobs[slot];
    job->fn = desc->fn;
    job->argument = desc->argument;
    job->name = desc->name;
    job->traits = weft__job_traits(WEFT_JOB_NORMAL, desc->is_run_on_error);
    uint32_t flags = out != NULL ? WEFT__JOB_HAS_HANDLE : 0;
    weft_job_handle handle = weft__job_start_with(job, slot, flags, 0);
    if (out != NULL) *out = handle;
    weft__stat_add(&worker->stats.x_submitted, 1);
    weft__deque_push_room_owner(&worker->deques[WEFT_JOB_NORMAL], slot);
    if (worker->deques[WEFT_JOB_NORMAL].is_alone) return WEFT_OK; /* nobody to wake */
    weft__worker_notify(worker);
    return WEFT_OK;
}

weft_result weft_job_then(weft_job_context *worker, weft_job_handle predecessor,
                          const weft_job_desc *desc, weft_job_handle *out)
{
    if (worker == NULL) return WEFT_INVALID_ARGUMENT;
    if (!weft__job_is_valid(&worker->pool->table, predecessor)) return WEFT_BAD_HANDLE;
    return submit_from(worker, &(submission){.desc = desc, .extra = predecessor}, out);
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
    return submit((submitter){pool, NULL}, &(submission){.desc = desc}, out);
}

weft_result weft_job_depend(weft_job_context *worker, weft_job_handle held,
                            weft_job_handle predecessor)
{
    if (worker == NULL) return WEFT_INVALID_ARGUMENT;
    weft__job_table *table = &worker->pool->table;
    if (weft__pool_is_forked(worker->pool)) return WEFT_FORKED;
    if (held.generation == 0 || !weft__job_is_valid(table, held) ||
        !weft__job_is_valid(table, predecessor))
        return WEFT_BAD_HANDLE;
    if (!weft__job_is_held(table, held)) return WEFT_WRONG_PHASE;
    bool is_itself = held.index == predecessor.index && held.generation == predecessor.generation;
    if (is_itself) return WEFT_CYCLE;
    if (predecessor.generation == 0) return WEFT_OK;
    submitter by = submitter_of(worker);
    uint32_t edge = take_edge(by);
    if (edge == WEFT__SLOTS_NONE) return WEFT_POOL_FULL;
    attach(by, held.index, predecessor, edge);
    return WEFT_OK;
}

weft_result weft_job_release(weft_job_context *worker, weft_job_handle held)
{
    if (worker == NULL) return WEFT_INVALID_ARGUMENT;
    weft__job_table *table = &worker->pool->table;
    if (weft__pool_is_forked(worker->pool)) return WEFT_FORKED;
    if (held.generation == 0 || !weft__job_is_valid(table, held)) return WEFT_BAD_HANDLE;
    if (!weft__job_unhold(table, held)) return WEFT_WRONG_PHASE;
    if (weft__job_remove_pending(&table->jobs[held.index])) offer(submitter_of(worker), held.index);
    return WEFT_OK;
}
