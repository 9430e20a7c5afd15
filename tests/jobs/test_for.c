/* SPDX-License-Identifier: MIT */
/* test_for.c: loops through the public interface: when they run inline, when they are split. */
#include "check.h"
#include "os_fault.h"

#include <weft/jobs.h>

#include <criterion/criterion.h>

#include "atomic.h"
#include "pool_state.h"

enum { COUNT = 1000 };
static weft_job_pool *pool;
static weft_job_context *owner;
static uint32_t items[COUNT], parts;

static void start_with(const weft_job_pool_desc *desc)
{
    CHECK_OK(weft_job_pool_create(desc, &pool));
    owner = weft_job_pool_owner(pool);
    parts = 0;
    for (uint32_t i = 0; i < COUNT; i++) items[i] = 0;
}

static void stop(void)
{
    CHECK_OK(weft_job_pool_destroy(pool));
}

TestSuite(for, .fini = stop);

static int mark(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job, (void)argument;
    parts++; /* read on pools of one worker only */
    CHECK(begin < end && end <= COUNT);
    for (uint32_t i = begin; i < end; i++) items[i]++;
    return 0;
}

static int mark_shared(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job, (void)argument;
    for (uint32_t i = begin; i < end; i++) items[i]++;
    return 0;
}

static void check_items(uint32_t expected)
{
    for (uint32_t i = 0; i < COUNT; i++) CHECK_U64(items[i], expected);
}

static uint64_t told_ns; /* what the clock says; items move it on */

static uint64_t told_clock(void *user)
{
    (void)user;
    return told_ns;
}

/* 2 ns an item. */
static int mark_told(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    told_ns += 2 * (end - begin);
    return mark_shared(job, argument, begin, end);
}

/* On a told clock, and worker 1 never comes. */
static void start_told(test_os *os)
{
    test_os_init(os);
    os->table.clock_ns = told_clock;
    start_with(&(weft_job_pool_desc){.worker_count = 2, .is_host_driven = true, .os = &os->table});
}

Test(for, a_loop_known_to_be_small_stays_inline)
{
    enum { CALLS = 5000 };
    static test_os os;
    weft_job_cost cost = {0};
    weft_job_stats stats;
    start_told(&os);
    const weft_job_for_desc loop = {.fn = mark_told, .count = COUNT, .cost = &cost};
    for (uint32_t i = 0; i < CALLS; i++) CHECK_OK(weft_job_for(owner, &loop, NULL));
    check_items(CALLS);
    weft_job_stats_get(pool, &stats, sizeof stats);
    CHECK_U64(stats.loops_parallel, 0);
    CHECK_U64(stats.loops_inlined, CALLS);
}

/* 2 us an item: worth a worker, but for the calls that measure one. */
static int mark_long(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    told_ns += 2000 * (end - begin);
    return mark_shared(job, argument, begin, end);
}

Test(for, a_loop_known_to_be_large_is_shared)
{
    enum { CALLS = 5 };
    static test_os os;
    weft_job_cost cost = {0};
    weft_job_stats stats;
    start_told(&os);
    const weft_job_for_desc loop = {.fn = mark_long, .count = COUNT, .cost = &cost};
    for (uint32_t i = 0; i < CALLS; i++) CHECK_OK(weft_job_for(owner, &loop, NULL));
    check_items(CALLS);
    weft_job_stats_get(pool, &stats, sizeof stats);
    CHECK_U64(stats.loops_parallel, CALLS);
    CHECK_U64(stats.loops_inlined, 0);
}

/* No thread serves as worker 1. The cost is given, so that the loops are of 24 us by all that the
 * pool knows; an interrupted owner begins a new row. */
Test(for, a_row_of_short_loops_is_split_for_a_worker_that_sleeps)
{
    enum { TRIES = 10000, LOOP_NS = 24000 };
    start_with(&(weft_job_pool_desc){.worker_count = 2, .is_host_driven = true, .spin_ns = 50000});
    uint64_t item =
        (weft__ticks_from_ns(&pool->ticks, LOOP_NS) << WEFT__COST_FRACTION_BITS) / COUNT;
    weft_job_stats stats;
    weft_job_cost cost;
    weft__cost_state *state = weft__cost_state_of(&cost);
    const weft_job_for_desc loop = {.fn = mark_shared, .count = COUNT, .cost = &cost};
    uint32_t loops = 0;
    do {
        cost = (weft_job_cost){0};
        at_init(&state->x_item, item);
        CHECK_OK(weft_job_for(owner, &loop, NULL));
        weft_job_stats_get(pool, &stats, sizeof stats);
        loops++;
    } while (stats.loops_parallel == 0 && loops < TRIES);
    CHECK_U64(stats.loops_parallel, 1);
    CHECK(loops > 2); /* one loop wakes no worker */
    check_items(loops);
    CHECK_U64(at_load_rlx(&state->x_item), item); /* relaxed: ours; such a split teaches nothing */
}

Test(for, splitting_can_be_forced_and_every_item_runs_once)
{
    start_with(&(weft_job_pool_desc){.worker_count = 4, .is_always_parallel = true});
    weft_job_stats stats;
    for (uint32_t grain = 0; grain < 40; grain += 13) {
        const weft_job_for_desc loop = {.fn = mark_shared, .count = COUNT, .grain = grain};
        CHECK_OK(weft_job_for(owner, &loop, NULL));
    }
    check_items(4);
    weft_job_stats_get(pool, &stats, sizeof stats);
    CHECK_U64(stats.loops_parallel, 4);
}

Test(for, an_unknown_loop_grows_its_parts_from_the_grain)
{
    start_with(&(weft_job_pool_desc){.worker_count = 1});
    const weft_job_for_desc loop = {.fn = mark, .count = COUNT};
    CHECK_OK(weft_job_for(owner, &loop, NULL));
    check_items(1);
    CHECK(parts > 1);
    parts = 0;
    const weft_job_for_desc coarse = {.fn = mark, .count = COUNT, .grain = COUNT};
    CHECK_OK(weft_job_for(owner, &coarse, NULL));
    CHECK_U64(parts, 1);
}

Test(for, empty_loops_and_wrong_arguments)
{
    start_with(&(weft_job_pool_desc){.worker_count = 1});
    CHECK_OK(weft_job_for(owner, &(weft_job_for_desc){.fn = mark}, NULL));
    CHECK_RESULT(weft_job_for(owner, &(weft_job_for_desc){.count = 3}, NULL),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_for(owner, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_for(NULL, &(weft_job_for_desc){.fn = mark}, NULL), WEFT_INVALID_ARGUMENT);
    const weft_job_for_desc no_class = {.fn = mark, .count = 1, .class_ = (weft_job_class)7};
    CHECK_RESULT(weft_job_for(owner, &no_class, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_U64(parts, 0);
}

static int fail_at_ten(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job, (void)argument;
    items[begin] = 1;
    return begin <= 10 && 10 < end ? -3 : 0;
}

Test(for, an_error_stops_the_loop_and_returns_its_code)
{
    start_with(&(weft_job_pool_desc){.worker_count = 1});
    int code = 0;
    const weft_job_for_desc loop = {.fn = fail_at_ten, .count = COUNT, .grain = 1};
    CHECK_RESULT(weft_job_for(owner, &loop, &code), WEFT_JOB_FAILED);
    CHECK_I64(code, -3);
    CHECK_U64(items[COUNT - 1], 0);
    CHECK_RESULT(weft_job_for(owner, &loop, NULL), WEFT_JOB_FAILED);
}

static int nest(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    uint32_t depth = *(uint32_t *)argument;
    uint32_t below = depth + 1;
    (void)end;
    if (depth == 100 || begin != 0) return 0; /* one branch only: two would be 2^100 calls */
    const weft_job_for_desc loop = {.fn = nest, .argument = &below, .count = 2, .grain = 2};
    return weft_job_for(job, &loop, NULL) == WEFT_OK ? 0 : 1;
}

Test(for, more_loops_than_the_table_holds_run_inline)
{
    start_with(&(weft_job_pool_desc){.worker_count = 2, .is_always_parallel = true});
    uint32_t depth = 0;
    const weft_job_for_desc loop = {.fn = nest, .argument = &depth, .count = 2, .grain = 2};
    CHECK_OK(weft_job_for(owner, &loop, NULL));
    weft_job_stats stats;
    weft_job_stats_get(pool, &stats, sizeof stats);
    CHECK(stats.loops_inlined > 0 && stats.loops_parallel > 0);
}
