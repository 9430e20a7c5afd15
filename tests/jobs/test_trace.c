/* SPDX-License-Identifier: MIT */
/* test_trace.c: events, hooks and what is lost without a reader. */
#include "atomic.h"
#include "check.h"

#include <weft/jobs.h>

#include <criterion/criterion.h>
#include <sched.h>

static int nothing(weft_job_context *job, void *argument)
{
    weft_job_trace_mark(job, "here", 42);
    (void)argument;
    return 0;
}

/* Counts of the hooks that other workers call, too. Owner: the test. */
typedef struct tally {
    weft_a32 x_stolen, x_parked, x_woken, x_spawned, x_inlined;
    const char *spawned_name, *inlined_name;
} tally;

static void on_stolen(void *user, uint32_t thief, uint32_t victim)
{
    CHECK(thief != victim);
    at_add_ar(&((tally *)user)->x_stolen, 1u);
}

static void on_parked(void *user, uint32_t worker)
{
    (void)worker;
    at_add_ar(&((tally *)user)->x_parked, 1u);
}

static void on_woken(void *user, uint32_t worker)
{
    (void)worker;
    at_add_ar(&((tally *)user)->x_woken, 1u);
}

static void on_spawned(void *user, uint32_t worker, const char *name)
{
    CHECK_U64(worker, 0);
    ((tally *)user)->spawned_name = name;
    at_add_ar(&((tally *)user)->x_spawned, 1u);
}

static void on_inlined(void *user, uint32_t worker, const char *name)
{
    CHECK_U64(worker, 0);
    ((tally *)user)->inlined_name = name;
    at_add_ar(&((tally *)user)->x_inlined, 1u);
}

static int say_so(weft_job_context *job, void *argument)
{
    (void)job;
    at_store_rel((weft_a32 *)argument, 1u);
    return 0;
}

static int no_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job, (void)argument, (void)begin, (void)end;
    return 0;
}

/* What the hooks saw. Owner: the test. */
typedef struct seen {
    uint32_t begun, ended;
    const char *name;
} seen;

static void on_begin(void *user, uint32_t worker, const char *name)
{
    seen *s = user;
    CHECK_U64(worker, 0);
    s->begun++;
    s->name = name;
}

static void on_end(void *user, uint32_t worker, const char *name)
{
    (void)worker, (void)name;
    ((seen *)user)->ended++;
}

static weft_job_context *run_named(weft_job_pool *pool)
{
    weft_job_context *owner = weft_job_pool_owner(pool);
    weft_job_handle handle;
    const weft_job_desc desc = {.fn = nothing, .name = "physics"};
    CHECK_OK(weft_job_submit(owner, &desc, &handle));
    CHECK_OK(weft_job_wait(owner, handle, NULL));
    return owner;
}

Test(trace, events_come_back_in_order_with_names_and_times)
{
    weft_job_pool *pool;
    weft_job_event events[8];
    uint64_t dropped = 1;
    const weft_job_pool_desc desc = {.worker_count = 1, .trace_capacity = 16};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    run_named(pool);
    CHECK_U64(weft_job_trace_read(pool, 0, events, 8, &dropped), 3);
    CHECK_U64(dropped, 0);
    CHECK_U64(events[0].kind, WEFT_JOB_EVENT_BEGIN);
    CHECK_TEXT(events[0].name, "physics");
    CHECK_U64(events[1].kind, WEFT_JOB_EVENT_MARK);
    CHECK_TEXT(events[1].name, "here");
    CHECK_U64(events[1].value, 42);
    CHECK_U64(events[2].kind, WEFT_JOB_EVENT_END);
    CHECK(events[0].time_ns <= events[1].time_ns && events[1].time_ns <= events[2].time_ns);
    CHECK_U64(weft_job_trace_read(pool, 0, events, 8, NULL), 0);
    CHECK_U64(weft_job_trace_read(pool, 1, events, 8, NULL), 0); /* no such worker */
    CHECK_OK(weft_job_pool_destroy(pool));
}

Test(trace, a_full_ring_counts_what_it_drops)
{
    weft_job_pool *pool;
    weft_job_event events[64];
    uint64_t dropped = 0;
    const weft_job_pool_desc desc = {.worker_count = 1, .trace_capacity = 8};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    for (uint32_t i = 0; i < 10; i++) run_named(pool);
    uint32_t kept = weft_job_trace_read(pool, 0, events, 64, &dropped);
    CHECK_U64(kept, 7); /* one place stays empty */
    CHECK_U64(kept + dropped, 30);
    CHECK_OK(weft_job_pool_destroy(pool));
}

Test(trace, hooks_see_every_job_and_a_quiet_pool_records_nothing)
{
    weft_job_pool *pool;
    weft_job_event event;
    seen s = {0};
    const weft_job_hooks hooks = {.job_begin = on_begin, .job_end = on_end, .user = &s};
    CHECK_OK(
        weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1, .hooks = &hooks}, &pool));
    for (uint32_t i = 0; i < 5; i++) run_named(pool);
    CHECK_U64(s.begun, 5);
    CHECK_U64(s.ended, 5);
    CHECK_TEXT(s.name, "physics");
    CHECK_U64(weft_job_trace_read(pool, 0, &event, 1, NULL), 0);
    CHECK_OK(weft_job_pool_destroy(pool));
}

Test(trace, hooks_see_steals_sleeps_and_wake_ups)
{
    weft_job_pool *pool;
    tally t = {0};
    const weft_job_hooks hooks = {
        .stolen = on_stolen, .parked = on_parked, .woken = on_woken, .user = &t};
    const weft_job_pool_desc desc = {.worker_count = 2, .spin_ns = 1000, .hooks = &hooks};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    while (at_load_acq(&t.x_parked) == 0) sched_yield();
    weft_a32 has_run = {0};
    const weft_job_desc job = {.fn = say_so, .argument = &has_run};
    CHECK_OK(weft_job_submit(weft_job_pool_owner(pool), &job, NULL));
    while (at_load_acq(&has_run) == 0)
        sched_yield(); /* the owner does not run it: worker 1 must take it */
    CHECK_OK(weft_job_wait_all(weft_job_pool_owner(pool), NULL));
    CHECK_OK(weft_job_pool_destroy(pool));
    CHECK_U64(at_load_acq(&t.x_stolen), 1);
    uint32_t woken = at_load_acq(&t.x_woken);
    CHECK(woken > 0 && woken <= at_load_acq(&t.x_parked));
}

Test(trace, hooks_see_what_is_spawned_and_what_stays_inline)
{
    weft_job_pool *pool;
    tally t = {0};
    weft_a32 has_run = {0};
    const weft_job_hooks hooks = {.spawned = on_spawned, .inlined = on_inlined, .user = &t};
    const weft_job_pool_desc desc = {.worker_count = 1, .child_capacity = 2, .hooks = &hooks};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    weft_job_context *owner = run_named(pool);
    CHECK_U64(at_load_acq(&t.x_spawned), 1);
    CHECK_TEXT(t.spawned_name, "physics");
    const weft_job_for_desc loop = {.fn = no_part, .count = 10, .name = "small"};
    CHECK_OK(weft_job_for(owner, &loop, NULL));
    CHECK_U64(at_load_acq(&t.x_inlined), 1);
    CHECK_TEXT(t.inlined_name, "small");
    for (uint32_t i = 0; i < 3; i++) weft_job_child(owner, say_so, &has_run);
    CHECK_U64(weft_job_children_wait(owner), 0);
    CHECK_U64(at_load_acq(&t.x_spawned), 4);
    CHECK_U64(at_load_acq(&t.x_inlined), 2); /* the third child had no room */
    weft_job_graph *graph;
    const weft_job_graph_node node = {.fn = say_so, .argument = &has_run};
    const weft_job_graph_desc graph_desc = {.nodes = &node, .node_count = 1};
    CHECK_OK(weft_job_graph_create(pool, &graph_desc, &graph));
    CHECK_OK(weft_job_graph_run(owner, graph, NULL));
    CHECK_U64(at_load_acq(&t.x_inlined), 3);
    CHECK_OK(weft_job_pool_destroy(pool));
}

Test(trace, a_paused_ring_stays_empty_until_it_is_enabled)
{
    weft_job_pool *pool;
    weft_job_event events[8];
    const weft_job_pool_desc desc = {
        .worker_count = 1, .trace_capacity = 16, .trace_is_paused = true};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    run_named(pool);
    CHECK_U64(weft_job_trace_read(pool, 0, events, 8, NULL), 0);
    weft_job_trace_enable(pool, true);
    run_named(pool);
    CHECK_U64(weft_job_trace_read(pool, 0, events, 8, NULL), 3);
    weft_job_trace_enable(pool, false);
    run_named(pool);
    CHECK_U64(weft_job_trace_read(pool, 0, events, 8, NULL), 0);
    weft_job_trace_enable(NULL, true);
    CHECK_OK(weft_job_pool_destroy(pool));
}

Test(trace, counts_of_workers_add_up_to_those_of_the_pool)
{
    weft_job_pool *pool;
    weft_job_stats all, one, none;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 3}, &pool));
    for (uint32_t i = 0; i < 5; i++) run_named(pool);
    weft_job_stats_get(pool, &all, sizeof all);
    uint64_t submitted = 0;
    for (uint32_t i = 0; i < 3; i++) {
        weft_job_worker_stats_get(pool, i, &one, sizeof one);
        submitted += one.submitted;
    }
    CHECK(submitted >= 5 && submitted >= all.submitted); /* create submits some to measure */
    weft_job_worker_stats_get(pool, 3, &none, sizeof none);
    CHECK_U64(none.submitted + none.parked, 0);
    CHECK_OK(weft_job_pool_destroy(pool));
}
