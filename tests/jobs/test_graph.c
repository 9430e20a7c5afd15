/* SPDX-License-Identifier: MIT */
/* test_graph.c: compiling and running static graphs through the public interface. */
#include "check.h"
#include "memory_fault.h"
#include "os_fault.h"

#include <weft/jobs.h>

#include <criterion/criterion.h>

#include "atomic.h"
#include "pool_state.h"

enum { COUNT = 64 };
static weft_job_pool *pool;
static weft_job_context *owner;
static uint32_t when[COUNT]; /* the how-many-th node ran */
static weft_a32 clock_;      /* nodes run so far */
static weft_job_graph_node nodes[COUNT];

static int tick(weft_job_context *job, void *argument)
{
    (void)job;
    when[(uintptr_t)argument] = at_add_ar(&clock_, 1u) + 1;
    return 0;
}

static int fail(weft_job_context *job, void *argument)
{
    tick(job, argument);
    return 100 + (int)(uintptr_t)argument;
}

static void start_with(const weft_job_pool_desc *desc)
{
    CHECK_OK(weft_job_pool_create(desc, &pool));
    owner = weft_job_pool_owner(pool);
    for (uintptr_t i = 0; i < COUNT; i++) {
        nodes[i] = (weft_job_graph_node){.fn = tick, .argument = (void *)i};
        when[i] = 0;
    }
    at_init(&clock_, 0);
}

static void stop(void)
{
    CHECK_OK(weft_job_pool_destroy(pool));
}

TestSuite(graph, .fini = stop);

static weft_job_graph *compile(uint32_t count, const uint32_t (*edges)[2], uint32_t edge_count)
{
    const weft_job_graph_desc desc = {nodes, count, edge_count, edges};
    weft_job_graph *graph;
    CHECK_OK(weft_job_graph_create(pool, &desc, &graph));
    return graph;
}

static void forget(void)
{
    for (uint32_t i = 0; i < COUNT; i++) when[i] = 0;
    at_init(&clock_, 0);
}

/* Twice: measured, then known. */
static void check_diamond(void)
{
    static const uint32_t edges[][2] = {{3, 1}, {3, 2}, {1, 0}, {2, 0}};
    weft_job_graph *graph = compile(4, edges, 4);
    for (uint32_t run = 0; run < 20; run++) {
        CHECK_OK(weft_job_graph_run(owner, graph, NULL));
        CHECK_U64(when[3], 1);
        CHECK_U64(when[0], 4);
        CHECK_U64(when[1] + when[2], 5);
        forget();
    }
    CHECK_OK(weft_job_graph_destroy(graph));
}

Test(graph, nodes_run_after_their_predecessors_in_order)
{
    start_with(&(weft_job_pool_desc){.worker_count = 1});
    check_diamond();
}

Test(graph, nodes_run_after_their_predecessors_when_shared)
{
    start_with(&(weft_job_pool_desc){.worker_count = 4, .is_always_parallel = true});
    check_diamond();
    weft_job_stats stats;
    weft_job_stats_get(pool, &stats, sizeof stats);
    CHECK_U64(stats.graph_runs, 20);
    CHECK_U64(stats.graph_inlined, 0);
}

Test(graph, a_cycle_is_refused)
{
    static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 1}}, self[][2] = {{0, 0}};
    weft_job_graph *graph = (weft_job_graph *)1;
    start_with(&(weft_job_pool_desc){.worker_count = 1});
    const weft_job_graph_desc cycle = {nodes, 3, 3, edges}, loop = {nodes, 1, 1, self};
    CHECK_RESULT(weft_job_graph_create(pool, &cycle, &graph), WEFT_CYCLE);
    CHECK_POINTER(graph, NULL);
    CHECK_RESULT(weft_job_graph_create(pool, &loop, &graph), WEFT_CYCLE);
}

Test(graph, wrong_descriptors_are_refused)
{
    static const uint32_t edges[][2] = {{0, 9}};
    weft_job_graph *graph;
    start_with(&(weft_job_pool_desc){.worker_count = 1});
    weft_job_graph_node bad = {0};
    const weft_job_graph_desc wrong[] = {{nodes, 3, 1, edges},
                                         {nodes, 0, 0, NULL},
                                         {NULL, 3, 0, NULL},
                                         {nodes, 3, 1, NULL},
                                         {&bad, 1, 0, NULL}};
    for (uint32_t i = 0; i < 5; i++)
        CHECK_RESULT(weft_job_graph_create(pool, &wrong[i], &graph), WEFT_INVALID_ARGUMENT);
    const weft_job_graph_desc huge = {nodes, (1u << 20) + 1, 0, NULL};
    CHECK_RESULT(weft_job_graph_create(pool, &huge, &graph), WEFT_LIMIT);
    CHECK_RESULT(weft_job_graph_create(pool, NULL, &graph), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_graph_create(NULL, &wrong[0], &graph), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_graph_run(owner, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_job_graph_destroy(NULL));
}

static void check_failure(void)
{
    /* 0 -> 1 -> 2, 3 -> 4, 5 alone; 1 and 3 fail */
    static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {3, 4}};
    nodes[1].fn = nodes[3].fn = fail;
    weft_job_graph *graph = compile(6, edges, 3);
    for (uint32_t run = 0; run < 3; run++) {
        int code = 0;
        CHECK_RESULT(weft_job_graph_run(owner, graph, &code), WEFT_JOB_FAILED);
        CHECK_I64(code, 101);
        CHECK(when[0] != 0 && when[1] != 0 && when[3] != 0 && when[5] != 0);
        CHECK(when[2] == 0 && when[4] == 0);
        forget();
    }
    CHECK_OK(weft_job_graph_destroy(graph));
}

Test(graph, nodes_after_a_failed_one_are_skipped_in_order)
{
    start_with(&(weft_job_pool_desc){.worker_count = 1});
    check_failure();
}

Test(graph, nodes_after_a_failed_one_are_skipped_when_shared)
{
    start_with(&(weft_job_pool_desc){.worker_count = 3, .is_always_parallel = true});
    check_failure();
}

/* Runs the graph it belongs to. Owner: the test. */
static weft_job_graph *own;

static int run_again(weft_job_context *job, void *argument)
{
    (void)argument;
    CHECK_RESULT(weft_job_graph_run(job, own, NULL), WEFT_BUSY);
    CHECK_RESULT(weft_job_graph_destroy(own), WEFT_BUSY);
    return 0;
}

Test(graph, a_running_graph_is_busy)
{
    start_with(&(weft_job_pool_desc){.worker_count = 1});
    nodes[0].fn = run_again;
    own = compile(1, NULL, 0);
    CHECK_OK(weft_job_graph_run(owner, own, NULL));
}

Test(graph, graphs_left_over_die_with_the_pool_and_refused_memory_is_reported)
{
    static const uint32_t edges[][2] = {{0, 1}};
    test_memory memory;
    test_memory_init(&memory);
    start_with(&(weft_job_pool_desc){.worker_count = 1, .allocator = test_memory_hook(&memory)});
    compile(2, edges, 1);
    const weft_job_graph_desc desc = {nodes, 2, 1, edges};
    weft_result result = WEFT_OUT_OF_MEMORY;
    weft_job_graph *graph;
    for (uint64_t at = 1; result == WEFT_OUT_OF_MEMORY; at++) {
        uint64_t live = memory.live_blocks;
        test_memory_fail(&memory, at, false);
        result = weft_job_graph_create(pool, &desc, &graph);
        if (result != WEFT_OK) CHECK_U64(memory.live_blocks, live);
    }
    CHECK_OK(result);
    CHECK_OK(weft_job_pool_destroy(pool));
    test_memory_fini(&memory);
    start_with(&(weft_job_pool_desc){.worker_count = 1});
}

static uint64_t told_ns; /* what the clock says */

static uint64_t told_clock(void *user)
{
    (void)user;
    return told_ns;
}

/* Runs at `now` a graph that looks huge; whether it ran in order. */
static bool is_measured_at(uint64_t now, weft_job_graph *graph)
{
    weft_job_stats before, after;
    told_ns = now;
    weft__cost_forget(&graph->cost);
    weft__cost_learn(&graph->cost, pool->limits.awake_ticks * 60, COUNT);
    weft_job_stats_get(pool, &before, sizeof before);
    CHECK_OK(weft_job_graph_run(owner, graph, NULL));
    weft_job_stats_get(pool, &after, sizeof after);
    CHECK_U64(after.graph_runs, before.graph_runs + 1);
    return after.graph_inlined != before.graph_inlined;
}

/* A graph that looks huge seems to gain by every split, whatever it takes. On a told clock, and
 * worker 1 never comes. */
Test(graph, a_shared_graph_is_measured_in_order_now_and_then)
{
    const uint64_t period = WEFT__COST_CHECK_PERIOD;
    const uint32_t spin = 20000;
    test_os os;
    test_os_init(&os);
    os.table.clock_ns = told_clock;
    start_with(&(weft_job_pool_desc){
        .worker_count = 2, .is_host_driven = true, .spin_ns = spin, .os = &os.table});
    weft_job_graph *graph = compile(COUNT, NULL, 0);
    for (uint64_t at = period; at < 9 * period; at += period) {
        CHECK(!is_measured_at(at - 1, graph));
        CHECK(is_measured_at(at, graph));
        CHECK(is_measured_at(at + spin, graph)); /* a helper sleeps by then */
        CHECK(!is_measured_at(at + period / 64, graph));
    }
    CHECK_OK(weft_job_pool_destroy(pool));
    start_with(&(weft_job_pool_desc){.worker_count = 1});
}

/* Two paths from node 0: 1 - 2 - 3 is longer, 4 costs more. One worker runs them in rank order. */
Test(graph, costs_decide_what_comes_first)
{
    static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {0, 4}};
    start_with(&(weft_job_pool_desc){.worker_count = 1});
    CHECK_OK(weft_job_graph_run(owner, compile(5, edges, 4), NULL));
    CHECK(when[1] < when[4]);
    forget();
    for (uint32_t i = 0; i < 4; i++) nodes[i].cost_ns = 100;
    nodes[4].cost_ns = 1000;
    CHECK_OK(weft_job_graph_run(owner, compile(5, edges, 4), NULL));
    CHECK_U64(when[0], 1);
    CHECK_U64(when[4], 2);
    CHECK_U64(when[3], 5);
}

static weft_a32 elsewhere; /* nodes for the caller that another thread ran */

static int tick_on_caller(weft_job_context *job, void *argument)
{
    if (job != owner) at_add_ar(&elsewhere, 1u);
    return tick(job, argument);
}

static int loop_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    at_add_ar((weft_a32 *)argument, end - begin);
    return 0;
}

static weft_a32 parts;

static int tick_with_loop(weft_job_context *job, void *argument)
{
    const weft_job_for_desc loop = {.fn = loop_part, .argument = &parts, .count = 50, .grain = 1};
    CHECK_OK(weft_job_for(job, &loop, NULL));
    return tick(job, argument);
}

/* Odd nodes are for the caller; a third of the others run loops. Every node has two predecessors
 * at most, among the ten before it. */
Test(graph, nodes_for_the_caller_run_there_beside_loops)
{
    uint32_t edges[2 * COUNT][2], edge_count = 0;
    start_with(&(weft_job_pool_desc){.worker_count = 3, .is_always_parallel = true});
    at_init(&elsewhere, 0);
    at_init(&parts, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        nodes[i].fn = i % 2 != 0 ? tick_on_caller : i % 3 == 0 ? tick_with_loop : tick;
        nodes[i].on_caller = i % 2 != 0;
        for (uint32_t k = 0; k < 2 && i != 0; k++, edge_count++) {
            edges[edge_count][0] = i - 1 - (i * 7 + k * 3) % (i < 10 ? i : 10);
            edges[edge_count][1] = i;
        }
    }
    const weft_job_graph_desc desc = {nodes, COUNT, edge_count, (const uint32_t(*)[2])edges, true};
    weft_job_graph *graph;
    CHECK_OK(weft_job_graph_create(pool, &desc, &graph));
    for (uint32_t run = 1; run <= 200; run++) {
        CHECK_OK(weft_job_graph_run(owner, graph, NULL));
        CHECK_U64(at_load_rlx(&clock_), COUNT);        /* relaxed: alone */
        CHECK_U64(at_load_rlx(&parts), run * 11 * 50); /* relaxed: alone */
        for (uint32_t e = 0; e < edge_count; e++) CHECK(when[edges[e][0]] < when[edges[e][1]]);
        forget();
    }
    CHECK_U64(at_load_rlx(&elsewhere), 0); /* relaxed: alone */
}
