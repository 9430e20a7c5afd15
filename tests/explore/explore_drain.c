/* SPDX-License-Identifier: MIT */
/* explore_drain.c: waiting for all jobs (weft_job_wait_all): the counts, the owner that sleeps
 * while other workers run the last jobs (P10 of pool_state.h); and plain jobs, which only the
 * counts show. */
#include <weft/jobs.h>

#include "explore_desc.h"
#include "explore_plans.h"
#include "pool_check.h"

static weft_job_pool *pool;
static weft_job_context *owner;
static uint32_t output[2];
static weft_a32 leaves;

static void start_pool(uint32_t workers, bool is_host_driven, bool is_counting)
{
    owner = explore_pool_create(&pool, workers, is_host_driven, is_counting);
    for (uint32_t i = 0; i < 2; i++) output[i] = 0;
}

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

static int leaf(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    at_add_rlx(&leaves, 1u);
    return 0;
}

static int submit_another(weft_job_context *job, void *argument)
{
    weft_job_desc desc = {.fn = write_output, .argument = argument};
    EXPLORE_CHECK(weft_job_submit(job, &desc, NULL) == WEFT_OK, "submit in a job");
    return write_output(job, &output[0]);
}

/* Counts of other workers: a job that ended there has submitted one more. */
static void wait_for_all(void)
{
    weft_job_desc desc = {.fn = submit_another, .argument = &output[1]};
    EXPLORE_CHECK(weft_job_submit(owner, &desc, NULL) == WEFT_OK, "submit");
    EXPLORE_CHECK(weft_job_wait_all(owner, NULL) == WEFT_OK, "wait_all");
    EXPLORE_CHECK(output[0] == 1 && output[1] == 1, "wait_all, but a job has not run");
}

static void submitted(void)
{
    start_pool(2, false, false);
    explore_begin();
    wait_for_all();
    finish();
}

/* Plain jobs fill their part of the deque; those after them take slots, of which there is a place
 * for each. */
static void plain_room(void)
{
    uint32_t count = 0;
    start_pool(2, false, false);
    at_init(&leaves, 0);
    explore_begin();
    while (count < 20 && weft_job_submit(owner, &(weft_job_desc){.fn = leaf}, NULL) == WEFT_OK)
        count++;
    EXPLORE_CHECK(count >= 12, "%u fit", count);
    EXPLORE_CHECK(weft_job_wait_all(owner, NULL) == WEFT_OK, "wait_all");
    EXPLORE_CHECK(at_load_acq(&leaves) == count, "%u of %u ran", at_load_acq(&leaves), count);
    finish();
}

/* A plain job has no slot that shows that it is pending; no thread is there that would run it. */
static void plain_pending(void)
{
    start_pool(2, true, false);
    at_init(&leaves, 0);
    explore_begin();
    EXPLORE_CHECK(weft_job_submit(owner, &(weft_job_desc){.fn = leaf}, NULL) == WEFT_OK, "submit");
    EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_BUSY, "destroyed with a job in it");
    EXPLORE_CHECK(weft_job_wait_all(owner, NULL) == WEFT_OK, "wait_all");
    EXPLORE_CHECK(at_load_acq(&leaves) == 1, "%u of 1 ran", at_load_acq(&leaves));
    finish();
}

static weft_a32 may_end;

static int write_when_told(weft_job_context *job, void *argument)
{
    while (at_load_acq(&may_end) == 0) at_stall();
    return write_output(job, argument);
}

static void inject(weft_job_fn fn, void *argument)
{
    weft_job_desc desc = {.fn = fn, .argument = argument};
    EXPLORE_CHECK(weft_job_inject(pool, &desc, NULL) == WEFT_OK, "inject");
}

static void inject_late(void *argument)
{
    inject(write_when_told, argument);
}

/* A look for pending jobs, as destroy has it, ends whatever another thread submits meanwhile. */
static void pending_beside(void)
{
    start_pool(2, false, false);
    at_init(&may_end, 0);
    explore_thread(inject_late, &output[1]);
    explore_begin();
    inject(write_output, &output[0]);
    weft__pool_has_pending(pool);
    at_store_rel(&may_end, 1u);
    explore_join_all();
    EXPLORE_CHECK(weft_job_wait_all(owner, NULL) == WEFT_OK, "wait_all");
    EXPLORE_CHECK(output[0] == 1 && output[1] == 1, "wait_all, but a job has not run");
    finish();
}

/* The same with the counts as points of interest: nothing may end between two of them unseen. */
static void count_all(uint32_t workers)
{
    start_pool(workers, false, true);
    explore_begin();
    weft_job_desc desc = {.fn = submit_another, .argument = &output[1]};
    EXPLORE_CHECK(weft_job_submit(owner, &desc, NULL) == WEFT_OK, "submit");
    while (!weft__pool_is_quiescent(pool)) at_stall();
    EXPLORE_CHECK(output[0] == 1 && output[1] == 1, "quiescent, but a job has not run");
    finish();
}

static void counts(void)
{
    count_all(2);
}

/* The second job is taken and ends before the first has gone on. */
static void counts_three(void)
{
    count_all(3);
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

/* The counts become visible late, and the worker does not search, as if enough others did: it looks
 * for the owner before it sleeps only. */
static void unsearched(void)
{
    start_pool(2, true, true);
    pool->wake.search_limit = 0;
    at_init(&is_inside, 0);
    explore_thread(lend, NULL);
    explore_begin();
    while (at_load_acq(&is_inside) == 0) at_stall();
    wait_for_all();
    EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_OK, "destroy");
    explore_join_all();
    explore_end();
}

#define MOST(runs)                                                                                 \
    PLAN_PCT(EXPLORE_TSO, 4, runs, 1000000), PLAN_PCT_FAULTS(EXPLORE_C11, 4, 1, runs, 1000000),    \
        PLAN_RANDOM(EXPLORE_TSO, runs, 1000000)

const explore_scenario explore_scenarios[] = {
    {"drain_submitted", submitted, {MOST(10000)}, NULL},
    {"drain_unsearched", unsearched, {MOST(10000)}, NULL},
    {"drain_pending_beside", pending_beside, {MOST(10000)}, NULL},
    {"drain_counts",
     counts,
     {PLAN_ALL(EXPLORE_SC, 1, 0), PLAN_PCT(EXPLORE_C11, 4, 4000, 1000000)},
     NULL},
    {"drain_counts_three", counts_three, {MOST(10000)}, NULL},
    {"drain_plain_room", plain_room, {PLAN_ALL(EXPLORE_SC, 0, 0), MOST(3000)}, NULL},
    {"drain_plain_pending", plain_pending, {PLAN_ALL(EXPLORE_SC, 1, 0)}, NULL},
    {NULL, NULL, {{0}}, NULL},
};
