/* SPDX-License-Identifier: MIT */
/* test_trace.c: events and what is lost without a reader. */
#include "atomic.h"
#include "check.h"
#include "jobs_engine.h"

#include <weft/jobs.h>
#include <weft/zone.h>

#include <criterion/criterion.h>
#include <sched.h>

static int nothing(weft_job_context *job, void *argument)
{
    weft_job_trace_mark(job, "here", 42);
    (void)argument;
    return 0;
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
    CHECK_U64(weft_job_trace_take(pool, 0, events, 8, &dropped), 3);
    CHECK_U64(dropped, 0);
    CHECK_U64(events[0].kind, WEFT_JOB_EVENT_BEGIN);
    CHECK_TEXT(events[0].name, "physics");
    CHECK_U64(events[1].kind, WEFT_JOB_EVENT_MARK);
    CHECK_TEXT(events[1].name, "here");
    CHECK_U64(events[1].value, 42);
    CHECK_U64(events[2].kind, WEFT_JOB_EVENT_END);
    CHECK(events[0].time_ns <= events[1].time_ns && events[1].time_ns <= events[2].time_ns);
    CHECK_U64(weft_job_trace_take(pool, 0, events, 8, NULL), 0);
    CHECK_U64(weft_job_trace_take(pool, 1, events, 8, NULL), 0); /* no such worker */
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
    uint32_t kept = weft_job_trace_take(pool, 0, events, 64, &dropped);
    CHECK_U64(kept, 7); /* one place stays empty */
    CHECK_U64(kept + dropped, 30);
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
    CHECK_U64(weft_job_trace_take(pool, 0, events, 8, NULL), 0);
    weft_job_trace_enable(pool, true);
    run_named(pool);
    CHECK_U64(weft_job_trace_take(pool, 0, events, 8, NULL), 3);
    weft_job_trace_enable(pool, false);
    run_named(pool);
    CHECK_U64(weft_job_trace_take(pool, 0, events, 8, NULL), 0);
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

/* Where zones of this thread go. */
static weft_job_context *zones_now(void)
{
    weft_job_context *context = weft__zones_to(NULL);
    weft__zones_to(context);
    return context;
}

Test(trace, zones_of_an_owner_that_did_not_leave_end_with_its_pool)
{
    weft_job_pool *pools[2];
    weft_job_context *contexts[2];
    const weft_job_pool_desc desc = {.worker_count = 1, .trace_capacity = 16};
    for (uint32_t i = 0; i < 2; i++) CHECK_OK(weft_job_pool_create(&desc, &pools[i]));
    for (uint32_t i = 0; i < 2; i++) CHECK_OK(weft_job_pool_enter(pools[i], &contexts[i]));
    CHECK_OK(weft_job_pool_destroy(pools[0]));
    CHECK_POINTER(zones_now(), contexts[1]); /* of the other pool */
    weft_zone_begin("recorded");
    weft_zone_end();
    CHECK_OK(weft_job_pool_destroy(pools[1]));
    CHECK_POINTER(zones_now(), NULL);
    weft_zone_begin("nowhere");
    weft_zone_end();
}
