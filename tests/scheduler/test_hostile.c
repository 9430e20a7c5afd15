/* SPDX-License-Identifier: MIT */
/* test_hostile.c: what a host or its surroundings may do to a stepping world: missing arguments,
 * absurd counts, calls from inside, a shared pool, storms of signals, a clock that leaps. The world
 * says no or does not care, and goes on. Faults of memory: test_commands_random.c. */
#include "atomic.h"
#include "os_fault.h"
#include "plain.h"

#include <weft/snapshot.h>
#include <weft/transfer.h>
#include <weft/weft.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { ROWS = 5000, PARTS = 8 };

/* A world in which entities are made, changed and destroyed. */
typedef struct bed {
    weft_world *world;
    weft_component value, mark;
    weft_archetype spawned;
} bed;

static void churn(weft_slice *s, void *user)
{
    const bed *b = user;
    uint32_t *values = weft_slice_write(s, 0);
    weft_recorder *commands = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < s->count; i++) {
        values[i] = values[i] * 1664525u + weft_entity_index(entities[i]) + 1;
        uint32_t roll = values[i] >> 25;
        if (roll == 0) weft_recorder_destroy_entity(commands, entities[i]);
        if (roll == 1) weft_recorder_create_entity(commands, b->spawned);
        if (roll == 2) weft_recorder_add(commands, entities[i], b->mark);
        if (roll == 3) weft_recorder_remove(commands, entities[i], b->mark);
    }
}

static void open_world(bed *b, const weft_world_desc *desc)
{
    CHECK_OK(weft_world_create(desc, &b->world));
    b->value = weft_component_create_plain(b->world, "value", 4, 4, 0);
    b->mark = weft_component_create_plain(b->world, "mark", 8, 8, 0);
    b->spawned = weft_archetype_create(b->world, &b->value, 1);
    CHECK_OK(weft_entity_create_many(b->world, WEFT_ARCHETYPE(b->world, b->value), ROWS, NULL));
    weft_system system = weft_system_create(
        b->world, &(weft_system_desc){.name = "churn",
                                      .run = churn,
                                      .user = b,
                                      .effects = WEFT_RECORDS_ANY,
                                      .over.rows.terms = {{b->value, WEFT_WRITE, WEFT_ALL, 0}}});
    CHECK(system.id != 0);
    CHECK_OK(weft_schedule_set(b->world, &(weft_schedule_desc){.is_always_parallel = true}));
}

static uint64_t run(bed *b, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) CHECK_OK(weft_world_step(b->world, 0.01f));
    CHECK_OK(weft_world_validate(b->world));
    return weft_world_hash(b->world, WEFT_HASH_LAYOUT);
}

static uint64_t quiet_hash(uint32_t steps)
{
    bed b;
    open_world(&b, &(weft_world_desc){.workers = 1});
    uint64_t hash = run(&b, steps);
    CHECK_OK(weft_world_destroy(b.world));
    return hash;
}

/* ---- arguments ---- */

PLAIN_TEST(null_arguments_are_refused_by_every_function_of_the_scheduler)
{
    bed b;
    weft_snapshot *snapshot = NULL;
    weft_system_stats stats;
    weft_recorder *commands;
    weft_slice rows;
    const weft_system none = {0}, forged = {0x7fff0001};
    open_world(&b, &(weft_world_desc){.workers = 1});
    CHECK(weft_system_create(NULL, &(weft_system_desc){.name = "x", .run = churn}).id == 0);
    CHECK(weft_system_create(b.world, NULL).id == 0);
    CHECK(weft_system_create(b.world, &(weft_system_desc){.name = "x"}).id == 0);
    CHECK(weft_system_destroy(NULL, none) != WEFT_OK);
    CHECK(weft_system_find(NULL, "churn").id == 0 && weft_system_find(b.world, NULL).id == 0);
    CHECK(weft_group_set(NULL, NULL) != WEFT_OK && weft_group_set(b.world, NULL) != WEFT_OK);
    CHECK(weft_world_step(NULL, 1) != WEFT_OK && weft_system_run(NULL, none, 1) != WEFT_OK);
    CHECK(weft_schedule_set(NULL, NULL) != WEFT_OK && weft_schedule_compile(NULL) != WEFT_OK);
    CHECK(weft_snapshot_take(NULL, NULL, &snapshot) != WEFT_OK && snapshot == NULL);
    CHECK(weft_snapshot_take(b.world, NULL, NULL) != WEFT_OK);
    CHECK(weft_snapshot_restore(b.world, NULL) != WEFT_OK);
    CHECK(weft_recorder_create(NULL, &commands) != WEFT_OK);
    CHECK(weft_recorder_create(b.world, NULL) != WEFT_OK && weft_recorder_play(NULL) != WEFT_OK);
    CHECK(weft_recorder_create_entity(NULL, b.spawned).version == 0);
    CHECK(weft_recorder_create_rows(NULL, b.spawned, 1, &rows) != WEFT_OK);
    CHECK(weft_recorder_add(NULL, (weft_entity){1, 1}, b.mark) != WEFT_OK);
    CHECK(weft_recorder_destroy_entity(NULL, (weft_entity){1, 1}) != WEFT_OK);
    weft_snapshot_destroy(NULL);
    weft_recorder_destroy(NULL);
    for (int i = 0; i < 2; i++) {
        weft_system bad = i == 0 ? none : forged;
        CHECK(weft_system_destroy(b.world, bad) != WEFT_OK);
        CHECK(weft_system_enable(b.world, bad, true) != WEFT_OK);
        CHECK(weft_system_run(b.world, bad, 0) != WEFT_OK);
        CHECK(weft_system_stats_get(b.world, bad, &stats, sizeof stats) != WEFT_OK);
    }
    CHECK_U64(run(&b, 3), quiet_hash(3));
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(counts_of_nothing_and_of_too_much_create_nothing)
{
    bed b;
    weft_world_stats before, after;
    open_world(&b, &(weft_world_desc){.workers = 1, .entity_block_limit = 2});
    weft_world_stats_get(b.world, &before, sizeof before);
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.value), 0, NULL));
    static const uint32_t counts[] = {2 * 4096 - ROWS + 1, INT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < 3; i++)
        CHECK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.value), counts[i], NULL) !=
              WEFT_OK);
    weft_world_stats_get(b.world, &after, sizeof after);
    CHECK_U64(after.entities, before.entities);
    CHECK_OK(
        weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.value), 2 * 4096 - ROWS, NULL));
    CHECK_OK(weft_world_validate(b.world));
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(a_million_commands_on_a_dead_entity_are_skipped_in_bounded_memory)
{
    enum { COUNT = 1000000 };
    bed b;
    weft_recorder *commands;
    weft_world_stats stats;
    open_world(&b, &(weft_world_desc){.workers = 1});
    weft_entity dead = weft_entity_create(b.world, b.spawned);
    CHECK_OK(weft_entity_destroy(b.world, dead));
    CHECK_OK(weft_recorder_create(b.world, &commands));
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < COUNT; i++) CHECK_OK(weft_recorder_add(commands, dead, b.mark));
        CHECK_OK(weft_recorder_play(commands));
        CHECK_OK(weft_recorder_play(commands)); /* played is empty */
        weft_world_stats_get(b.world, &stats, sizeof stats);
        CHECK_U64(stats.entities, ROWS);
        CHECK(stats.bytes_commands < COUNT * UINT64_C(128));
    }
    weft_recorder_destroy(commands);
    CHECK_OK(weft_world_validate(b.world));
    CHECK_OK(weft_world_destroy(b.world));
}

static weft_result refusals[8];

static weft_snapshot *before_step;
static weft_world *other_world;

static void call_from_inside(weft_slice *s, void *user)
{
    weft_world *world = user;
    (void)s;
    refusals[0] = weft_world_step(world, 1);
    refusals[1] = weft_world_destroy(world);
    refusals[2] = weft_schedule_compile(world);
    weft_snapshot *snapshot;
    refusals[3] = weft_snapshot_take(world, NULL, &snapshot);
    refusals[4] = weft_snapshot_restore(world, before_step);
    refusals[5] = weft_world_save(world, "never written", NULL);
    refusals[6] = weft_world_validate(world);
    refusals[7] = weft_world_transfer(world, other_world, NULL, NULL, 0);
}

PLAIN_TEST(a_step_a_copy_or_the_end_of_the_world_inside_a_step_is_refused)
{
    bed b;
    open_world(&b, &(weft_world_desc){.workers = 1});
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &other_world));
    CHECK_OK(weft_snapshot_take(b.world, NULL, &before_step));
    weft_system inside =
        weft_system_create(b.world, &(weft_system_desc){.name = "inside",
                                                        .run = call_from_inside,
                                                        .user = b.world,
                                                        .flags = WEFT_SYSTEM_MAIN_THREAD});
    CHECK(inside.id != 0);
    weft_world_step(b.world, 1); /* its result may name the refusals */
    for (uint32_t i = 0; i < 8; i++) CHECK_RESULT(refusals[i], WEFT_WRONG_PHASE);
    weft_snapshot_destroy(before_step);
    CHECK_OK(weft_world_destroy(other_world));
    CHECK_OK(weft_system_destroy(b.world, inside));
    CHECK_U64(run(&b, 2), quiet_hash(3));
    CHECK_OK(weft_world_destroy(b.world));
}

/* ---- surroundings ---- */

PLAIN_TEST(two_worlds_on_one_pool_do_not_feel_each_other)
{
    weft_job_pool *pool;
    bed one, two;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 3}, &pool));
    open_world(&one, &(weft_world_desc){.pool = pool});
    open_world(&two, &(weft_world_desc){.pool = pool});
    for (uint32_t i = 0; i < 5; i++) {
        run(&one, 1);
        run(&two, 2);
    }
    CHECK_U64(run(&one, 0), quiet_hash(5));
    CHECK_U64(run(&two, 0), quiet_hash(10));
    CHECK_OK(weft_world_destroy(one.world));
    CHECK_U64(run(&two, 1), quiet_hash(11));
    CHECK_OK(weft_world_destroy(two.world));
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* Ends when it is told to. */
static int wait_until(weft_job_context *job, void *argument)
{
    (void)job;
    while (at_load_acq((weft_a32 *)argument) == 0) sched_yield();
    return 0;
}

static void *destroy_here(void *world)
{
    CHECK_RESULT(weft_world_destroy(world), WEFT_BUSY); /* not WRONG_THREAD */
    return NULL;
}

PLAIN_TEST(a_world_whose_pool_cannot_end_here_and_now_keeps_its_systems)
{
    bed b;
    pthread_t thread;
    open_world(&b, &(weft_world_desc){.workers = 2});
    weft_job_context *owner = weft_job_pool_owner(weft_world_pool(b.world));
    weft_a32 is_over = {0};
    const weft_job_desc job = {.fn = wait_until, .argument = &is_over};
    CHECK_OK(weft_job_submit(owner, &job, NULL));
    CHECK(pthread_create(&thread, NULL, destroy_here, b.world) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_RESULT(weft_world_destroy(b.world), WEFT_BUSY);
    CHECK(strstr(weft_world_error(b.world)->text, "jobs are pending") != NULL);
    at_store_rel(&is_over, 1u);
    CHECK_OK(weft_job_wait_all(owner, NULL));
    CHECK_U64(run(&b, 3), quiet_hash(3));
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(a_world_whose_own_pool_another_world_uses_names_that_world)
{
    bed b;
    weft_world *lodger;
    open_world(&b, &(weft_world_desc){.workers = 2});
    weft_job_pool *pool = weft_world_pool(b.world);
    CHECK_OK(weft_world_create(&(weft_world_desc){.pool = pool, .name = "lodger"}, &lodger));
    CHECK_RESULT(weft_world_destroy(b.world), WEFT_BUSY);
    CHECK(strstr(weft_world_error(b.world)->text, "'lodger'") != NULL);
    CHECK_OK(weft_world_destroy(lodger));
    CHECK_OK(weft_world_destroy(b.world));
}

static void ignore(int signal)
{
    (void)signal;
}

PLAIN_TEST(a_storm_of_signals_changes_no_result)
{
    struct sigaction quiet, storm = {.sa_handler = ignore}; /* no SA_RESTART */
    struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    bed b;
    CHECK(sigaction(SIGALRM, &storm, &quiet) == 0);
    open_world(&b, &(weft_world_desc){.workers = 3});
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
    uint64_t hash = run(&b, 30);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK_OK(weft_world_destroy(b.world));
    CHECK(sigaction(SIGALRM, &quiet, NULL) == 0);
    CHECK_U64(hash, quiet_hash(30));
}

/* Never goes back, as promised; stands still for 64 readings, leaps by ten years now and then. */
static weft_a64 x_readings;

static uint64_t broken_clock(void *user)
{
    static const uint64_t years = UINT64_C(315576000) * 1000000000;
    (void)user;
    uint64_t n = at_add_rlx(&x_readings, UINT64_C(1)); /* relaxed: a number of its own */
    return years * (1 + (n / 1024 < 40 ? n / 1024 : 40)) + n / 64 * 1000;
}

PLAIN_TEST(a_clock_that_stands_still_or_leaps_changes_no_result)
{
    test_os os;
    bed b;
    test_os_init(&os);
    os.table.clock_ns = broken_clock;
    open_world(&b, &(weft_world_desc){.workers = 3, .os = &os.table});
    CHECK_OK(weft_schedule_set(b.world, &(weft_schedule_desc){.is_measured = true}));
    uint64_t hash = run(&b, 20);
    CHECK_OK(weft_world_destroy(b.world));
    CHECK_U64(hash, quiet_hash(20));
}
