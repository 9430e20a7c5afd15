/* SPDX-License-Identifier: MIT */
/* explore_meet.c: bodies that wait for each other. The job layer promises more than that every
 * piece of work is run some time: while a worker is idle, work that is ready gets it. So as many
 * bodies as there are workers can meet. Where a wake-up or a second look is missing, the bodies
 * that have begun wait for one that no thread takes: a deadlock. (Children are not among them:
 * their parent runs what was not taken, see start_child in worker_child.c.) And background jobs,
 * which have a limit, get their turn. */
#include <weft/jobs.h>

#include "explore_desc.h"
#include "explore_plans.h"
#include "pool_state.h"

static weft_job_pool *pool;
static weft_job_context *owner;
static weft_a32 arrived;
static uint32_t expected;

static void start(uint32_t workers, uint32_t bodies)
{
    owner = explore_pool_create(&pool, workers, false, false);
    at_init(&arrived, 0);
    expected = bodies;
}

static void finish(void)
{
    EXPLORE_CHECK(at_load_acq(&arrived) == expected, "%u bodies ran", at_load_acq(&arrived));
    EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_OK, "destroy");
    explore_end();
}

/* Returns when all bodies have begun. */
static int meet(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    at_add_ar(&arrived, 1u);
    while (at_load_acq(&arrived) < expected) at_stall();
    return 0;
}

static int meet_in_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    while (begin++ < end) meet(job, argument);
    return 0;
}

static int nothing(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    return 0;
}

/* The owner runs one of them while it waits. */
static void jobs(uint32_t workers)
{
    start(workers, workers);
    explore_begin();
    weft_job_handle last = {0, 0};
    const weft_job_desc desc = {.fn = meet};
    for (uint32_t i = 0; i < workers; i++)
        EXPLORE_CHECK(weft_job_submit(owner, &desc, &last) == WEFT_OK, "submit");
    EXPLORE_CHECK(weft_job_wait(owner, last, NULL) == WEFT_OK, "wait");
    EXPLORE_CHECK(weft_job_wait_all(owner, NULL) == WEFT_OK, "wait_all");
    finish();
}

static void two_jobs(void)
{
    jobs(2);
}

static void three_jobs(void)
{
    jobs(3);
}

/* The end of one job makes two others ready: one goes on in place, the other is offered. */
static void successors(void)
{
    start(2, 2);
    explore_begin();
    weft_job_handle first, last = {0, 0};
    const weft_job_desc before = {.fn = nothing};
    EXPLORE_CHECK(weft_job_submit(owner, &before, &first) == WEFT_OK, "submit");
    const weft_job_desc desc = {.fn = meet, .after = &first, .after_count = 1};
    for (uint32_t i = 0; i < 2; i++)
        EXPLORE_CHECK(weft_job_submit(owner, &desc, &last) == WEFT_OK, "submit");
    EXPLORE_CHECK(weft_job_wait(owner, first, NULL) == WEFT_OK, "wait");
    EXPLORE_CHECK(weft_job_wait(owner, last, NULL) == WEFT_OK, "wait");
    EXPLORE_CHECK(weft_job_wait_all(owner, NULL) == WEFT_OK, "wait_all");
    finish();
}

/* The owner has waited for what it wanted; a job that became ready with it is the workers' then. */
static void left_behind(void)
{
    start(2, 1);
    explore_begin();
    weft_job_handle first, second;
    const weft_job_desc before = {.fn = nothing};
    EXPLORE_CHECK(weft_job_submit(owner, &before, &first) == WEFT_OK, "submit");
    const weft_job_desc desc = {.fn = meet, .after = &first, .after_count = 1};
    EXPLORE_CHECK(weft_job_submit(owner, &desc, &second) == WEFT_OK, "submit");
    EXPLORE_CHECK(weft_job_wait(owner, first, NULL) == WEFT_OK, "wait");
    while (!weft_job_is_done(pool, second)) at_stall(); /* the owner does something else */
    finish();
}

/* One background job at a time on two workers: each gets its turn. */
static weft_a32 inside;

static int alone(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    EXPLORE_CHECK(at_add_ar(&inside, 1u) == 0, "more background jobs than the limit");
    at_sub_ar(&inside, 1u);
    at_add_ar(&arrived, 1u);
    return 0;
}

static void in_turn(void)
{
    start(3, 2);
    at_init(&inside, 0);
    explore_begin();
    weft_job_handle both[2];
    const weft_job_desc desc = {.fn = alone, .class_ = WEFT_JOB_BACKGROUND};
    for (uint32_t i = 0; i < 2; i++)
        EXPLORE_CHECK(weft_job_submit(owner, &desc, &both[i]) == WEFT_OK, "submit");
    for (uint32_t i = 0; i < 2; i++)
        EXPLORE_CHECK(weft_job_wait(owner, both[i], NULL) == WEFT_OK, "wait");
    finish();
}

static void loop_of(uint32_t workers)
{
    start(workers, workers);
    explore_begin();
    const weft_job_for_desc loop = {.fn = meet_in_part, .count = workers, .grain = 1};
    EXPLORE_CHECK(weft_job_for(owner, &loop, NULL) == WEFT_OK, "loop");
    finish();
}

static void two_items(void)
{
    loop_of(2);
}

static void three_items(void)
{
    loop_of(3);
}

/* Node 0, then as many that meet as there are workers. The opener may be the one that waits. */
static void graph_of(uint32_t workers)
{
    weft_job_graph *graph;
    weft_job_graph_node nodes[4] = {{nothing, NULL, NULL}};
    const uint32_t edges[3][2] = {{0, 1}, {0, 2}, {0, 3}};
    for (uint32_t i = 1; i <= workers; i++) nodes[i].fn = meet;
    const weft_job_graph_desc desc = {nodes, workers + 1, workers, edges};
    start(workers, workers);
    EXPLORE_CHECK(weft_job_graph_create(pool, &desc, &graph) == WEFT_OK, "graph");
    explore_begin();
    EXPLORE_CHECK(weft_job_graph_run(owner, graph, NULL) == WEFT_OK, "run");
    finish();
}

static void two_nodes(void)
{
    graph_of(2);
}

static void three_nodes(void)
{
    graph_of(3);
}

static int loop_of_two(weft_job_context *job, void *argument)
{
    const weft_job_for_desc loop = {.fn = meet_in_part, .count = 2, .grain = 1};
    (void)argument;
    EXPLORE_CHECK(weft_job_for(job, &loop, NULL) == WEFT_OK, "loop");
    return 0;
}

/* A shared graph on the owner and a worker: `first`, then `second` for the owner only and `third`.
 * The worker may be the one that runs `first`, while the owner waits. */
static void shared_graph(weft_job_fn second, bool on_caller, weft_job_fn third)
{
    weft_job_graph *graph;
    const weft_job_graph_node nodes[3] = {
        {.fn = nothing}, {.fn = second, .on_caller = on_caller}, {.fn = third}};
    const uint32_t edges[2][2] = {{0, 1}, {0, 2}};
    const weft_job_graph_desc desc = {nodes, 3, 2, edges, true};
    start(2, 2);
    EXPLORE_CHECK(weft_job_graph_create(pool, &desc, &graph) == WEFT_OK, "graph");
    explore_begin();
    EXPLORE_CHECK(weft_job_graph_run(owner, graph, NULL) == WEFT_OK, "run");
    finish();
}

static void owners_node(void)
{
    shared_graph(meet, true, meet);
}

static void loop_in_node(void)
{
    shared_graph(nothing, true, loop_of_two);
}

#define MOST(runs)                                                                                 \
    PLAN_PCT(EXPLORE_TSO, 4, runs, 1000000), PLAN_PCT(EXPLORE_C11, 4, runs, 1000000),              \
        PLAN_RANDOM(EXPLORE_TSO, runs, 1000000)
#define ALL PLAN_ALL(EXPLORE_SC, 1, 0), PLAN_ALL_DEEP(EXPLORE_SC, 2, 0)

const explore_scenario explore_scenarios[] = {
    {"meet_two_jobs", two_jobs, {ALL, MOST(4000)}, NULL},
    {"meet_three_jobs", three_jobs, {MOST(4000)}, NULL},
    {"meet_successors", successors, {ALL, MOST(4000)}, NULL},
    {"meet_left_behind", left_behind, {ALL, MOST(4000)}, NULL},
    {"meet_in_turn", in_turn, {MOST(4000)}, NULL},
    {"meet_two_items", two_items, {ALL, MOST(4000)}, NULL},
    {"meet_three_items", three_items, {MOST(4000)}, NULL},
    {"meet_two_nodes", two_nodes, {ALL, MOST(8000)}, NULL},
    {"meet_owners_node", owners_node, {ALL, MOST(8000)}, NULL},
    {"meet_loop_in_node", loop_in_node, {ALL, MOST(8000)}, NULL},
    {"meet_three_nodes", three_nodes, {MOST(4000), PLAN_RANDOM(EXPLORE_C11, 30000, 3000000)}, NULL},
    {NULL, NULL, {{0}}, NULL},
};
