/* SPDX-License-Identifier: MIT */
/* worker.c: how a worker looks for work, in which order, and when it gives up and sleeps.
 *
 * Order: its continuation, critical jobs, its own jobs, open loops, injected jobs, other workers'
 * jobs and children, background work. Every 61st look begins with the injection lists, and while
 * the owner waits for a job another one with background work, so that a worker that feeds itself,
 * by continuations too, starves neither. The protocol of sleeping is in wake.h. */
#include "worker.h"
#include "label.h"
#include "park.h"
#include "split.h"
#include "worker_child.h"
#include "worker_job.h"
#include "worker_loop.h"

static void worker_run_nodes(weft_job_context *worker, weft__loop *loop);
static bool worker_sees_work(weft_job_context *worker, weft__scope scope);

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
    if (worker_sees_work(worker, WEFT__SCOPE_WORKER)) weft__worker_notify(worker);
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
        worker_run_nodes(worker, loop);
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

/* Whether a thread besides the owner serves the pool (P9). */
static inline bool pool_has_others(weft_job_pool *pool)
{
    if (!pool->is_host_driven) return pool->worker_count > 1;
    return at_load_sc(&pool->x_serving) != 0; /* P9 */
}

static bool run_background(weft_job_context *worker, weft__scope scope)
{
    if (scope == WEFT__SCOPE_WAIT && pool_has_others(worker->pool)) return false;
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
    if (scope == WEFT__SCOPE_WAIT && pool_has_others(pool)) return false; /* P9 */
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
    if (pool_has_others(pool)) give_next(worker);
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

/* Whether there is something to take: sequentially consistent, for the look before sleeping. */
static bool worker_sees_work(weft_job_context *worker, weft__scope scope)
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
    if (self->is_over(self->argument) || worker_sees_work(self->worker, self->scope)) return true;
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

/* ---- graphs ----
 *
 * One worker in rank order when the graph is predicted small, several over the loop table
 * otherwise. The protocol is in graph.h.
 *
 * An unknown graph measures itself: it begins in order, and what is left is shared as soon as it is
 * predicted to pay. The owner outside of jobs helps with loops while it waits for nodes of a shared
 * graph; inside a part of a loop it looks for nodes that only it runs when the part's body asks for
 * them (weft__worker_run_caller_nodes). */

/* One run as its opener sees it. Owner: the opener, on its stack. */
typedef struct graph_run {
    weft_job_graph *graph;
    uint32_t failed; /* lowest number of a failed node; NONE */
    int code;
    bool is_cancelled;
} graph_run;

static int run_body(weft_job_context *worker, const weft_job_graph_node *node, uint32_t number)
{
    worker->depth++;
    weft__note(worker, WEFT_JOB_EVENT_BEGIN, node->name, number);
    int code = weft__worker_call(worker, node->fn, node->argument);
    weft__note(worker, WEFT_JOB_EVENT_END, node->name, number);
    worker->depth--;
    return code;
}

/* Whether a predecessor of the node failed in this run. */
static bool is_poisoned(weft_job_graph *graph, uint32_t node)
{
    /* relaxed: written before the arrival that made the node ready (G1) */
    return at_load_rlx(&graph->x_poisoned[node]) == graph->run;
}

static void poison_successors(weft_job_graph *graph, uint32_t node)
{
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++)
        at_store_rlx(&graph->x_poisoned[graph->successors[i]],
                     graph->run); /* relaxed: G1 follows */
}

/* ---- one worker, in order */

static void run_in_order(weft_job_context *worker, graph_run *run, uint32_t begin, uint32_t end)
{
    weft_job_graph *graph = run->graph;
    for (uint32_t node = begin; node < end; node++) {
        if (worker->job != WEFT__JOB_NONE && weft_job_is_cancelled(worker))
            run->is_cancelled = true;
        bool is_skipped = run->failed != WEFT__GRAPH_NONE && is_poisoned(graph, node);
        int code = 0;
        if (!is_skipped && !run->is_cancelled)
            code = run_body(worker, &graph->nodes[node], graph->number[node]);
        if (code != 0 && graph->number[node] < run->failed) {
            run->failed = graph->number[node];
            run->code = code;
        }
        if (code != 0 || is_skipped) poison_successors(graph, node);
    }
}

/* ---- several workers */

static bool is_opener(const weft_job_context *worker, const weft__loop *loop)
{
    return worker->token == loop->token;
}

static void wake_opener(weft_job_context *worker, weft__loop *loop)
{
    if (loop->is_served) {
        if (weft__wake_one(&worker->pool->wake, 0)) weft__worker_count_wake(worker, 0); /* G6 */
        return;
    }
    /* sc, so that no worker sleeps while nodes are ready; a miss would cost a helper, not a
     * node: who published it claims it before it leaves. The same holds for all of G3 and G4. */
    if ((at_load_sc(&loop->x_left) & WEFT__LOOP_WAITING) == 0) return; /* G4 */
    if (!weft__loop_retract_wait(loop)) return;
    weft__wake_token_set(&worker->pool->wake, loop->token);
    weft__worker_count_wake(worker, loop->opener);
}

/* After publishing nodes, or hiding ones: offers the graph, wakes a sleeper or the opener. */
static void announce(weft_job_context *worker, weft__loop *loop)
{
    weft__loop_show(&worker->pool->loops, loop); /* G3 */
    weft__worker_notify(worker);
    if (!is_opener(worker, loop)) wake_opener(worker, loop);
}

/* Nodes that an arrival made ready, of one word of the bitmap. Owner: arrive_all. */
typedef struct batch {
    uint64_t mask;
    uint32_t word;
    bool has_published, has_own; /* nodes for all; for the opener */
} batch;

static void batch_publish(weft_job_graph *graph, batch *b)
{
    if (b->mask != 0) weft__graph_publish(graph, b->word, b->mask);
    b->mask = 0;
}

static void batch_add(weft_job_graph *graph, batch *b, uint32_t node)
{
    if (b->word != node / 64) batch_publish(graph, b);
    b->word = node / 64;
    b->mask |= UINT64_C(1) << (node % 64);
    if (weft__graph_is_on_caller(graph, node))
        b->has_own = true;
    else
        b->has_published = true;
}

/* Tells the successors; returns the ready one of the lowest rank, if the worker `keeps` one, and
 * publishes the others. Nodes that only the opener runs come first there, and never here. */
static uint32_t arrive_all(weft_job_context *worker, weft__loop *loop, uint32_t node, bool keeps)
{
    weft_job_graph *graph = loop->graph;
    uint32_t next = WEFT__GRAPH_NONE;
    batch b = {0};
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
        uint32_t ready = graph->successors[i];
        if (!weft__graph_arrive(graph, ready)) continue;
        if (!keeps || weft__graph_is_on_caller(graph, ready)) {
            batch_add(graph, &b, ready);
        } else if (next == WEFT__GRAPH_NONE || ready < next) { /* keep the lowest */
            if (next != WEFT__GRAPH_NONE) batch_add(graph, &b, next);
            next = ready;
        } else {
            batch_add(graph, &b, ready);
        }
    }
    batch_publish(graph, &b);
    if (b.has_published)
        announce(worker, loop);
    else if (b.has_own && !is_opener(worker, loop))
        wake_opener(worker, loop);
    if (b.has_own && next != WEFT__GRAPH_NONE && is_opener(worker, loop)) {
        b = (batch){0}; /* its own nodes come first: others may have this one */
        batch_add(graph, &b, next);
        batch_publish(graph, &b);
        announce(worker, loop);
        next = WEFT__GRAPH_NONE;
    }
    return next;
}

static uint32_t run_node(weft_job_context *worker, weft__loop *loop, uint32_t node, bool keeps)
{
    weft_job_graph *graph = loop->graph;
    bool is_skipped = is_poisoned(graph, node);
    int code = 0;
    /* relaxed: nodes begun meanwhile are allowed */
    if (worker->job != WEFT__JOB_NONE && weft_job_is_cancelled(worker))
        at_store_rlx(&loop->x_stop, 1u);
    bool is_stopped = at_load_rlx(&loop->x_stop) != 0; /* relaxed: as above */
    const weft__label *label = weft__label_beside(worker, loop);
    weft__labelled piece;
    if (__builtin_expect(label != NULL, 0)) weft__label_begin(worker, &piece, label);
    if (!is_skipped && !is_stopped)
        code = run_body(worker, &graph->nodes[node], graph->number[node]);
    if (__builtin_expect(label != NULL, 0)) weft__label_end(worker, &piece);
    if (code != 0) weft__loop_fail(loop, graph->number[node], code);
    if (code != 0 || is_skipped) poison_successors(graph, node);
    return arrive_all(worker, loop, node, keeps);
}

/* Runs what can be claimed; returns the number of nodes. */
static uint32_t run_ready(weft_job_context *worker, weft__loop *loop)
{
    uint32_t count = 0, node;
    while ((node = weft__graph_claim(loop->graph, is_opener(worker, loop))) != WEFT__GRAPH_NONE)
        for (; node != WEFT__GRAPH_NONE; count++) node = run_node(worker, loop, node, true);
    return count;
}

/* Takes part in a joined graph until no node is ready, and reports the nodes. */
static void worker_run_nodes(weft_job_context *worker, weft__loop *loop)
{
    weft_job_pool *pool = worker->pool;
    uint64_t begun = weft__ticks_now(&pool->ticks);
    uint32_t count = 0;
    for (;;) {
        count += run_ready(worker, loop);
        weft__loop_hide(&pool->loops, loop); /* G3 */
        /* Who looked for work while the graph was hidden may sleep by now, and who published the
         * nodes took that worker for a searcher that would find them: so show, and wake again. */
        if (!weft__graph_has_ready(loop->graph, is_opener(worker, loop))) break;
        announce(worker, loop);
    }
    weft__worker_report(worker, loop, count, begun);
}

void weft__worker_run_caller_nodes(weft_job_context *worker)
{
    weft__loop *loop = worker->graph_loop;
    if (__builtin_expect(loop == NULL, 1)) return;
    uint64_t begun = 0;
    uint32_t count = 0, node;
    while ((node = weft__graph_claim_own(loop->graph)) != WEFT__GRAPH_NONE) {
        if (count++ == 0) begun = weft__ticks_now(&worker->pool->ticks);
        run_node(worker, loop, node, false);
    }
    weft__worker_report(worker, loop, count, begun);
}

/* What the owner waits for. Owner: serve_graph, on its stack. */
static bool is_graph_due(void *argument)
{
    weft__loop *loop = argument;
    return weft__loop_is_finished_sc(loop) || weft__graph_has_ready(loop->graph, true); /* G6 */
}

/* The same for the owner outside of jobs: it helps with loops, which nodes may have opened. */
static void serve_graph(weft_job_context *worker, weft__loop *loop)
{
    while (!weft__loop_is_finished(loop)) {
        weft__worker_serve(worker, WEFT__SCOPE_LOOPS, is_graph_due, loop);
        if (weft__graph_has_ready(loop->graph, true)) worker_run_nodes(worker, loop);
    }
}

/* Waits until every node has run: claims what becomes ready, spins, then sleeps. */
static void await_graph(weft_job_context *worker, weft__loop *loop)
{
    weft__spin spin = {0};
    if (loop->is_served) serve_graph(worker, loop);
    while (!weft__loop_is_finished(loop)) {
        if (weft__graph_has_ready(loop->graph, true)) {
            worker_run_nodes(worker, loop);
            spin = (weft__spin){0};
            continue;
        }
        if (weft__worker_spin(worker, &spin)) continue;
        if (!weft__loop_announce_wait(loop)) return;
        bool has_more = weft__graph_has_ready(loop->graph, true); /* G4 */
        if (has_more && weft__loop_retract_wait(loop)) continue;
        weft__worker_await_token(worker);
        spin = (weft__spin){0};
    }
}

/* Shares the nodes from rank `done` on; false when no entry of the table is vacant. */
static bool run_shared(weft_job_context *worker, graph_run *run, uint32_t done)
{
    weft_job_pool *pool = worker->pool;
    weft_job_graph *graph = run->graph;
    weft__loop *loop = weft__loop_acquire(&pool->loops);
    if (loop == NULL) return false;
    uint32_t count = graph->node_count - done;
    loop->graph = graph;
    loop->class_ = WEFT_JOB_NORMAL;
    loop->limit = pool->worker_count - 1;
    weft__worker_fill_opener(worker, loop);
    loop->is_served = graph->is_shared && worker->depth == 0 && worker->head.index == 0 &&
                      worker->guest == 0 && worker->head.thread != 0;
    weft__loop *outer = worker->graph_loop;
    worker->graph_loop = loop;
    uint64_t predicted = weft__cost_predict(&graph->cost, count);
    bool is_alone = weft__worker_is_alone(worker, predicted);
    uint64_t opened = weft__ticks_now(&pool->ticks);
    weft__graph_begin(graph, done);
    weft__loop_open_graph(&pool->loops, loop, count);
    if (run->failed != WEFT__GRAPH_NONE) weft__loop_fail(loop, run->failed, run->code);
    weft__worker_notify(worker);
    worker_run_nodes(worker, loop);
    await_graph(worker, loop);
    worker->graph_loop = outer;
    uint64_t closed = weft__ticks_now(&pool->ticks);
    uint64_t busy = at_load_rlx(&loop->x_busy);          /* relaxed: L4 made it visible */
    uint64_t error = at_load_rlx(&loop->x_error);        /* relaxed: L4 made it visible */
    run->is_cancelled = at_load_rlx(&loop->x_stop) != 0; /* relaxed: L4 made it visible */
    weft__loop_close_sync(&pool->loops, loop, pool->os);
    if (error != UINT64_MAX) {
        run->failed = (uint32_t)(error >> 32);
        run->code = (int)(uint32_t)error;
    }
    if (run->is_cancelled || run->failed != WEFT__GRAPH_NONE) return true;
    if (graph->is_shared || is_alone) return true;
    /* what this very run began with says too little to judge by */
    const weft__cost_split split = {.is_short = weft__cost_is_short(predicted, &pool->limits),
                                    .predicted = done == 0 ? predicted : 0,
                                    .wall = closed - opened,
                                    .busy = busy,
                                    .now = closed,
                                    .count = count};
    weft__cost_learn_split(&graph->cost, &split);
    return true;
}

/* ---- the decision */

/* Runs in order, timed, in growing parts; an unknown graph is shared once it is known to pay. */
static void run_measured(weft_job_context *worker, graph_run *run, bool may_share)
{
    weft_job_graph *graph = run->graph;
    const weft__ticks *ticks = &worker->pool->ticks;
    uint64_t begun = weft__ticks_now(ticks), worked = 0;
    uint32_t done = 0, part = 1;
    while (done < graph->node_count) {
        uint32_t left = graph->node_count - done;
        uint32_t end = done + (left < part ? left : part);
        run_in_order(worker, run, done, end);
        done = end;
        part *= 2;
        worked = weft__ticks_now(ticks) - begun;
        uint64_t rest = worked * (graph->node_count - done) / done;
        if (done == graph->node_count || !may_share) continue;
        if (!weft__worker_pays_off(worker, &graph->cost, rest)) continue;
        weft__cost_learn(&graph->cost, worked, done);
        if (run_shared(worker, run, done)) return;
        may_share = false;
    }
    if (run->failed == WEFT__GRAPH_NONE && !run->is_cancelled)
        weft__cost_learn(&graph->cost, worked, done);
    weft__stat_add(&worker->stats.x_graph_inlined, 1);
}

static void run_small(weft_job_context *worker, graph_run *run, uint64_t predicted)
{
    weft_job_graph *graph = run->graph;
    weft_job_pool *pool = worker->pool;
    bool is_timed = weft__cost_is_timed(&graph->cost, predicted, pool->limits.awake_ticks);
    uint64_t begun = is_timed ? weft__ticks_now(&pool->ticks) : 0;
    run_in_order(worker, run, 0, graph->node_count);
    if (is_timed && run->failed == WEFT__GRAPH_NONE)
        weft__cost_learn(&graph->cost, weft__ticks_now(&pool->ticks) - begun, graph->node_count);
    weft__stat_add(&worker->stats.x_graph_inlined, 1);
}

static void run_graph(weft_job_context *worker, graph_run *run)
{
    weft_job_pool *pool = worker->pool;
    weft_job_graph *graph = run->graph;
    if (++graph->run == 0) graph->run = 1;
    uint64_t predicted = weft__cost_predict(&graph->cost, graph->node_count);
    bool may_share = pool->worker_count > 1 && graph->longest < graph->node_count;
    if (may_share && (pool->is_always_parallel || graph->is_shared)) {
        if (run_shared(worker, run, 0)) return;
    } else if (predicted != 0 && predicted < pool->limits.awake_ticks) {
        run_small(worker, run, predicted);
        return;
    } else if (may_share && predicted != 0 &&
               weft__worker_pays_off(worker, &graph->cost, predicted)) {
        if (run_shared(worker, run, 0)) return;
    }
    run_measured(worker, run, may_share && predicted == 0);
}

weft_result weft_job_graph_run(weft_job_context *worker, weft_job_graph *graph, int *code)
{
    if (worker == NULL || graph == NULL || graph->pool != worker->pool)
        return WEFT_INVALID_ARGUMENT;
    if (weft__pool_is_forked(worker->pool)) return WEFT_FORKED;
    if (weft_job_is_cancelled(worker)) return WEFT_CANCELLED;
    uint32_t idle = 0;
    if (!at_cas_ar(&graph->x_running, &idle, 1u)) return WEFT_BUSY; /* G5 */
    graph_run run = {.graph = graph, .failed = WEFT__GRAPH_NONE};
    run_graph(worker, &run);
    weft__stat_add(&worker->stats.x_graph_runs, 1);
    at_store_rel(&graph->x_running, 0u); /* G5 */
    if (run.failed != WEFT__GRAPH_NONE) {
        if (code != NULL) *code = run.code;
        return WEFT_JOB_FAILED;
    }
    return run.is_cancelled ? WEFT_CANCELLED : WEFT_OK;
}
