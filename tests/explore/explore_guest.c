/* SPDX-License-Identifier: MIT */
/* explore_guest.c: threads of the host. Those that are no workers run loops, children and graphs
 * over one pool, beside each other, the workers and the owner (guest.h); those that are lent are
 * woken and taken back (lease.c). Whole pools: most plans are PCT. Each guest's work keeps count of
 * who is inside by worker index: the same index twice, or the owner's thread in the work of a
 * guest, is a mistake. */
#include <weft/jobs.h>

#include <string.h>

#include "explore_desc.h"
#include "explore_plans.h"
#include "pool_state.h"

enum { OWNER = 0 }; /* the explorer's number of the thread that creates the pool */

/* The work of one guest. Owner: the scenario. */
typedef struct host {
    weft_job_graph *graph;
    weft_a32 x_inside[4]; /* [worker index] */
    uint32_t items[4];    /* plain: results must be visible to the guest */
} host;

static weft_job_pool *pool;
static weft_job_context *owner;
static host hosts[2];
static weft_a32 x_flag, x_second;

/* `is_counting`: the counts of submitted and completed jobs are explored, too. */
static bool is_counting;

static void start_pool(uint32_t workers, bool is_host_driven)
{
    owner = explore_pool_create(&pool, workers, is_host_driven, is_counting);
    for (uint32_t i = 0; i < 2; i++) hosts[i] = (host){0};
    at_init(&x_flag, 0);
    at_init(&x_second, 0);
}

static void start(uint32_t workers)
{
    start_pool(workers, false);
}

static void finish(void)
{
    explore_join_all();
    EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_OK, "destroy");
    explore_end();
}

static weft_job_context *enter(void)
{
    weft_job_context *job;
    weft_result result = weft_job_pool_enter(pool, &job);
    EXPLORE_CHECK(result == WEFT_OK, "enter: %s", weft_result_name(result));
    explore_ignore(&job->stats, sizeof job->stats);
    return job;
}

static void come_in(host *self, weft_job_context *job)
{
    uint32_t index = weft_job_worker_index(job);
    EXPLORE_CHECK(explore_self() != OWNER, "the owner works for a guest");
    EXPLORE_CHECK(at_xchg_ar(&self->x_inside[index], 1u) == 0, "index %u twice", index);
}

static void go_out(host *self, weft_job_context *job)
{
    at_store_rel(&self->x_inside[weft_job_worker_index(job)], 0u);
}

static void leave(weft_job_context *job)
{
    EXPLORE_CHECK(weft_job_pool_leave(job) == WEFT_OK, "leave");
}

/* ---- loops */

static int part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    host *self = argument;
    come_in(self, job);
    for (uint32_t i = begin; i < end; i++) self->items[i]++;
    go_out(self, job);
    return 0;
}

static void run_loop(void *argument)
{
    host *self = argument;
    weft_job_context *job = enter();
    weft_job_for_desc loop = {.fn = part, .argument = self, .count = 3, .grain = 1};
    EXPLORE_CHECK(weft_job_for(job, &loop, NULL) == WEFT_OK, "loop");
    for (uint32_t i = 0; i < 3; i++) EXPLORE_CHECK(self->items[i] == 1, "item %u", i);
    leave(job);
}

static int nothing(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    return 0;
}

static void submit_and_wait(weft_job_fn fn)
{
    weft_job_handle handle;
    EXPLORE_CHECK(weft_job_submit(owner, &(weft_job_desc){.fn = fn}, &handle) == WEFT_OK, "submit");
    EXPLORE_CHECK(weft_job_wait(owner, handle, NULL) == WEFT_OK, "wait");
}

/* Two hosts over one pool; the owner waits for jobs, where it looks for any work. */
static void two_hosts(void)
{
    start(2);
    explore_thread(run_loop, &hosts[0]);
    explore_thread(run_loop, &hosts[1]);
    explore_begin();
    submit_and_wait(nothing);
    finish();
}

/* ---- children of workers inside the loop of a guest */

static int leaf(weft_job_context *job, void *argument)
{
    host *self = argument;
    come_in(self, job);
    go_out(self, job);
    return 0;
}

static int parent(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    host *self = argument;
    for (uint32_t i = begin; i < end; i++) self->items[i]++;
    weft_job_child(job, leaf, self);
    weft_job_child(job, leaf, self);
    return weft_job_children_wait(job);
}

static void run_parents(void *argument)
{
    host *self = argument;
    weft_job_context *job = enter();
    weft_job_for_desc loop = {.fn = parent, .argument = self, .count = 2, .grain = 1};
    EXPLORE_CHECK(weft_job_for(job, &loop, NULL) == WEFT_OK, "loop");
    EXPLORE_CHECK(self->items[0] == 1 && self->items[1] == 1, "items");
    leave(job);
}

static int own_parent(weft_job_context *job, void *argument)
{
    (void)argument;
    weft_job_child(job, nothing, NULL);
    return weft_job_children_wait(job);
}

static void hosted_children(void)
{
    start(3);
    explore_thread(run_parents, &hosts[0]);
    explore_begin();
    submit_and_wait(own_parent);
    finish();
}

/* ---- loops of workers inside the loop of a guest */

static int until_met(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    while (at_load_acq(&x_flag) == 0) at_stall();
    return 0;
}

static int outer_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    host *self = argument;
    weft_job_for_desc inner = {.fn = part, .argument = self, .count = 2, .grain = 1};
    if (begin > 0 || end == begin || weft_job_worker_index(job) == 0) return 0;
    return (int)weft_job_for(job, &inner, NULL);
}

static void run_outer(void *argument)
{
    weft_job_context *job = enter();
    weft_job_for_desc loop = {.fn = outer_part, .argument = argument, .count = 2, .grain = 1};
    EXPLORE_CHECK(weft_job_for(job, &loop, NULL) == WEFT_OK, "loop");
    at_store_rel(&x_flag, 1u);
    leave(job);
}

/* The owner waits for a job on a worker that lasts as long as the loops. */
static void hosted_loops(void)
{
    start(3);
    explore_thread(run_outer, &hosts[0]);
    explore_begin();
    submit_and_wait(until_met);
    finish();
}

/* ---- graphs */

static int node(weft_job_context *job, void *argument)
{
    return leaf(job, argument);
}

static int last_node(weft_job_context *job, void *argument)
{
    host *self = argument;
    come_in(self, job);
    self->items[0]++;
    go_out(self, job);
    return 0;
}

static void run_graph(void *argument)
{
    host *self = argument;
    weft_job_context *job = enter();
    EXPLORE_CHECK(weft_job_graph_run(job, self->graph, NULL) == WEFT_OK, "graph");
    EXPLORE_CHECK(self->items[0] == 1, "the last node has not run");
    leave(job);
}

static void graphs(void)
{
    const uint32_t edges[2][2] = {{0, 2}, {1, 2}};
    start(2);
    for (uint32_t i = 0; i < 2; i++) {
        weft_job_graph_node nodes[3] = {
            {node, &hosts[i], NULL}, {node, &hosts[i], NULL}, {last_node, &hosts[i], NULL}};
        weft_job_graph_desc desc = {nodes, 3, 2, edges};
        EXPLORE_CHECK(weft_job_graph_create(pool, &desc, &hosts[i].graph) == WEFT_OK, "create");
        explore_thread(run_graph, &hosts[i]);
    }
    explore_begin();
    finish();
}

/* ---- numbers */

static void enter_and_leave(void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < 2; i++) {
        weft_job_context *job = enter();
        weft_job_child(job, nothing, NULL); /* writes the guest's plain fields */
        leave(job);
    }
}

/* Numbers go from guest to guest while the owner tries to destroy the pool. */
static void numbers(void)
{
    start(1);
    explore_thread(enter_and_leave, NULL);
    explore_thread(enter_and_leave, NULL);
    explore_begin();
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_OK, "destroy");
}

static void enter_once(void *argument)
{
    (void)argument;
    weft_job_context *job = enter();
    at_store_rel(&x_flag, 1u);
    leave(job);
}

/* The rows of a trace: numbers, and the writer's side of their rings, go from thread to thread,
 * while the owner reads. All threads have one number of the system here, so that they want one
 * row. */
static void mark_twice(void *argument)
{
    for (uint32_t i = 0; i < 2; i++) {
        weft_job_context *job = enter();
        EXPLORE_CHECK(at_add_ar(&((host *)argument)->x_inside[job->guest], 1u) == 0, "two in one");
        weft_job_trace_mark(job, "here", 7);
        at_sub_ar(&((host *)argument)->x_inside[job->guest], 1u);
        leave(job);
    }
}

static uint32_t read_guests(void)
{
    weft_job_event event;
    uint32_t count = 0;
    for (uint32_t row = 1; row < 3; row++)
        while (weft_job_trace_take(pool, row, &event, 1, NULL) != 0) {
            EXPLORE_CHECK(event.value == 7 && event.worker == row, "an event of row %u", row);
            count++;
        }
    return count;
}

static void traces(void)
{
    weft_job_pool_desc desc = explore_pool_desc(1);
    desc.trace_capacity = 8;
    hosts[0] = (host){0};
    EXPLORE_CHECK(weft_job_pool_create(&desc, &pool) == WEFT_OK, "create");
    explore_ignore(&pool->workers[0].stats, sizeof pool->workers[0].stats);
    explore_thread(mark_twice, &hosts[0]);
    explore_thread(mark_twice, &hosts[0]);
    explore_begin();
    uint32_t count = read_guests();
    explore_join_all();
    count += read_guests();
    EXPLORE_CHECK(count == 4, "%u events of 4", count);
    finish();
}

/* The owner reads the counters of guests while one is made. */
static void statistics(void)
{
    weft_job_stats stats;
    start(1);
    explore_thread(enter_once, NULL);
    explore_begin();
    weft_job_stats_get(pool, &stats, sizeof stats);
    finish();
}

static void leave_and_destroy(void)
{
    weft_result result;
    start(1);
    explore_thread(enter_once, NULL);
    explore_begin();
    while (at_load_acq(&x_flag) == 0) at_stall();
    while ((result = weft_job_pool_destroy(pool)) == WEFT_BUSY) at_stall();
    EXPLORE_CHECK(result == WEFT_OK, "destroy: %s", weft_result_name(result));
    explore_join_all();
    explore_end();
}

/* ---- jobs that a guest leaves behind */

static weft_job_handle left_job;

static int raise_second(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    at_store_rel(&x_second, 1u);
    return 0;
}

static void submit_and_leave(void *argument)
{
    (void)argument;
    weft_job_context *job = enter();
    weft_job_desc desc = {.fn = raise_second};
    EXPLORE_CHECK(weft_job_submit(job, &desc, &left_job) == WEFT_OK, "submit");
    leave(job);
    at_store_rel(&x_flag, 1u);
}

static void start_leaving(void)
{
    is_counting = true;
    start(2);
    is_counting = false;
    explore_thread(submit_and_leave, NULL);
    explore_begin();
    while (at_load_acq(&x_flag) == 0) at_stall();
}

/* The job has ended, but may not be counted, and its worker may still search: not pending. */
static void left_job_has_ended(void)
{
    start_leaving();
    while (!weft_job_is_done(pool, left_job)) at_stall();
    finish();
}

/* BUSY as long as it has not ended, also when its function has returned; then never more. */
static void left_job_is_pending(void)
{
    weft_result result;
    start_leaving();
    while ((result = weft_job_pool_destroy(pool)) == WEFT_BUSY) {
        EXPLORE_CHECK(strstr(weft_job_pool_error(pool)->text, "pending") != NULL,
                      "not for the job");
        at_stall();
    }
    EXPLORE_CHECK(result == WEFT_OK, "destroy: %s", weft_result_name(result));
    EXPLORE_CHECK(at_load_acq(&x_second) == 1, "the job was lost");
    explore_join_all();
    explore_end();
}

/* What was submitted before the guest left is among what wait_all waits for. */
static void left_job_is_waited_for(void)
{
    start_leaving();
    EXPLORE_CHECK(weft_job_wait_all(owner, NULL) == WEFT_OK, "wait_all");
    EXPLORE_CHECK(at_load_acq(&x_second) == 1, "the job was not waited for");
    finish();
}

/* ---- wake-ups: both items of a loop must run at the same time */

static int meet(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    host *self = argument;
    EXPLORE_CHECK(end == begin + 1, "parts of one item");
    come_in(self, job);
    at_add_ar(&x_second, 1u);
    while (at_load_acq(&x_second) < 2) at_stall();
    go_out(self, job);
    return 0;
}

static void run_meeting(void *argument)
{
    weft_job_context *job = enter();
    weft_job_for_desc loop = {.fn = meet, .argument = argument, .count = 2, .grain = 1};
    EXPLORE_CHECK(weft_job_for(job, &loop, NULL) == WEFT_OK, "loop");
    at_store_rel(&x_flag, 1u);
    leave(job);
}

/* While the owner, which may not help, searches or sleeps in a wait, a worker is woken. */
static void woken_for_a_guest(void)
{
    start(3);
    explore_thread(run_meeting, &hosts[0]);
    explore_begin();
    submit_and_wait(until_met);
    finish();
}

/* ---- lent threads */

/* A thread of the host that only asks what the scenario says. */
static weft_a32 is_inside, may_go;

static bool until_may_go(void *user)
{
    (void)user;
    at_store_rel(&is_inside, 1u);
    return at_load_rlx(&may_go) != 0; /* relaxed: weft_job_pool_wake orders it */
}

static void lend_until_may_go(void *argument)
{
    (void)argument;
    weft_result result = weft_job_worker_run(pool, 1, until_may_go, NULL);
    EXPLORE_CHECK(result == WEFT_OK, "worker_run: %s", weft_result_name(result));
}

static void start_lending(void)
{
    start_pool(2, true);
    at_init(&is_inside, 0);
    at_init(&may_go, 0);
    explore_thread(lend_until_may_go, NULL);
    explore_begin();
    while (at_load_acq(&is_inside) == 0) at_stall();
}

/* It may sleep, or be about to: the wake-up makes it ask again. */
static void lent_woken(void)
{
    start_lending();
    at_store_rlx(&may_go, 1u); /* relaxed: the wake orders it */
    weft_job_pool_wake(pool);
    finish();
}

/* The same for a recall, with a job that it may have taken, run or left. */
static void lent_recalled(void)
{
    start_lending();
    weft_job_handle last;
    weft_job_desc desc = {.fn = nothing};
    EXPLORE_CHECK(weft_job_submit(owner, &desc, &last) == WEFT_OK, "submit");
    EXPLORE_CHECK(weft_job_worker_recall(pool, 1) == WEFT_OK, "recall");
    explore_join_all();
    EXPLORE_CHECK(weft_job_worker_recall(pool, 1) == WEFT_NOT_FOUND, "recall again");
    EXPLORE_CHECK(weft_job_wait(owner, last, NULL) == WEFT_OK, "wait");
    finish();
}

static void recall_it(void *argument)
{
    (void)argument;
    weft_result result = weft_job_worker_recall(pool, 1);
    EXPLORE_CHECK(result == WEFT_OK, "recall: %s", weft_result_name(result));
}

/* The owner waits for a background job, which it leaves to the lent thread until that has left. */
static void lent_leaves_background(void)
{
    start_lending();
    explore_thread(recall_it, NULL);
    weft_job_desc desc = {.fn = nothing, .class_ = WEFT_JOB_BACKGROUND};
    weft_job_handle handle;
    EXPLORE_CHECK(weft_job_submit(owner, &desc, &handle) == WEFT_OK, "submit");
    EXPLORE_CHECK(weft_job_wait(owner, handle, NULL) == WEFT_OK, "wait");
    finish();
}

static void until_not_busy(void *argument)
{
    weft_result result;
    (void)argument;
    while ((result = weft_job_worker_run(pool, 1, until_may_go, NULL)) == WEFT_BUSY) at_stall();
    EXPLORE_CHECK(result == WEFT_OK, "worker_run: %s", weft_result_name(result));
}

/* The fields of a worker go from one thread to the next. */
static void lent_in_turn(void)
{
    start_pool(2, true);
    at_init(&is_inside, 0);
    at_init(&may_go, 1);
    explore_thread(until_not_busy, NULL);
    explore_thread(until_not_busy, NULL);
    explore_begin();
    finish();
}

/* The end of the pool takes its threads back, and waits until they have left it. */
static void lent_until_the_end(void)
{
    start_lending();
    EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_OK, "destroy");
    explore_join_all();
    explore_end();
}

#define MOST(runs)                                                                                 \
    PLAN_PCT(EXPLORE_TSO, 4, runs, 1000000), PLAN_PCT(EXPLORE_C11, 4, runs, 1000000),              \
        PLAN_RANDOM(EXPLORE_TSO, runs, 1000000)

const explore_scenario explore_scenarios[] = {
    {"guest_two_hosts", two_hosts, {PLAN_ALL(EXPLORE_SC, 1, 0), MOST(8000)}, NULL},
    {"guest_hosted_children", hosted_children, {MOST(10000)}, NULL},
    {"guest_hosted_loops", hosted_loops, {MOST(10000)}, NULL},
    {"guest_graphs", graphs, {MOST(6000)}, NULL},
    {"guest_numbers", numbers, {PLAN_ALL(EXPLORE_SC, 2, 0), MOST(6000)}, NULL},
    {"guest_traces", traces, {PLAN_ALL(EXPLORE_SC, 1, 0), MOST(3000)}, NULL},
    {"guest_statistics", statistics, {PLAN_ALL(EXPLORE_SC, 2, 0), MOST(3000)}, NULL},
    {"guest_leave_and_destroy", leave_and_destroy, {PLAN_ALL(EXPLORE_SC, 2, 0), MOST(3000)}, NULL},
    {"guest_left_job_ended",
     left_job_has_ended,
     {PLAN_ALL(EXPLORE_SC, 1, 0), MOST(6000), PLAN_ALL_DEEP(EXPLORE_SC, 2, 0)},
     NULL},
    {"guest_left_job_pending", left_job_is_pending, {PLAN_ALL(EXPLORE_SC, 1, 0), MOST(6000)}, NULL},
    {"guest_left_job_waited",
     left_job_is_waited_for,
     {PLAN_ALL(EXPLORE_SC, 1, 0), MOST(6000)},
     NULL},
    {"guest_woken_for", woken_for_a_guest, {MOST(10000)}, NULL},
    {"lent_woken", lent_woken, {PLAN_ALL(EXPLORE_SC, 2, 0), MOST(8000)}, NULL},
    {"lent_in_turn", lent_in_turn, {PLAN_ALL(EXPLORE_SC, 1, 0), MOST(6000)}, NULL},
    {"lent_until_the_end", lent_until_the_end, {PLAN_ALL(EXPLORE_SC, 1, 0), MOST(6000)}, NULL},
    {"lent_recalled", lent_recalled, {PLAN_ALL(EXPLORE_SC, 1, 0), MOST(8000)}, NULL},
    {"lent_leaves_background", lent_leaves_background, {MOST(10000)}, NULL},
    {NULL, NULL, {{0}}, NULL},
};
