/* SPDX-License-Identifier: MIT */
/* test_wake.c: sleeping and waking with a scripted futex; schedules are in tests/explore. */
#include "check.h"
#include "wake.h"

#include <criterion/criterion.h>

static weft_os os;
static weft__wake wake;
static weft__wake_token tokens[70];
static uint32_t futex_wakes, futex_waits, waker_of; /* what the scripted futex saw */

static void futex_wait(void *user, weft_a32 *word, uint32_t expected)
{
    (void)user, (void)word, (void)expected;
    futex_waits++;
    if (waker_of != UINT32_MAX) weft__wake_one(&wake, waker_of); /* the other thread */
}

static void futex_wake(void *user, weft_a32 *word, uint32_t count)
{
    (void)user, (void)word, (void)count;
    futex_wakes++;
}

static void start(void)
{
    os = (weft_os){.futex_wait = futex_wait, .futex_wake = futex_wake};
    weft__wake_init(&wake, &os, tokens, 70);
    futex_wakes = futex_waits = 0;
    waker_of = UINT32_MAX;
}

static bool yes(void *argument)
{
    (void)argument;
    return true;
}

static bool no(void *argument)
{
    (void)argument;
    return false;
}

TestSuite(wake, .init = start);

Test(wake, work_seen_after_the_announcement_keeps_the_worker_awake)
{
    CHECK(weft__wake_begin_search(&wake));
    CHECK(!weft__wake_sleep(&wake, 3, true, yes, NULL));
    CHECK_U64(futex_waits, 0);
    CHECK(weft__wake_is_awake(&wake));
    CHECK_U64(at_load_sc(&wake.x_searching), 1);
    CHECK(weft__wake_end_search(&wake)); /* it was the last searcher */
}

Test(wake, a_sleeper_is_woken_once_and_counts_as_searching)
{
    waker_of = 69;
    CHECK(weft__wake_sleep(&wake, 69, false, no, NULL));
    CHECK_U64(futex_waits, 1);
    CHECK_U64(futex_wakes, 1);
    CHECK_U64(at_load_sc(&wake.x_searching), 1);
    CHECK(!weft__wake_one(&wake, 69)); /* no worker sleeps any more */
}

Test(wake, notify_wakes_nobody_while_somebody_searches)
{
    at_store_rlx(&wake.x_sleepers[1], (uint64_t)2); /* worker 65 sleeps */
    CHECK(weft__wake_begin_search(&wake));
    CHECK(!weft__wake_notify(&wake, 0));
    CHECK(weft__wake_end_search(&wake));
    CHECK(weft__wake_notify(&wake, 0));
    CHECK_U64(at_load_acq(&tokens[65].x_set), 1);
}

Test(wake, notify_prefers_the_neighbour_and_wraps_around)
{
    at_store_rlx(&wake.x_sleepers[0], (uint64_t)0x28); /* workers 3 and 5 */
    CHECK(weft__wake_notify(&wake, 4));
    CHECK_U64(at_load_acq(&tokens[5].x_set), 1);
    CHECK(weft__wake_end_search(&wake));
    CHECK(weft__wake_notify(&wake, 4));
    CHECK_U64(at_load_acq(&tokens[3].x_set), 1);
}

Test(wake, the_next_sleepers_are_woken_one_by_one_while_others_search)
{
    at_store_rlx(&wake.x_sleepers[0], (uint64_t)0x28); /* workers 3 and 5 */
    CHECK(weft__wake_begin_search(&wake));
    CHECK_U64(weft__wake_sleeper_count(&wake), 2);
    CHECK(weft__wake_next(&wake, 4, false));
    CHECK_U64(at_load_acq(&tokens[5].x_set), 1);
    CHECK_U64(weft__wake_sleeper_count(&wake), 1);
    CHECK(weft__wake_next(&wake, 4, false));
    CHECK_U64(at_load_acq(&tokens[3].x_set), 1);
    CHECK(!weft__wake_next(&wake, 4, false)); /* no worker sleeps any more */
    CHECK_U64(at_load_sc(&wake.x_searching), 3);
}

Test(wake, at_most_half_of_the_workers_search)
{
    uint32_t count = 0;
    while (weft__wake_begin_search(&wake)) count++;
    CHECK_U64(count, 35);
    wake.search_limit = 69; /* a CPU for everybody: pool.c */
    while (weft__wake_begin_search(&wake)) count++;
    CHECK_U64(count, 69);
}

Test(wake, everybody_is_woken_at_shutdown)
{
    at_store_rlx(&wake.x_sleepers[0], ~(uint64_t)0);
    at_store_rlx(&wake.x_sleepers[1], (uint64_t)0x3F);
    weft__wake_all(&wake);
    CHECK_U64(futex_wakes, 70);
    CHECK(weft__wake_is_awake(&wake));
}
