/* SPDX-License-Identifier: MIT */
/* explore_failing.c: jobs and nodes of graphs that fail on whole pools: what comes behind them must
 * not run, wherever it is at that moment, and the code reaches who asks for it. */
#include <weft/jobs.h>

#include "explore_desc.h"
#include "explore_plans.h"
#include "pool_state.h"

static weft_job_pool *pool;
static weft_job_context *owner;

/* `is_counting`: the counts of submitted and completed jobs are explored, too. */
static void start(uint32_t workers, bool is_counting)
{
    owner = explore_pool_create(&pool, workers, false, is_counting);
}

static void finish(void)
{
    EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_OK, "destroy");
    explore_end();
}

static int fail(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    return 7;
}

static int must_not_run(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    explore_fail("it ran although what it waited for had failed");
}

/* Two jobs are put behind one that fails while it ends. */
static void successors(void)
{
    weft_job_handle first, behind[2];
    int code = 0;
    start(2, false);
    explore_begin();
    weft_job_desc desc = {.fn = fail}, after = {.fn = must_not_run};
    EXPLORE_CHECK(weft_job_submit(owner, &desc, &first) == WEFT_OK, "submit");
    after.after = &first;
    after.after_count = 1;
    for (uint32_t i = 0; i < 2; i++)
        EXPLORE_CHECK(weft_job_submit(owner, &after, &behind[i]) == WEFT_OK, "submit");
    for (uint32_t i = 0; i < 2; i++)
        EXPLORE_CHECK(weft_job_wait(owner, behind[i], NULL) == WEFT_CANCELLED, "not cancelled");
    EXPLORE_CHECK(weft_job_wait(owner, first, &code) == WEFT_JOB_FAILED && code == 7, "code %d",
                  code);
    finish();
}

/* The error of a job is there when wait_all returns. With a name or a handle it has a slot. */
static void wait_all_for(const char *name, weft_job_handle *handle)
{
    int code = 0;
    start(2, true);
    explore_begin();
    weft_job_desc desc = {.fn = fail, .name = name};
    EXPLORE_CHECK(weft_job_submit(owner, &desc, handle) == WEFT_OK, "submit");
    EXPLORE_CHECK(weft_job_wait_all(owner, &code) == WEFT_JOB_FAILED && code == 7, "code %d", code);
    EXPLORE_CHECK(weft_job_wait_all(owner, &code) == WEFT_OK, "the error was kept twice");
    finish();
}

static void plain(void)
{
    wait_all_for(NULL, NULL);
}

static void unnamed(void)
{
    wait_all_for("no handle", NULL);
}

static void named(void)
{
    weft_job_handle handle;
    wait_all_for(NULL, &handle);
}

/* A node fails: two behind it are skipped, also by workers that only wait for nodes. */
static void nodes(uint32_t workers)
{
    weft_job_graph *graph;
    weft_job_graph_node all[3] = {
        {fail, NULL, NULL}, {must_not_run, NULL, NULL}, {must_not_run, NULL, NULL}};
    const uint32_t edges[2][2] = {{0, 1}, {0, 2}};
    const weft_job_graph_desc desc = {all, 3, 2, edges};
    int code = 0;
    start(workers, false);
    EXPLORE_CHECK(weft_job_graph_create(pool, &desc, &graph) == WEFT_OK, "graph");
    explore_begin();
    EXPLORE_CHECK(weft_job_graph_run(owner, graph, &code) == WEFT_JOB_FAILED && code == 7,
                  "code %d", code);
    finish();
}

static void two_nodes(void)
{
    nodes(2);
}

static void three_nodes(void)
{
    nodes(3);
}

#define MOST(runs)                                                                                 \
    PLAN_PCT(EXPLORE_TSO, 4, runs, 1000000), PLAN_PCT(EXPLORE_C11, 4, runs, 1000000),              \
        PLAN_RANDOM(EXPLORE_TSO, runs, 1000000)
#define ALL PLAN_ALL(EXPLORE_SC, 1, 0), PLAN_ALL_DEEP(EXPLORE_SC, 2, 0)

const explore_scenario explore_scenarios[] = {
    {"failing_successors", successors, {ALL, MOST(6000)}, NULL},
    {"failing_unnamed",
     unnamed,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_PCT(EXPLORE_C11, 4, 4000, 1000000)},
     NULL},
    {"failing_plain",
     plain,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_PCT(EXPLORE_C11, 4, 4000, 1000000)},
     NULL},
    {"failing_named",
     named,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_PCT(EXPLORE_C11, 4, 4000, 1000000)},
     NULL},
    {"failing_two_nodes", two_nodes, {ALL, MOST(4000)}, NULL},
    {"failing_three_nodes", three_nodes, {MOST(4000)}, NULL},
    {NULL, NULL, {{0}}, NULL},
};
