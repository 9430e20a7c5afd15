/* SPDX-License-Identifier: MIT */
/* test_from_jobs.c: calls of a world's owner that a job of its pool makes by mistake: refused with
 * a code that does not depend on timing, and without a word in the world's last error, which the
 * owner writes at the same time. ThreadSanitizer sees the rest. */
#include "plain.h"
#include "query_fixture.h"

#include <weft/gather.h>

enum { ROWS = 2000, JOBS = 64 };

/* What one job got. */
typedef struct call {
    weft_world *world; /* to destroy; NULL: use the gather */
    weft_gather *gather;
    weft_result results[4];
} call;

static int use_gather(weft_job_context *job, void *argument)
{
    call *c = argument;
    void *values;
    uint64_t count;
    (void)job;
    c->results[0] = weft_gather_wait(c->gather);
    c->results[1] = weft_gather_scatter(c->gather);
    c->results[2] = weft_gather_end(c->gather);
    c->results[3] = weft_gather_values(c->gather, &values, &count);
    return 0;
}

static int destroy_world(weft_job_context *job, void *argument)
{
    call *c = argument;
    (void)job;
    c->results[0] = weft_world_destroy(c->world);
    return 0;
}

/* Runs the calls as jobs while the owner's own calls fail: only these are in the error record. On
 * one worker the jobs run inside the wait. */
static void run_jobs(weft_world *world, weft_job_fn fn, call *calls)
{
    weft_job_context *owner = weft_job_pool_owner(weft_world_pool(world));
    const uint64_t before = weft_world_error(world)->number;
    uint64_t failed = 0;
    weft_job_handle jobs[JOBS];
    for (uint32_t i = 0; i < JOBS; i++) {
        weft_job_desc desc = {.fn = fn, .argument = &calls[i]};
        CHECK_OK(weft_job_submit(owner, &desc, &jobs[i]));
    }
    bool is_alone = weft_job_pool_worker_count(weft_world_pool(world)) == 1;
    for (uint32_t i = 0; i < JOBS; i++) {
        while (!is_alone && !weft_job_is_done(weft_world_pool(world), jobs[i])) {
            CHECK(weft_entity_destroy(world, (weft_entity){0}) != WEFT_OK);
            failed++;
        }
        CHECK_OK(weft_job_wait(owner, jobs[i], NULL));
    }
    CHECK_U64(weft_world_error(world)->number, before + failed);
}

static void gathers_on(uint32_t workers)
{
    static weft_entity entities[ROWS];
    static call calls[JOBS];
    weft_job_pool_desc desc = {.worker_count = workers, .is_always_parallel = true};
    weft_job_pool *pool;
    fixture f;
    weft_gather g;
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    fixture_open_on(&f, 500, pool);
    FIXTURE_CREATE(&f, ROWS, entities, f.a);
    weft_query all = FIXTURE_QUERY(&f, {f.a});
    CHECK_OK(weft_gather_begin(f.world, all, &(weft_gather_desc){.component = f.a}, &g));
    if (workers > 1) CHECK_OK(weft_gather_wait(&g)); /* else the jobs run before it */
    for (uint32_t i = 0; i < JOBS; i++) calls[i] = (call){.gather = &g};
    run_jobs(f.world, use_gather, calls);
    for (uint32_t i = 0; i < JOBS; i++) {
        for (uint32_t c = 0; c < 3; c++) CHECK_RESULT(calls[i].results[c], WEFT_WOULD_NEST);
        CHECK_RESULT(calls[i].results[3], workers > 1 ? WEFT_OK : WEFT_WRONG_PHASE);
    }
    CHECK_OK(weft_gather_end(&g));
    fixture_close(&f);
    CHECK_OK(weft_job_pool_destroy(pool));
}

PLAIN_TEST(a_gather_is_not_waited_for_in_a_job_on_the_owners_thread)
{
    gathers_on(1);
}

PLAIN_TEST(a_gather_is_not_waited_for_in_a_job_on_another_thread)
{
    gathers_on(4);
}

static void worlds_on(uint32_t workers)
{
    static call calls[JOBS];
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &world));
    for (uint32_t i = 0; i < JOBS; i++) calls[i] = (call){.world = world};
    run_jobs(world, destroy_world, calls);
    for (uint32_t i = 0; i < JOBS; i++) CHECK_RESULT(calls[i].results[0], WEFT_WRONG_PHASE);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(a_world_is_not_destroyed_by_a_job_of_its_own_pool)
{
    worlds_on(1);
    worlds_on(4);
}
