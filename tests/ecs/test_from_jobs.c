/* SPDX-License-Identifier: MIT */
/* test_from_jobs.c: calls of a world's owner that a job of its pool makes by mistake: refused with
 * a code that does not depend on timing, and without a word in the world's last error, which the
 * owner writes at the same time. ThreadSanitizer sees the rest. */
#include "plain.h"
#include "query_fixture.h"

enum { JOBS = 64 };

/* What one job got. */
typedef struct call {
    weft_world *world;
    weft_result result;
} call;

static int destroy_world(weft_job_context *job, void *argument)
{
    call *c = argument;
    (void)job;
    c->result = weft_world_destroy(c->world);
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

static void worlds_on(uint32_t workers)
{
    static call calls[JOBS];
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &world));
    for (uint32_t i = 0; i < JOBS; i++) calls[i] = (call){.world = world};
    run_jobs(world, destroy_world, calls);
    for (uint32_t i = 0; i < JOBS; i++) CHECK_RESULT(calls[i].result, WEFT_WRONG_PHASE);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(a_world_is_not_destroyed_by_a_job_of_its_own_pool)
{
    worlds_on(1);
    worlds_on(4);
}
