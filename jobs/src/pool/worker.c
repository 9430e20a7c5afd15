/* SPDX-License-Identifier: MIT */
/* worker.c: how a worker looks for work, in which order, and when it gives up and sleeps.
 *
 * Order: its continuation, critical jobs, its own jobs, open loops, injected jobs, other workers'
 * jobs and children, background work. Every 61st look begins with the injection lists, and while
 * the owner waits for a job another one with background work, so that a worker that feeds itself,
 * by continuations too, starves neither. The protocol of sleeping is in wake.h. */
#include "worker.h"

#include "invariant.h"
#include "park.h"
#include "worker_child.h"
#include "worker_graph.h"
#include "worker_job.h"
#include "worker_loop.h"

#define FAIRNESS_TURNS 61u
#define BACKGROUND_TURN 30u

/* ---- searching */

/* An owner that waits for all jobs looks again when a worker has run dry. The caller has just
 * changed a word of the wake-up by an sc operation: the count of what it ran is visible. */
static void wake_drainer(weft_job_context *worker)
{
    weft_job_pool *pool = worker->pool;
    if (at_load_sc(&pool->x_draining) == 0 || worker->head.index == 0) return; /* P10 */
    if (weft__wake_one(&pool->wake, 0)) weft__worker_count_wake(worker, 0);
}

static void begin_search(weft_job_context *worker)
{
    if (worker->is_searching) return; /* and has run nothing since it looked for the owner */
    worker->is_searching = weft__wake_begin_search(&worker->pool->wake);
    if (worker->is_searching) wake_drainer(worker);
}

/* Worker 0 leaves hosted work to others; those who published it may have taken it for a searcher
 * that would help, and woken none. */
static void pass_on_hosted(weft_job_context *worker)
{
    weft_job_pool *pool = worker->pool;
    if (worker->head.index != 0) return;
    for (uint32_t c = 0; c < WEFT_JOB_CLASS_COUNT; c++) {
        if (!weft__loop_has_room(&pool->loops, (weft_job_class)c, 1)) continue;
        if (weft__wake_next(&pool->wake, 1, true)) weft__worker_count_wake(worker, UINT32_MAX);
        return;
    }
}

/* Leaves the count of searchers; the last one passes a wake-up on if there is more to do. */
static void end_search(weft_job_context *worker)
{
    if (!worker->is_searching) return;
    worker->is_searching = false;
    if (!weft__wake_end_search(&worker->pool->wake)) return;
    if (weft__wake_is_awake(&worker->pool->wake)) return;
    if (weft__worker_sees_work(worker, WEFT__SCOPE_WORKER)) weft__worker_notify(worker);
    pass_on_hosted(worker);
}

/* Called when something to run was found, before it runs. */
static void found(weft_job_context *worker)
{
    if (!worker->is_searching) return;
    weft_a32 *used = &worker->pool->x_used;
    uint32_t bit = 1u << (worker->head.index % 32);
    /* relaxed: a hint for the next frame */
    if ((at_load_rlx(used) & bit) == 0) at_or_ar(used, bit); /* P5: any order, so is this */
    end_search(worker);
}

/* ---- one piece of work */

static bool run_slot(weft_job_context *worker, uint32_t slot)
{
    if (slot == WEFT__DEQUE_NONE) return false;
    found(worker);
    weft__worker_run_job(worker, slot);
    return true;
}

static bool run_item(weft_job_context *worker, weft__deque_item item)
{
    if (item.fn == 0) return run_slot(worker, (uint32_t)item.argument);
    found(worker);
    weft__worker_run_plain(worker, item, weft__worker_is_frame_empty(worker));
    return true;
}

static bool run_own(weft_job_context *worker, weft_job_class class_)
{
    return run_item(worker, weft__deque_pop_owner(&worker->deques[class_]));
}

static bool run_injected(weft_job_context *worker, weft_job_class class_)
{
    return weft__worker_take_injected(worker, class_) && run_own(worker, class_);
}

/* Takes part in a joined loop or graph until nothing is left to claim, and leaves it. */
static void join(weft_job_context *worker, weft__loop *loop)
{
    uint32_t job = weft__worker_begin_piece(worker, loop->job);
    if (loop->graph != NULL)
        weft__worker_run_nodes(worker, loop);
    else
        weft__worker_run_parts(worker, loop);
    weft__worker_end_piece(worker, job);
    weft__loop_leave(&worker->pool->loops, loop, worker->pool->os);
}

static bool run_loop(weft_job_context *worker, weft_job_class class_)
{
    weft__loop *loop = weft__loop_join(&worker->pool->loops, class_, worker->head.index);
    if (loop == NULL) return false;
    found(worker);
    join(worker, loop);
    return true;
}

static bool steal_job(weft_job_context *worker, uint32_t victim, weft_job_class class_)
{
    weft__deque_item item;
    weft__deque *deque = &worker->pool->workers[victim].deques[class_];
    weft__steal result = weft__deque_steal_any(deque, &item);
    if (result == WEFT__STEAL_LOST) weft__stat_add(&worker->stats.x_steals_failed, 1);
    if (result != WEFT__STEAL_GOT) return false;
    weft__stat_add(&worker->stats.x_stolen, 1);
    weft__note(worker, WEFT_JOB_EVENT_STEAL, NULL, victim);
    return run_item(worker, item);
}

static bool steal_child(weft_job_context *worker, uint32_t victim)
{
    weft__child *child;
    weft__child_stack *stack = &worker->pool->workers[victim].children;
    weft__steal result = weft__child_steal_any(stack, NULL, worker->head.index, &child);
    if (result == WEFT__STEAL_LOST) weft__stat_add(&worker->stats.x_steals_failed, 1);
    if (result != WEFT__STEAL_GOT) return false;
    found(worker);
    weft__worker_run_taken(worker, child, victim);
    return true;
}

static bool run_stolen(weft_job_context *worker)
{
    uint32_t count = worker->pool->worker_count, victim = worker->last_victim;
    for (uint32_t i = 0; i < count; i++, victim = victim + 1 < count ? victim + 1 : 0) {
        if (victim == worker->head.index) continue;
        worker->last_victim = victim;
        if (steal_job(worker, victim, WEFT_JOB_CRITICAL)) return true;
        if (steal_job(worker, victim, WEFT_JOB_NORMAL)) return true;
        if (steal_child(worker, victim)) return true;
    }
    return false;
}

/* Edge P4: the count of running background jobs never exceeds the limit (except draining). */
static bool may_run_background(weft_job_context *worker, weft__scope scope)
{
    weft_job_pool *pool = worker->pool;
    uint32_t running = at_add_ar(&pool->x_background, 1u); /* P4: any order, a count */
    if (scope != WEFT__SCOPE_WORKER || running < pool->background_limit) return true;
    at_sub_ar(&pool->x_background, 1u); /* P4 */
    return false;
}

static bool has_background(weft_job_context *worker)
{
    weft_job_pool *pool = worker->pool;
    if (at_load_sc(&pool->x_injected[WEFT_JOB_BACKGROUND]) != WEFT__JOB_NONE) return true; /* P1 */
    for (uint32_t i = 0; i < pool->worker_count; i++)
        if (weft__deque_has_items_any(&pool->workers[i].deques[WEFT_JOB_BACKGROUND])) return true;
    return false;
}

static bool run_background(weft_job_context *worker, weft__scope scope)
{
    if (scope == WEFT__SCOPE_WAIT && weft__pool_has_others(worker->pool)) return false;
    if (run_loop(worker, WEFT_JOB_BACKGROUND)) return true;
    if (!has_background(worker) || !may_run_background(worker, scope)) return false;
    if (run_own(worker, WEFT_JOB_BACKGROUND)) return true;
    if (run_injected(worker, WEFT_JOB_BACKGROUND)) return true;
    for (uint32_t i = 1; i < worker->pool->worker_count; i++) {
        uint32_t victim = (worker->head.index + i) % worker->pool->worker_count;
        if (steal_job(worker, victim, WEFT_JOB_BACKGROUND)) return true;
    }
    at_sub_ar(&worker->pool->x_background, 1u); /* P4 */
    return false;
}

/* Whether run_background may find something. */
static bool sees_background(weft_job_context *worker, weft__scope scope)
{
    weft_job_pool *pool = worker->pool;
    if (scope == WEFT__SCOPE_WAIT && weft__pool_has_others(pool)) return false; /* P9 */
    if (weft__loop_has_room(&pool->loops, WEFT_JOB_BACKGROUND, worker->head.index)) return true;
    /* an old count costs nothing: who ends a background job looks for another itself */
    bool is_limited = scope == WEFT__SCOPE_WORKER &&
                      at_load_sc(&pool->x_background) >= pool->background_limit; /* P4 */
    return !is_limited && has_background(worker);
}

/* Offers the continuation to all workers. */
static void give_next(weft_job_context *worker)
{
    uint32_t next = worker->next_job;
    if (next == WEFT__JOB_NONE) return;
    worker->next_job = WEFT__JOB_NONE;
    weft__worker_push_job(worker, next);
    weft__worker_notify(worker);
}

/* Runs what has its turn before all else. Other workers may take the continuation meanwhile; where
 * there are none it stays the next, and does not come under what its own deque gets. */
static bool run_in_turn(weft_job_context *worker, weft__scope scope, uint32_t turn)
{
    weft_job_pool *pool = worker->pool;
    /* relaxed: hints, which a worker sees at one of its next turns. What the owner waits for may be
     * background work, or come after it. */
    bool is_there = turn == BACKGROUND_TURN
                        ? at_load_rlx(&pool->x_is_awaited) != 0 && sees_background(worker, scope)
                        : at_load_rlx(&pool->x_injected[WEFT_JOB_CRITICAL]) != WEFT__JOB_NONE ||
                              at_load_rlx(&pool->x_injected[WEFT_JOB_NORMAL]) != WEFT__JOB_NONE;
    if (!is_there) return false;
    if (weft__pool_has_others(pool)) give_next(worker);
    if (turn == BACKGROUND_TURN) return run_background(worker, scope);
    return run_injected(worker, WEFT_JOB_CRITICAL) || run_injected(worker, WEFT_JOB_NORMAL);
}

bool weft__worker_run_one(weft_job_context *worker, weft__scope scope)
{
    WEFT_ASSERT(worker->depth == 0);
    if (scope == WEFT__SCOPE_LOOPS)
        return run_loop(worker, WEFT_JOB_CRITICAL) || run_loop(worker, WEFT_JOB_NORMAL);
    uint32_t turn = ++worker->pick % FAIRNESS_TURNS;
    bool is_turn = turn == 0 || turn == BACKGROUND_TURN;
    if (__builtin_expect(is_turn, 0) && run_in_turn(worker, scope, turn)) return true;
    uint32_t next = worker->next_job;
    if (next != WEFT__JOB_NONE) {
        worker->next_job = WEFT__JOB_NONE;
        return run_slot(worker, next);
    }
    if (run_own(worker, WEFT_JOB_CRITICAL) || run_loop(worker, WEFT_JOB_CRITICAL)) return true;
    if (run_own(worker, WEFT_JOB_NORMAL) || run_loop(worker, WEFT_JOB_NORMAL)) return true;
    if (run_injected(worker, WEFT_JOB_CRITICAL) || run_injected(worker, WEFT_JOB_NORMAL))
        return true;
    return run_stolen(worker) || run_background(worker, scope);
}

/* What run_one would look at before the own normal jobs. */
static inline bool has_first(const weft_job_context *worker)
{
    return worker->next_job != WEFT__JOB_NONE ||
           weft__deque_seems_filled_owner(&worker->deques[WEFT_JOB_CRITICAL]) ||
           weft__loop_is_open(&worker->pool->loops, WEFT_JOB_CRITICAL);
}

void weft__worker_run_own(weft_job_context *worker)
{
    weft__deque *deque = &worker->deques[WEFT_JOB_NORMAL];
    uint32_t turns = FAIRNESS_TURNS - 1 - worker->pick % FAIRNESS_TURNS, ran = 0;
    bool is_empty = weft__worker_is_frame_empty(worker) && !worker->is_searching;
    for (; is_empty && ran < turns && !has_first(worker); ran++) {
        weft__deque_item item = weft__deque_pop_owner(deque);
        if (__builtin_expect(item.fn != 0, 1))
            weft__worker_run_plain(worker, item, true);
        else if (!run_slot(worker, (uint32_t)item.argument))
            break;
    }
    worker->pick += ran;
}

bool weft__worker_sees_work(weft_job_context *worker, weft__scope scope)
{
    weft_job_pool *pool = worker->pool;
    for (uint32_t c = 0; c < WEFT_JOB_BACKGROUND; c++) {
        if (weft__loop_has_room(&pool->loops, (weft_job_class)c, worker->head.index)) return true;
        if (scope == WEFT__SCOPE_LOOPS) continue;
        if (at_load_sc(&pool->x_injected[c]) != WEFT__JOB_NONE) return true; /* P1, W1 */
    }
    if (scope == WEFT__SCOPE_LOOPS) return false;
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        weft_job_context *other = &pool->workers[i];
        if (weft__deque_has_items_any(&other->deques[WEFT_JOB_CRITICAL])) return true;
        if (weft__deque_has_items_any(&other->deques[WEFT_JOB_NORMAL])) return true;
        if (i == worker->head.index) continue;
        if (worker->head.index == 0 && weft__child_is_hosted_any(&other->children)) continue;
        if (weft__child_has_items_any(&other->children)) return true;
    }
    return sees_background(worker, scope);
}

/* ---- serving */

/* One call of weft__worker_serve. Owner: that call, on its stack. */
typedef struct service {
    weft_job_context *worker;
    weft__scope scope;
    bool (*is_over)(void *);
    void *argument;
} service;

/* The last look before sleeping (W1). */
static bool has_reason_to_stay(void *argument)
{
    const service *self = argument;
    if (self->is_over(self->argument) || weft__worker_sees_work(self->worker, self->scope))
        return true;
    pass_on_hosted(self->worker);
    if (!self->worker->is_searching) wake_drainer(self->worker);
    return false;
}

void weft__worker_serve(weft_job_context *worker, weft__scope scope, bool (*is_over)(void *),
                        void *argument)
{
    service self = {worker, scope, is_over, argument};
    weft__spin spin = {0};
    while (!is_over(argument)) {
        if (weft__worker_run_one(worker, scope)) {
            spin = (weft__spin){0};
            continue;
        }
        if (spin.begun == 0 && scope != WEFT__SCOPE_LOOPS) begin_search(worker);
        bool may_spin = worker->is_searching || scope != WEFT__SCOPE_WORKER;
        if (may_spin && weft__worker_spin(worker, &spin)) continue;
        weft__worker_note_park(worker);
        bool has_slept = weft__wake_sleep(&worker->pool->wake, worker->head.index,
                                          worker->is_searching, has_reason_to_stay, &self);
        worker->is_searching = true;
        weft__note(worker, WEFT_JOB_EVENT_UNPARK, NULL, 0);
        if (has_slept) weft__worker_pass_on(worker);
        if (scope == WEFT__SCOPE_LOOPS)
            end_search(worker); /* what it was woken for may be others' */
        spin = (weft__spin){0};
    }
    give_next(worker);
    end_search(worker);
}
