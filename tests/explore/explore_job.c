/* SPDX-License-Identifier: MIT */
/* explore_job.c: jobs/src/protocol/job.c under every schedule: jobs that end while others attach
 * to them, cancel them, ask whether they are done, and collect their results; slots that are
 * used again at once. Bodies and results are plain data, so a missing edge is a data race. */
#include "explore_plans.h"
#include "job.h"

#define CAPACITY 4u
#define EDGES 4u
#define NO_SLOT UINT32_MAX

static weft__job jobs[CAPACITY];
static weft__job_edge edges[EDGES + 2];
static weft_a32 slot_links[2 * CAPACITY], edge_links[2 * EDGES];
static weft__job_table table;
static weft__job_caches caches[4];
static uint32_t output[CAPACITY + 4];
static weft_job_handle first, second;
static weft_a32 ready_count;
static uint32_t collected, successor_slot;

static void start(void)
{
    for (uint32_t i = 0; i < CAPACITY; i++) jobs[i] = (weft__job){0};
    const weft__job_arrays arrays = {jobs, edges, slot_links, edge_links};
    weft__job_table_init(&table, &arrays, CAPACITY, EDGES, 2);
    for (uint32_t i = 0; i < 4; i++) {
        weft__slots_cache_init(&caches[i].jobs, &table.slots);
        weft__slots_cache_init(&caches[i].edges, &table.edge_slots);
    }
    for (uint32_t i = 0; i < CAPACITY + 4; i++) output[i] = 0;
    at_init(&ready_count, 0);
    collected = 0;
    successor_slot = NO_SLOT;
}

static weft_job_handle new_job(uint32_t flags)
{
    uint32_t slot = weft__slots_take(&table.slots, &caches[explore_self()].jobs);
    EXPLORE_CHECK(slot != WEFT__SLOTS_NONE, "no slot");
    return weft__job_start_with(&table.jobs[slot], slot, flags, 1);
}

/* The successor's body: all predecessors' outputs must be visible. */
static void run_successor(uint32_t slot)
{
    EXPLORE_CHECK(at_add_ar(&ready_count, 1u) == 0, "the successor became ready twice");
    EXPLORE_CHECK(slot == successor_slot, "wrong successor");
    EXPLORE_CHECK(output[0] == 1 && output[1] == 2, "a predecessor's output is missing: %u %u",
                  output[0], output[1]);
}

static void end_job(weft_job_handle job, int code, uint32_t flags)
{
    uint32_t edge = weft__job_finish(&table.jobs[job.index], code, flags);
    if (edge != WEFT__JOB_LIST_EMPTY) edge = weft__job_order_edges(&table, edge);
    while (edge != WEFT__JOB_LIST_EMPTY) {
        uint32_t next = table.edges[edge].next, successor = table.edges[edge].successor;
        weft__slots_give(&table.edge_slots, &caches[explore_self()].edges,
                         edge - table.worker_count);
        if (weft__job_remove_pending(&table.jobs[successor])) run_successor(successor);
        edge = next;
    }
    if (!(flags & WEFT__JOB_KEPT)) {
        weft__slots_give(&table.slots, &caches[explore_self()].jobs, job.index);
    }
}

static void run_first(void *argument)
{
    (void)argument;
    output[0] = 1;
    end_job(first, 0, 0);
}

static void run_second(void *argument)
{
    (void)argument;
    output[1] = 2;
    end_job(second, 0, 0);
}

static void attach(weft_job_handle predecessor, uint32_t successor)
{
    uint32_t number = weft__slots_take(&table.edge_slots, &caches[explore_self()].edges);
    uint32_t edge = table.worker_count + number;
    table.edges[edge].successor = successor;
    at_add_rlx(&table.jobs[successor].x_pending, 1u); /* the guard keeps it from becoming ready */
    if (weft__job_attach(&table, predecessor, edge) == WEFT__ATTACHED) return;
    weft__slots_give(&table.edge_slots, &caches[explore_self()].edges, number);
    bool is_ready = weft__job_remove_pending(&table.jobs[successor]);
    EXPLORE_CHECK(!is_ready, "ready in spite of the guard");
}

static void finish(void)
{
    explore_join_all();
    explore_end();
}

/* A successor of two jobs is added while both are ending. */
static void add_while_finishing(void)
{
    start();
    first = new_job(0);
    second = new_job(0);
    explore_thread(run_first, NULL);
    explore_thread(run_second, NULL);
    explore_begin();
    weft_job_handle third = new_job(0);
    successor_slot = third.index;
    attach(first, third.index);
    attach(second, third.index);
    if (weft__job_remove_pending(&table.jobs[third.index])) run_successor(third.index);
    explore_join_all();
    EXPLORE_CHECK(at_load_acq(&ready_count) == 1, "the successor never became ready");
    end_job(third, 0, 0);
    EXPLORE_CHECK(weft__job_is_done(&table, third), "not done");
    finish();
}

/* Two threads attach to one job before it ends: both edges are in its list. */
static weft_a32 attached_count;

static void attach_one(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;
    table.edges[number].successor = number;
    if (weft__job_attach(&table, first, number) == WEFT__ATTACHED) at_add_ar(&attached_count, 1u);
}

static void two_attachers(void)
{
    start();
    at_init(&attached_count, 0);
    first = new_job(0);
    explore_thread(attach_one, (void *)0);
    explore_thread(attach_one, (void *)1);
    explore_begin();
    attach_one((void *)2);
    uint32_t found = 0, edge = weft__job_finish(&table.jobs[first.index], 0, 0);
    for (edge = weft__job_order_edges(&table, edge); edge != WEFT__JOB_LIST_EMPTY; found++) {
        EXPLORE_CHECK(table.edges[edge].successor == edge, "edge %u", edge);
        edge = table.edges[edge].next;
    }
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(found == at_plain(&attached_count), "%u edges of %u", found,
                  at_plain(&attached_count));
    finish();
}

/* Done means: the output is visible; also through the handle of a slot that is used again. */
static void ask(void *argument)
{
    (void)argument;
    if (weft__job_is_done(&table, first)) EXPLORE_CHECK(output[0] == 1, "done without output");
    if (weft__job_is_done(&table, first)) EXPLORE_CHECK(output[0] == 1, "done without output");
}

static void run_twice(void *argument)
{
    run_first(argument);
    second = new_job(0); /* the same slot, another generation */
    EXPLORE_CHECK(second.index == first.index, "slot %u, not %u", second.index, first.index);
    EXPLORE_CHECK(second.generation != first.generation, "the handle repeats");
    end_job(second, 0, 0);
    weft_job_handle again = new_job(0);
    EXPLORE_CHECK(again.generation == second.generation + 1, "generation %u after %u",
                  again.generation, second.generation);
    end_job(again, 0, 0);
}

static void done_and_reused(void)
{
    start();
    first = new_job(0);
    explore_thread(run_twice, NULL);
    explore_thread(ask, NULL);
    explore_begin();
    ask(NULL);
    finish();
}

/* A late attach to an ended job must not reach the next job in its slot. */
static void late_attach(void)
{
    start();
    first = new_job(0);
    explore_thread(run_twice, NULL);
    explore_begin();
    weft_job_handle third = new_job(0);
    successor_slot = third.index;
    output[1] = 2;
    attach(first, third.index);
    if (weft__job_remove_pending(&table.jobs[third.index])) run_successor(third.index);
    explore_join_all();
    EXPLORE_CHECK(at_load_acq(&ready_count) == 1, "the successor never became ready");
    end_job(third, 0, 0);
    finish();
}

/* A failed job is kept for one collector of two; its slot is then used again. */
static void fail_first(void *argument)
{
    (void)argument;
    end_job(first, 7, WEFT__JOB_FAILED | WEFT__JOB_KEPT);
}

static weft_a32 collectors, asked;

static void collect(void *argument)
{
    (void)argument;
    int code = 0;
    bool is_recyclable = false;
    if (!weft__job_is_done(&table, first)) return;
    at_store_rlx(&asked, 1u);
    weft_result result = weft__job_collect(&table, first, &code, &is_recyclable);
    if (!is_recyclable) {
        EXPLORE_CHECK(result == WEFT_OK, "an error, but not ours to recycle");
        return;
    }
    EXPLORE_CHECK(at_add_ar(&collectors, 1u) == 0, "collected twice");
    EXPLORE_CHECK(result == WEFT_JOB_FAILED && code == 7, "result %d code %d", (int)result, code);
    weft__slots_give(&table.slots, &caches[explore_self()].jobs, first.index);
    second = new_job(0);
    end_job(second, 0, 0);
}

static void two_collectors(void)
{
    start();
    at_init(&collectors, 0);
    at_init(&asked, 0);
    explore_ignore(&asked, sizeof asked);
    first = new_job(WEFT__JOB_HAS_HANDLE);
    explore_thread(fail_first, NULL);
    explore_thread(collect, NULL);
    explore_begin();
    collect(NULL);
    explore_join_all();
    /* done means that the failure is there to be collected */
    EXPLORE_CHECK(!at_load_acq(&asked) || at_load_acq(&collectors) == 1, "a failure was missed");
    if (!at_load_acq(&collectors)) collect(NULL);
    EXPLORE_CHECK(at_load_acq(&collectors) == 1, "no thread could collect");
    finish();
}

/* A late cancel must not reach the next job in the slot. */
static void cancel_first(void *argument)
{
    (void)argument;
    weft__job_flag(&table, first, WEFT__JOB_CANCELLED);
}

static void late_cancel(void)
{
    start();
    first = new_job(0);
    explore_thread(cancel_first, NULL);
    explore_begin();
    output[0] = 1;
    end_job(first, 0, 0);
    second = new_job(0);
    explore_join_all();
    EXPLORE_CHECK(!(weft__job_flags(&table.jobs[second.index]) & WEFT__JOB_CANCELLED),
                  "the cancellation reached another job");
    end_job(second, 0, 0);
    finish();
}

/* Marked and cancelled at once. */
static void flagged(void)
{
    start();
    first = new_job(0);
    explore_thread(cancel_first, NULL);
    explore_begin();
    weft__job_mark(&table.jobs[first.index], WEFT__JOB_SKIPPED);
    explore_join_all();
    explore_end();
    uint32_t flags = weft__job_flags(&table.jobs[first.index]);
    EXPLORE_CHECK(flags == (WEFT__JOB_CANCELLED | WEFT__JOB_SKIPPED), "flags %#x: one was lost",
                  flags);
    end_job(first, 0, 0);
    finish();
}

const explore_scenario explore_scenarios[] = {
    {"job_add_while_finishing",
     add_while_finishing,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_TSO, 2, 2), PLAN_ALL(EXPLORE_C11, 2, 1),
      PLAN_PCT(EXPLORE_C11, 5, 20000, 5000000), PLAN_ALL_DEEP(EXPLORE_SC, 4, 0),
      PLAN_ALL_DEEP(EXPLORE_C11, 3, 2)},
     NULL},
    {"job_two_attachers",
     two_attachers,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_C11, 2, 1)},
     NULL},
    {"job_done_and_reused",
     done_and_reused,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 2, 2)},
     NULL},
    {"job_late_attach",
     late_attach,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 1)},
     NULL},
    {"job_two_collectors",
     two_collectors,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 1)},
     NULL},
    {"job_late_cancel",
     late_cancel,
     {PLAN_ALL(EXPLORE_SC, 5, 0), PLAN_ALL(EXPLORE_TSO, 4, 3), PLAN_ALL(EXPLORE_C11, 4, 2)},
     NULL},
    {"job_flagged",
     flagged,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 1)},
     NULL},
    {NULL, NULL, {{0}}, NULL},
};
