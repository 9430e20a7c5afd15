/* SPDX-License-Identifier: MIT */
/* test_times.c: times of systems (weft_schedule_desc.is_measured) by a clock that the systems move
 * on themselves, so that the truth is known: one worker, each call takes what its system says; and
 * which frames are traced. */
#include <weft/weft.h>

#include "jobs_engine.h"
#include "os_fault.h"
#include "plain.h"

#include <stdlib.h>
#include <string.h>

enum { SYSTEMS = 3, ROWS = 100000 };

/* What the clock of the world shows; ns. */
static uint64_t now;

static uint64_t told_clock(void *user)
{
    (void)user;
    return now;
}

/* A system and what it has taken. Owner: the test. */
typedef struct cost {
    uint64_t call_ns, taken, calls;
} cost;

static void take_time(weft_slice *slice, void *user)
{
    cost *c = user;
    (void)slice;
    now += c->call_ns;
    c->taken += c->call_ns;
    c->calls++;
}

/* A world on the told clock. Owner: the test. */
typedef struct bed {
    test_os os;
    weft_world *world;
    weft_component a;
    weft_system systems[SYSTEMS];
    cost costs[SYSTEMS];
} bed;

static void begin(bed *b, weft_access access, bool skips_unchanged)
{
    static const uint64_t call_ns[SYSTEMS] = {1000, 300, 20};
    memset(b, 0, sizeof *b);
    test_os_init(&b->os);
    b->os.table.clock_ns = told_clock;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .os = &b->os.table}, &b->world));
    b->a = weft_component_create_plain(b->world, "a", 4, 4, 0);
    CHECK_OK(weft_entity_create_many(b->world, WEFT_ARCHETYPE(b->world, b->a), ROWS, NULL));
    for (int i = 0; i < SYSTEMS; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        b->costs[i].call_ns = call_ns[i];
        b->systems[i] = weft_system_create(
            b->world, &(weft_system_desc){.name = name,
                                          .run = take_time,
                                          .user = &b->costs[i],
                                          .over.rows.terms = {{b->a, access, WEFT_ALL, 0}},
                                          .skips_unchanged = skips_unchanged});
        CHECK(b->systems[i].id != 0);
    }
    CHECK_OK(weft_schedule_set(b->world, &(weft_schedule_desc){.is_measured = true}));
}

static void end(bed *b)
{
    CHECK_OK(weft_world_destroy(b->world));
}

/* Time is divided part by part: each may lose a nanosecond. */
static void check_times(const bed *b)
{
    for (int i = 0; i < SYSTEMS; i++) {
        weft_system_stats stats;
        CHECK_OK(weft_system_stats_get(b->world, b->systems[i], &stats, sizeof stats));
        CHECK(stats.total_ns <= b->costs[i].taken);
        CHECK(stats.total_ns + b->costs[i].calls >= b->costs[i].taken);
        CHECK(stats.time_ns != 0 && b->costs[i].calls != 0);
    }
}

PLAIN_TEST(fused_systems_share_the_time_of_their_slices_as_the_sampled_ones_did)
{
    bed b;
    begin(&b, WEFT_WRITE, false);
    for (int i = 0; i < 70; i++) CHECK_OK(weft_world_step(b.world, 0));
    CHECK(b.costs[0].calls / 70 > 64); /* more slices than one sample covers */
    check_times(&b);
    end(&b);
}

PLAIN_TEST(systems_in_stages_of_their_own_are_timed_whole)
{
    bed b;
    begin(&b, WEFT_WRITE, false);
    CHECK_OK(weft_schedule_set(b.world,
                               &(weft_schedule_desc){.is_measured = true, .without_fusion = true}));
    for (int i = 0; i < 3; i++) CHECK_OK(weft_world_step(b.world, 0));
    check_times(&b);
    end(&b);
}

PLAIN_TEST(a_system_whose_slices_were_all_skipped_keeps_the_time_of_its_last_run)
{
    bed b;
    begin(&b, WEFT_READ, true);
    for (int i = 0; i < 4; i++) CHECK_OK(weft_world_step(b.world, 0)); /* they run in the first */
    check_times(&b);
    end(&b);
}

PLAIN_TEST(a_step_that_takes_a_share_of_frames_resumes_no_paused_trace)
{
    weft_job_pool *pool;
    weft_world *world;
    setenv("WEFT_TRACE_SHARE", "50", 1);
    CHECK_OK(weft_job_pool_create(
        &(weft_job_pool_desc){.worker_count = 1, .trace_file = "share.pftrace"}, &pool));
    unsetenv("WEFT_TRACE_SHARE");
    CHECK_OK(weft_world_create(&(weft_world_desc){.pool = pool}, &world));
    cost of_none = {0, 0, 0};
    CHECK(weft_system_create(
              world, &(weft_system_desc){.name = "some", .run = take_time, .user = &of_none})
              .id != 0);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK_OK(weft_world_step(world, 1));
        CHECK(weft__pool_is_traced(pool)); /* between frames, skipped or not */
        weft__pool_skip_trace(pool, true);
        CHECK_OK(weft_world_step(world, 1));
        CHECK(!weft__pool_is_traced(pool));
        weft__pool_skip_trace(pool, false);
    }
    CHECK_OK(weft_world_destroy(world));
    CHECK_OK(weft_job_pool_destroy(pool));
}
