/* SPDX-License-Identifier: MIT */
/* explore_pool.c: the whole job layer: pools of two and three workers that submit, wait, split
 * loops, join children, run graphs and shut down. Too many steps to be exhaustive beyond a low
 * bound; most plans are PCT. The cost model is switched off (is_always_parallel), statistics are
 * ignored. */
#include <weft/jobs.h>

#include "explore_desc.h"
#include "explore_plans.h"
#include "pool_check.h"
#include "worker.h"

static weft_job_pool *pool;
static weft_job_context *owner;
static uint32_t output[8];

static void start_pool(uint32_t workers, bool is_host_driven, bool is_counting)
{
    owner = explore_pool_create(&pool, workers, is_host_driven, is_counting);
    for (uint32_t i = 0; i < 8; i++) output[i] = 0;
}

static void start(uint32_t workers)
{
    start_pool(workers, false, false);
}

/* Shutting down is explored, too. */
static void finish(void)
{
    explore_join_all();
    EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_OK, "destroy");
    explore_end();
}

static int write_output(weft_job_context *job, void *argument)
{
    uint32_t *out = argument;
    (void)job;
    EXPLORE_CHECK(*out == 0, "ran twice");
    *out = 1;
    return 0;
}

static weft_job_handle submit(uint32_t index, weft_job_handle after)
{
    weft_job_handle handle;
    weft_job_desc desc = {.fn = write_output,
                          .argument = &output[index],
                          .after = &after,
                          .after_count = after.generation ? 1 : 0};
    weft_result result = weft_job_submit(owner, &desc, &handle);
    EXPLORE_CHECK(result == WEFT_OK, "submit: %s", weft_result_name(result));
    return handle;
}

static void wait_for(weft_job_handle handle, uint32_t index)
{
    weft_result result = weft_job_wait(owner, handle, NULL);
    EXPLORE_CHECK(result == WEFT_OK, "wait: %s", weft_result_name(result));
    EXPLORE_CHECK(output[index] == 1, "waited, but %u has no output", index);
}

static void create_destroy(void)
{
    start(3);
    explore_begin();
    finish();
}

static void submit_wait(uint32_t workers)
{
    start(workers);
    explore_begin();
    weft_job_handle none = {0, 0}, a = submit(0, none), b = submit(1, a);
    wait_for(b, 1);
    EXPLORE_CHECK(output[0] == 1, "the predecessor has no output");
    wait_for(submit(2, b), 2);
    finish();
}

static void submit_two(void)
{
    submit_wait(2);
}

static void submit_three(void)
{
    submit_wait(3);
}

/* The second frame wakes as many sleepers as the first one used, each of them others; frames end
 * while they are still waking. */
static void frames(void)
{
    const weft_job_handle none = {0, 0};
    start(3);
    explore_begin();
    for (uint32_t first = 0; first < 4; first += 2) {
        weft_job_frame_begin(pool);
        weft_job_handle a = submit(first, none), b = submit(first + 1, none);
        wait_for(a, first);
        wait_for(b, first + 1);
        weft_job_frame_end(pool);
    }
    finish();
}

static int check_first(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    EXPLORE_CHECK(output[0] == 1 && output[1] == 1, "a predecessor has not run");
    output[2] = 1;
    return 0;
}

/* A job gets its predecessors while they end. */
static void depend(void)
{
    weft_job_handle none = {0, 0}, last;
    start(2);
    explore_begin();
    weft_job_handle a = submit(0, none), b = submit(1, none);
    weft_job_handle after[] = {a, b};
    weft_job_desc desc = {.fn = check_first, .after = after, .after_count = 2};
    EXPLORE_CHECK(weft_job_submit(owner, &desc, &last) == WEFT_OK, "submit");
    wait_for(last, 2);
    finish();
}

static int parent(weft_job_context *job, void *argument)
{
    uint32_t *out = argument;
    weft_job_child(job, write_output, out + 1);
    weft_job_child(job, write_output, out + 2);
    int code = weft_job_children_wait(job);
    EXPLORE_CHECK(out[1] == 1 && out[2] == 1, "joined, but a child has not run");
    return code;
}

static void children(void)
{
    start(2);
    explore_begin();
    weft_job_child(owner, parent, &output[0]);
    weft_job_child(owner, parent, &output[3]);
    EXPLORE_CHECK(weft_job_children_wait(owner) == 0, "a child failed");
    finish();
    for (uint32_t i = 0; i < 6; i++) {
        EXPLORE_CHECK(output[i] == (i % 3 ? 1u : 0u), "child %u", i);
    }
}

/* Helping with room for four children: the owner starts A and B, both are taken; while it waits for
 * B it helps with D, whose third child makes room by passing over A, so A's record is used again
 * before the owner has looked at it. */
static weft_a32 leaves;

static int leaf(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    at_add_rlx(&leaves, 1u);
    return 0;
}

static int node_d(weft_job_context *job, void *argument)
{
    for (int i = 0; i < 3; i++) weft_job_child(job, leaf, argument);
    return weft_job_children_wait(job);
}

static int node_b(weft_job_context *job, void *argument)
{
    weft_job_child(job, node_d, argument);
    return weft_job_children_wait(job);
}

static void help_overflow(uint32_t workers)
{
    start(workers);
    at_init(&leaves, 0);
    explore_begin();
    weft_job_child(owner, leaf, NULL);
    weft_job_child(owner, node_b, NULL);
    EXPLORE_CHECK(weft_job_children_wait(owner) == 0, "a child failed");
    finish();
    EXPLORE_CHECK(at_plain(&leaves) == 4, "%u leaves", at_plain(&leaves));
}

static void help_two(void)
{
    help_overflow(2);
}

static void help_three(void)
{
    help_overflow(3);
}

static int part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)argument;
    for (uint32_t i = begin; i < end; i++) write_output(job, &output[i]);
    return 0;
}

static void run_loops(uint32_t workers, uint32_t rounds)
{
    start(workers);
    explore_begin();
    for (uint32_t r = 0; r < rounds; r++) {
        weft_job_for_desc loop = {.fn = part, .count = 4, .grain = 1};
        for (uint32_t i = 0; i < 4; i++) output[i] = 0;
        EXPLORE_CHECK(weft_job_for(owner, &loop, NULL) == WEFT_OK, "loop");
        for (uint32_t i = 0; i < 4; i++) EXPLORE_CHECK(output[i] == 1, "item %u", i);
    }
    finish();
}

static void loop_two(void)
{
    run_loops(2, 2);
}

static void loop_three(void)
{
    run_loops(3, 1);
}

static int node(weft_job_context *job, void *argument)
{
    uint32_t n = (uint32_t)(uintptr_t)argument;
    (void)job;
    EXPLORE_CHECK(n == 0 || output[0] == 1, "node %u before node 0", n);
    EXPLORE_CHECK(n != 3 || (output[1] == 1 && output[2] == 1), "node 3 before 1 and 2");
    return write_output(job, &output[n]);
}

static void run_graph(uint32_t workers, uint32_t rounds)
{
    weft_job_graph *graph;
    weft_job_graph_node nodes[4] = {{node, (void *)0, NULL},
                                    {node, (void *)1, NULL},
                                    {node, (void *)2, NULL},
                                    {node, (void *)3, NULL}};
    const uint32_t edges[4][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    weft_job_graph_desc desc = {nodes, 4, 4, edges};
    start(workers);
    EXPLORE_CHECK(weft_job_graph_create(pool, &desc, &graph) == WEFT_OK, "graph");
    explore_begin();
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t i = 0; i < 4; i++) output[i] = 0;
        EXPLORE_CHECK(weft_job_graph_run(owner, graph, NULL) == WEFT_OK, "run");
        for (uint32_t i = 0; i < 4; i++) EXPLORE_CHECK(output[i] == 1, "node %u", i);
    }
    finish();
}

static void graph_two(void)
{
    run_graph(2, 2);
}

static void graph_three(void)
{
    run_graph(3, 2);
}

static int on_caller_node(weft_job_context *job, void *argument)
{
    EXPLORE_CHECK(job == owner, "a node for the caller ran on worker %u",
                  weft_job_worker_index(job));
    return node(job, argument);
}

static int write_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    uint32_t *const outputs = argument;
    for (uint32_t i = begin; i < end; i++) write_output(job, &outputs[i]);
    weft__worker_run_caller_nodes(job);
    return 0;
}

static int loop_node(weft_job_context *job, void *argument)
{
    weft_job_for_desc desc = {.fn = write_part, .argument = &output[4], .count = 2};
    EXPLORE_CHECK(weft_job_for(job, &desc, NULL) == WEFT_OK, "for");
    return node(job, argument);
}

/* After node 0 one for the caller, and one with a loop; then one more for the caller. */
static void run_frame_graph(uint32_t workers)
{
    weft_job_graph *graph;
    weft_job_graph_node nodes[4] = {
        {.fn = node, .argument = (void *)0},
        {.fn = on_caller_node, .argument = (void *)1, .on_caller = true},
        {.fn = loop_node, .argument = (void *)2, .cost_ns = 5},
        {.fn = on_caller_node, .argument = (void *)3, .on_caller = true}};
    const uint32_t edges[4][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    weft_job_graph_desc desc = {nodes, 4, 4, edges, true};
    start(workers);
    EXPLORE_CHECK(weft_job_graph_create(pool, &desc, &graph) == WEFT_OK, "graph");
    explore_begin();
    for (uint32_t r = 0; r < 2; r++) {
        for (uint32_t i = 0; i < 6; i++) output[i] = 0;
        EXPLORE_CHECK(weft_job_graph_run(owner, graph, NULL) == WEFT_OK, "run");
        for (uint32_t i = 0; i < 6; i++) EXPLORE_CHECK(output[i] == 1, "output %u", i);
    }
    finish();
}

static void frame_graph_two(void)
{
    run_frame_graph(2);
}

static void frame_graph_three(void)
{
    run_frame_graph(3);
}

static int run_shared_graph(weft_job_context *job, void *argument)
{
    weft_result result = weft_job_graph_run(job, argument, NULL);
    EXPLORE_CHECK(result == WEFT_OK || result == WEFT_BUSY, "run: %s", weft_result_name(result));
    return 0;
}

/* Two jobs run the same graph: one after the other, or one is told that it is busy. */
static void graph_from_jobs(void)
{
    weft_job_graph *graph;
    weft_job_graph_node nodes[2] = {{leaf, NULL, NULL}, {leaf, NULL, NULL}};
    weft_job_graph_desc desc = {.nodes = nodes, .node_count = 2};
    weft_job_handle handles[2];
    start(2);
    at_init(&leaves, 0);
    EXPLORE_CHECK(weft_job_graph_create(pool, &desc, &graph) == WEFT_OK, "graph");
    explore_begin();
    weft_job_desc job = {.fn = run_shared_graph, .argument = graph};
    for (uint32_t i = 0; i < 2; i++)
        EXPLORE_CHECK(weft_job_submit(owner, &job, &handles[i]) == WEFT_OK, "submit");
    for (uint32_t i = 0; i < 2; i++)
        EXPLORE_CHECK(weft_job_wait(owner, handles[i], NULL) == WEFT_OK, "wait");
    finish();
    uint32_t count = at_plain(&leaves);
    EXPLORE_CHECK(count == 2 || count == 4, "%u nodes have run", count);
}

/* A thread that is no worker injects a job while the owner may be asleep or leaving. */
static weft_job_class injected_class;

static void inject(void *argument)
{
    weft_job_desc desc = {.fn = write_output, .argument = argument, .class_ = injected_class};
    weft_job_handle handle;
    EXPLORE_CHECK(weft_job_inject(pool, &desc, &handle) == WEFT_OK, "inject");
    while (!weft_job_is_done(pool, handle)) at_stall(); /* a sleeping worker must be woken for it */
}

static void inject_as(weft_job_class class_)
{
    start(2);
    injected_class = class_;
    explore_thread(inject, &output[0]);
    explore_begin();
    weft_job_handle none = {0, 0};
    wait_for(submit(1, none), 1);
    explore_join_all();
    EXPLORE_CHECK(weft_job_wait_all(owner, NULL) == WEFT_OK, "wait_all");
    EXPLORE_CHECK(output[0] == 1, "the injected job did not run");
    finish();
}

static void injected(void)
{
    inject_as(WEFT_JOB_NORMAL);
}

static void injected_background(void)
{
    inject_as(WEFT_JOB_BACKGROUND);
}

static void inject_leaf(void *argument)
{
    weft_result result;
    (void)argument;
    while ((result = weft_job_inject(pool, &(weft_job_desc){.fn = leaf}, NULL)) == WEFT_POOL_FULL)
        at_stall();
    EXPLORE_CHECK(result == WEFT_OK, "inject: %s", weft_result_name(result));
}

/* A list of three jobs is taken while the first two that were moved run and end, and the slot of
 * the second, the only free one, is injected with the next job: its link is another then. */
static void injected_again(void)
{
    start(2);
    at_init(&leaves, 0);
    for (uint32_t i = 0; i < 3; i++) inject_leaf(NULL);
    while (weft__slots_take_any(&pool->table.slots) != WEFT__SLOTS_NONE) {
    }
    explore_thread(inject_leaf, NULL);
    explore_begin();
    while (at_load_acq(&leaves) < 4) {
        if (!weft__worker_run_one(owner, WEFT__SCOPE_WORKER)) at_stall();
    }
    EXPLORE_CHECK(weft_job_wait_all(owner, NULL) == WEFT_OK, "wait_all");
    finish();
}

static int meet(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    at_add_ar(&leaves, 1u);
    while (at_load_acq(&leaves) < 2) at_stall(); /* the other one must run beside it */
    return 0;
}

/* A worker takes a list of two jobs; the other, which looks while they are on the way into its
 * deque and sleeps, must be woken for the second. The owner does not help. */
static void injected_together(void)
{
    const weft_job_desc desc = {.fn = meet};
    start(3);
    at_init(&leaves, 0);
    for (uint32_t i = 0; i < 2; i++)
        EXPLORE_CHECK(weft_job_inject(pool, &desc, NULL) == WEFT_OK, "inject");
    explore_begin();
    while (at_load_acq(&leaves) < 2) at_stall();
    EXPLORE_CHECK(weft_job_wait_all(owner, NULL) == WEFT_OK, "wait_all");
    finish();
}

static weft_a32 is_inside;

static bool until_stopped(void *user)
{
    (void)user;
    at_store_rel(&is_inside, 1u);
    return false;
}

static void lend(void *argument)
{
    (void)argument;
    weft_result result = weft_job_worker_run(pool, 1, until_stopped, NULL);
    EXPLORE_CHECK(result == WEFT_OK, "worker_run: %s", weft_result_name(result));
}

/* A thread of the host works until the pool is destroyed, which waits for it to come back. */
static void lent(void)
{
    start_pool(2, true, false);
    at_init(&is_inside, 0);
    explore_thread(lend, NULL);
    explore_begin();
    while (at_load_acq(&is_inside) == 0) at_stall();
    weft_job_handle none = {0, 0};
    wait_for(submit(0, none), 0);
    EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_OK, "destroy");
    explore_join_all();
    explore_end();
}

static bool until_looked(void *user)
{
    return ++*(uint32_t *)user > 1;
}

static void lend_shortly(void *argument)
{
    uint32_t looks = 0;
    weft_result result;
    (void)argument;
    while ((result = weft_job_worker_run(pool, 1, until_looked, &looks)) == WEFT_BUSY) at_stall();
    EXPLORE_CHECK(result == WEFT_OK, "worker_run: %s", weft_result_name(result));
}

/* Two threads of the host are the same worker, one after the other. */
static void lent_in_turn(void)
{
    start_pool(2, true, false);
    explore_thread(lend_shortly, NULL);
    explore_thread(lend_shortly, NULL);
    explore_begin();
    weft_job_handle none = {0, 0};
    wait_for(submit(0, none), 0);
    finish();
}

/* Creation fails at a thread or an allocation: everything is undone. */
static void failing_create(void)
{
    weft_job_pool_desc desc = {.worker_count = 3,
                               .job_capacity = 4,
                               .child_capacity = 4,
                               .spin_ns = 1,
                               .allocator = *explore_allocator(),
                               .os = explore_os()};
    explore_begin();
    weft_result result = weft_job_pool_create(&desc, &pool);
    if (result == WEFT_OK)
        EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_OK, "destroy");
    else
        EXPLORE_CHECK(!pool, "failed, but there is a pool");
    explore_end();
}

#define MOST(runs)                                                                                 \
    PLAN_PCT(EXPLORE_TSO, 4, runs, 1000000), PLAN_PCT_FAULTS(EXPLORE_C11, 4, 1, runs, 1000000),    \
        PLAN_RANDOM(EXPLORE_TSO, runs, 1000000)

const explore_scenario explore_scenarios[] = {
    {"pool_create_destroy", create_destroy, {MOST(8000)}, NULL},
    {"pool_failing_create",
     failing_create,
     {PLAN_ALL_FAULTS(EXPLORE_SC, 0, 1), PLAN_PCT_FAULTS(EXPLORE_C11, 4, 1, 3000, 1000000)},
     NULL},
    {"pool_submit_two", submit_two, {PLAN_ALL(EXPLORE_SC, 1, 0), MOST(12000)}, NULL},
    {"pool_submit_three", submit_three, {MOST(8000)}, NULL},
    {"pool_frames", frames, {MOST(8000)}, NULL},
    {"pool_depend", depend, {MOST(12000)}, NULL},
    {"pool_children", children, {MOST(12000)}, NULL},
    {"pool_help_two", help_two, {PLAN_ALL(EXPLORE_SC, 2, 0), MOST(10000)}, NULL},
    {"pool_help_three", help_three, {MOST(10000)}, NULL},
    {"pool_loop_two", loop_two, {MOST(10000)}, NULL},
    {"pool_loop_three", loop_three, {MOST(8000)}, NULL},
    {"pool_graph_two", graph_two, {MOST(10000)}, NULL},
    {"pool_graph_three", graph_three, {MOST(8000)}, NULL},
    {"pool_frame_graph_two", frame_graph_two, {MOST(10000)}, NULL},
    {"pool_frame_graph_three", frame_graph_three, {MOST(8000)}, NULL},
    {"pool_injected", injected, {MOST(10000)}, NULL},
    {"pool_graph_from_jobs", graph_from_jobs, {MOST(10000)}, NULL},
    {"pool_background", injected_background, {MOST(10000)}, NULL},
    {"pool_injected_again", injected_again, {MOST(10000)}, NULL},
    {"pool_injected_together", injected_together, {MOST(10000)}, NULL},
    {"pool_lent", lent, {MOST(8000)}, NULL},
    {"pool_lent_in_turn", lent_in_turn, {MOST(8000)}, NULL},
    {NULL, NULL, {{0}}, NULL},
};
