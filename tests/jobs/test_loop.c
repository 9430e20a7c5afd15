/* SPDX-License-Identifier: MIT */
/* test_loop.c: the loop table, one thread at a time; schedules are in tests/explore, loops on
 * workers in test_for.c. */
#include "check.h"
#include "loop.h"

#include <criterion/criterion.h>

enum { WORKERS = 3 };
static weft__memory memory;
static weft__loop_table table;

static void start(void)
{
    CHECK_OK(weft__memory_init(&memory, NULL));
    CHECK_OK(weft__loop_table_init(&table, &memory, WORKERS));
}

static void stop(void)
{
    weft__loop_table_fini(&table, &memory);
}

TestSuite(loop, .init = start, .fini = stop);

static weft__loop *open_loop(uint32_t count, uint32_t grain, uint32_t limit)
{
    weft__loop *loop = weft__loop_acquire(&table);
    CHECK(loop != NULL);
    loop->grain = grain;
    loop->limit = limit;
    loop->opener = 1;
    loop->class_ = WEFT_JOB_NORMAL;
    loop->graph = NULL;
    weft__loop_open(&table, loop, 0, count);
    return loop;
}

static void close_loop(weft__loop *loop)
{
    uint64_t left = at_load_acq(&loop->x_left);
    weft__loop_finish(loop, (uint32_t)left);
    weft__loop_close(&table, loop);
}

Test(loop, items_are_split_among_the_participants_from_the_opener_on)
{
    weft__loop *loop = open_loop(10, 2, 1);
    uint32_t begin, end;
    CHECK(weft__loop_claim(loop, 1, 2, &begin, &end));
    CHECK_U64(begin, 0);
    CHECK_U64(end, 2);
    CHECK(weft__loop_claim(loop, 2, 100, &begin, &end));
    CHECK_U64(begin, 5);
    CHECK_U64(end, 10);
    CHECK(!weft__loop_claim(loop, 2, 1, &begin, &end));
    CHECK(!weft__loop_claim(loop, 0, 1, &begin, &end)); /* not wanted: an empty range */
    close_loop(loop);
}

Test(loop, a_claim_takes_at_least_an_eighth_of_what_is_left)
{
    weft__loop *loop = open_loop(80, 2, 0);
    uint32_t begin, end;
    CHECK(weft__loop_claim(loop, 1, 2, &begin, &end));
    CHECK_U64(end, 10);
    CHECK(weft__loop_claim(loop, 1, 2, &begin, &end));
    CHECK_U64(begin, 10);
    CHECK_U64(end, 18); /* an eighth of 70 */
    while (end < 70) CHECK(weft__loop_claim(loop, 1, 2, &begin, &end));
    CHECK_U64(end - begin, 2);
    close_loop(loop);
}

Test(loop, a_thief_takes_the_upper_half_or_the_last_part)
{
    weft__loop *loop = open_loop(8, 2, 0);
    uint32_t begin, end;
    CHECK_U64(weft__loop_steal(loop, 2), 1);
    CHECK(weft__loop_claim(loop, 2, 8, &begin, &end));
    CHECK_U64(begin, 4);
    CHECK_U64(end, 8);
    CHECK(weft__loop_claim(loop, 1, 2, &begin, &end));
    CHECK_U64(weft__loop_steal(loop, 0), 1); /* two are left: one part */
    CHECK(weft__loop_claim(loop, 0, 8, &begin, &end));
    CHECK_U64(begin, 2);
    CHECK_U64(end, 4);
    CHECK_U64(weft__loop_steal(loop, 0), UINT32_MAX);
    close_loop(loop);
}

Test(loop, no_more_workers_join_than_are_wanted)
{
    weft__loop *loop = open_loop(8, 1, 1);
    CHECK(weft__loop_has_room(&table, WEFT_JOB_NORMAL, 1));
    CHECK(!weft__loop_has_room(&table, WEFT_JOB_CRITICAL, 1));
    CHECK_POINTER(weft__loop_join(&table, WEFT_JOB_NORMAL, 1), loop);
    CHECK(!weft__loop_has_room(&table, WEFT_JOB_NORMAL, 1));
    CHECK_POINTER(weft__loop_join(&table, WEFT_JOB_NORMAL, 1), NULL);
    weft__loop_leave(&table, loop, weft__os_default());
    CHECK(weft__loop_has_room(&table, WEFT_JOB_NORMAL, 1));
    close_loop(loop);
    CHECK(!weft__loop_has_room(&table, WEFT_JOB_NORMAL, 1));
}

Test(loop, an_entry_is_recycled_by_the_last_to_leave)
{
    weft__loop *loops[WEFT__LOOPS_MAX];
    for (uint32_t i = 0; i < WEFT__LOOPS_MAX; i++) loops[i] = open_loop(4, 1, 2);
    CHECK_POINTER(weft__loop_acquire(&table), NULL);
    weft__loop *joined = weft__loop_join(&table, WEFT_JOB_NORMAL, 1);
    close_loop(joined);
    CHECK_POINTER(weft__loop_acquire(&table), NULL); /* a thread is still inside */
    weft__loop_leave(&table, joined, weft__os_default());
    CHECK_POINTER(weft__loop_acquire(&table), joined);
    (void)loops;
}

Test(loop, the_failed_part_with_the_lowest_begin_is_kept)
{
    weft__loop *loop = open_loop(8, 1, 0);
    weft__loop_fail(loop, 5, -7);
    weft__loop_fail(loop, 2, 3);
    weft__loop_fail(loop, 6, 9);
    CHECK_U64(at_load_acq(&loop->x_error), (uint64_t)2 << 32 | 3);
    close_loop(loop);
}

Test(loop, the_last_to_report_learns_that_the_opener_sleeps)
{
    weft__loop *loop = open_loop(8, 1, 0);
    CHECK(!weft__loop_finish(loop, 3));
    CHECK(weft__loop_announce_wait(loop));
    CHECK(weft__loop_retract_wait(loop));
    CHECK(!weft__loop_retract_wait(loop));
    CHECK(weft__loop_announce_wait(loop));
    CHECK(!weft__loop_finish(loop, 2));
    CHECK(!weft__loop_is_finished(loop));
    CHECK(weft__loop_finish(loop, 3));
    CHECK(weft__loop_is_finished(loop));
    CHECK(!weft__loop_announce_wait(loop));
    weft__loop_close(&table, loop);
}
