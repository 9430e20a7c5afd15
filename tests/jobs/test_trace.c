/* test_trace.c: events, hooks and what is lost when nobody reads. */
#include "check.h"

#include <weft/jobs.h>

#include <criterion/criterion.h>

static int nothing(weft_job_context *job, void *argument)
{
    weft_job_trace_mark(job, "here", 42);
    (void)argument;
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
