/* SPDX-License-Identifier: MIT */
/* worker_graph.c: graphs on workers: one worker in rank order when the graph is predicted small,
 * several over the loop table otherwise. The protocol is in graph.h.
 *
 * An unknown graph measures itself: it begins in order, and what is left is shared as soon as it is
 * predicted to pay. The owner outside of jobs helps with loops while it waits for nodes of a shared
 * graph; inside a part of a loop it looks for nodes that only it runs when the part's body asks for
 * them (weft__worker_run_caller_nodes). */
#include "worker_graph.h"

#include "label.h"
#include "park.h"
#include "split.h"
#include "worker.h"
#include "worker_child.h"

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

void weft__worker_run_nodes(weft_job_context *worker, weft__loop *loop)
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
        if (weft__graph_has_ready(loop->graph, true)) weft__worker_run_nodes(worker, loop);
    }
}

/* Waits until every node has run: claims what becomes ready, spins, then sleeps. */
static void await_graph(weft_job_context *worker, weft__loop *loop)
{
    weft__spin spin = {0};
    if (loop->is_served) serve_graph(worker, loop);
    while (!weft__loop_is_finished(loop)) {
        if (weft__graph_has_ready(loop->graph, true)) {
            weft__worker_run_nodes(worker, loop);
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
    weft__worker_run_nodes(worker, loop);
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
