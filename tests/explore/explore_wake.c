/* SPDX-License-Identifier: MIT */
/* explore_wake.c: jobs/src/protocol/wake.c under every schedule. The workers run the pool's
 * serving loop cut down to the wake-up protocol; work is a bit in one word, published and looked
 * for with sequential consistency (edge W1), and carries a plain payload. A lost wake-up ends as
 * a deadlock: the worker sleeps, no thread is left to wake it, and the work or the shutdown waits
 * for ever. */
#include "deque.h"
#include "explore_plans.h"
#include "wake.h"

#define WORKERS 3u
#define WORKS 4u

static weft__wake wake;
static weft__wake_token tokens[WORKERS];
static weft_a32 work, done, stopping;
static uint32_t payload[WORKS], ran[WORKS];
static uint32_t work_count;

/* Or the work is in a real deque that the publisher owns (edge D4). */
static bool uses_deque;
static weft__deque deque;
static weft__deque_place deque_places[4];

static bool has_work(void *argument)
{
    (void)argument;
    if (uses_deque) return weft__deque_has_items_any(&deque) || at_load_sc(&stopping) != 0;
    return at_load_sc(&work) != 0 || at_load_sc(&stopping) != 0; /* W1 */
}

static void publish(uint32_t n, uint32_t near)
{
    payload[n] = n + 1;
    if (uses_deque)
        EXPLORE_CHECK(weft__deque_push_owner(&deque, weft__deque_item_of_slot(n)), "full");
    else
        at_or_sc(&work, 1u << n); /* W1 */
    weft__wake_notify(&wake, near);
}

/* With a barrier a piece of work ends only when all have begun: each must get a worker. */
static bool has_barrier;
static weft_a32 begun;

static void run(uint32_t n)
{
    EXPLORE_CHECK(payload[n] == n + 1, "work %u seen before its payload", n);
    EXPLORE_CHECK(ran[n]++ == 0, "work %u ran twice", n);
    if (has_barrier) {
        at_add_ar(&begun, 1u);
        while (at_load_acq(&begun) < work_count) at_stall();
    }
    at_add_ar(&done, 1u);
}

static bool take(uint32_t *n)
{
    weft__deque_item item;
    if (uses_deque) {
        if (weft__deque_steal_any(&deque, &item) != WEFT__STEAL_GOT) return false;
        *n = (uint32_t)item.argument;
        return true;
    }
    uint32_t bits = at_load_acq(&work);
    while (bits) {
        *n = (uint32_t)__builtin_ctz(bits);
        if (at_cas_sc(&work, &bits, bits & (bits - 1))) return true;
        at_stall();
    }
    return false;
}

/* As weft__worker_serve: search, run, and before sleeping look once more. */
static void serve(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument, n;
    bool is_searching = weft__wake_begin_search(&wake);
    while (!at_load_acq(&stopping)) {
        if (take(&n)) {
            if (is_searching && weft__wake_end_search(&wake) && has_work(NULL)) {
                weft__wake_notify(&wake, me);
            }
            is_searching = false;
            run(n);
            continue;
        }
        if (!is_searching) is_searching = weft__wake_begin_search(&wake);
        if (is_searching && take(&n)) {
            if (weft__wake_end_search(&wake) && has_work(NULL)) weft__wake_notify(&wake, me);
            is_searching = false;
            run(n);
            continue;
        }
        weft__wake_sleep(&wake, me, is_searching, has_work, NULL);
        is_searching = true;
    }
    if (is_searching) weft__wake_end_search(&wake);
}

static void start(void)
{
    weft__wake_init(&wake, explore_os(), tokens, WORKERS);
    at_init(&work, 0);
    at_init(&done, 0);
    at_init(&stopping, 0);
    at_init(&begun, 0);
    has_barrier = uses_deque = false;
    weft__deque_init(&deque, deque_places, 4);
    for (uint32_t i = 0; i < WORKS; i++) payload[i] = ran[i] = 0;
}

static void stop_when_done(void)
{
    while (at_load_acq(&done) < work_count) at_stall();
    at_store_sc(&stopping, 1); /* W1 */
    weft__wake_all(&wake);
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(at_plain(&wake.x_sleepers[0]) == 0, "a sleeper is left");
    EXPLORE_CHECK(at_plain(&wake.x_searching) == 0, "%u are left searching",
                  at_plain(&wake.x_searching));
}

static void with_workers(uint32_t workers, uint32_t works)
{
    start();
    work_count = works;
    for (uintptr_t i = 0; i < workers; i++) explore_thread(serve, (void *)i);
    explore_begin();
    for (uint32_t n = 0; n < works; n++) publish(n, n);
    stop_when_done();
}

static void one_worker(void)
{
    with_workers(1, 2);
}

static void two_workers(void)
{
    with_workers(2, 2);
}

static void three_workers(void)
{
    with_workers(3, 3);
}

static void from_deque(void)
{
    start();
    uses_deque = true;
    work_count = 2;
    explore_thread(serve, (void *)0);
    explore_begin();
    publish(0, 0);
    publish(1, 1);
    stop_when_done();
}

static void barrier(void)
{
    start();
    has_barrier = true;
    work_count = 2;
    explore_thread(serve, (void *)0);
    explore_thread(serve, (void *)1);
    explore_begin();
    publish(0, 0);
    publish(1, 1);
    stop_when_done();
}

/* Work that publishes work: the tree of wake-ups. Two publishers besides. */
static void publisher(void *argument)
{
    publish((uint32_t)(uintptr_t)argument, 0);
}

static void two_publishers(void)
{
    start();
    work_count = 2;
    explore_thread(serve, (void *)0);
    explore_thread(serve, (void *)1);
    explore_thread(publisher, (void *)0);
    explore_begin();
    publish(1, 1);
    stop_when_done();
}

/* A worker that waits for one event sleeps on its token outside the bitmap. */
static void wait_event(void *argument)
{
    (void)argument;
    weft__wake_token_wait(&wake, &tokens[0]);
    EXPLORE_CHECK(payload[0] == 5, "the event's data is not visible");
    weft__wake_token_wait(&wake, &tokens[0]);
    EXPLORE_CHECK(payload[1] == 6, "the second event's data is not visible");
}

static weft_a32 waits_again;

static void targeted(void)
{
    start();
    at_init(&waits_again, 0);
    explore_thread(wait_event, NULL);
    explore_begin();
    payload[0] = 5;
    weft__wake_token_set(&wake, &tokens[0]);
    while (at_load_acq(&tokens[0].x_set)) at_stall();
    payload[1] = 6;
    weft__wake_token_set(&wake, &tokens[0]);
    explore_join_all();
    explore_end();
}

/* A worker that waits for one job sleeps in the bitmap; the thread that ends the job wakes this
 * worker. */
static weft_a32 is_over;

static bool is_over_now(void *argument)
{
    (void)argument;
    return at_load_sc(&is_over) != 0; /* W1 */
}

static void wait_for_end(void *argument)
{
    (void)argument;
    bool is_searching = weft__wake_begin_search(&wake);
    while (!is_over_now(NULL)) {
        weft__wake_sleep(&wake, 0, is_searching, is_over_now, NULL);
        is_searching = true;
    }
    EXPLORE_CHECK(payload[0] == 5, "the end's data is not visible");
    weft__wake_end_search(&wake);
}

static void awaited(void)
{
    start();
    at_init(&is_over, 0);
    explore_thread(wait_for_end, NULL);
    explore_begin();
    payload[0] = 5;
    at_store_sc(&is_over, 1u); /* W1 */
    weft__wake_one(&wake, 0);
    explore_join_all();
    explore_end();
}

const explore_scenario explore_scenarios[] = {
    {"wake_one_worker",
     one_worker,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 1),
      PLAN_ALL_FAULTS(EXPLORE_SC, 3, 2)},
     NULL},
    {"wake_two_workers",
     two_workers,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_TSO, 2, 2), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT_FAULTS(EXPLORE_C11, 4, 1, 20000, 3000000), PLAN_ALL_DEEP(EXPLORE_SC, 4, 0),
      PLAN_ALL_DEEP(EXPLORE_TSO, 3, 2), PLAN_ALL_DEEP(EXPLORE_C11, 3, 1)},
     NULL},
    {"wake_deque",
     from_deque,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 2, 1),
      PLAN_PCT(EXPLORE_C11, 4, 20000, 3000000)},
     NULL},
    {"wake_barrier",
     barrier,
     {PLAN_ALL(EXPLORE_SC, 1, 0), PLAN_PCT(EXPLORE_C11, 5, 20000, 3000000),
      PLAN_ALL_DEEP(EXPLORE_SC, 2, 0), PLAN_ALL_DEEP(EXPLORE_C11, 1, 1)},
     NULL},
    {"wake_three_workers",
     three_workers,
     {PLAN_ALL(EXPLORE_SC, 1, 0), PLAN_PCT(EXPLORE_TSO, 5, 20000, 3000000),
      PLAN_PCT_FAULTS(EXPLORE_C11, 5, 1, 20000, 5000000), PLAN_ALL_DEEP(EXPLORE_SC, 2, 0),
      PLAN_ALL_DEEP(EXPLORE_C11, 1, 1)},
     NULL},
    {"wake_two_publishers",
     two_publishers,
     {PLAN_ALL(EXPLORE_SC, 1, 0), PLAN_PCT(EXPLORE_TSO, 5, 20000, 3000000),
      PLAN_PCT(EXPLORE_C11, 5, 20000, 5000000), PLAN_ALL_DEEP(EXPLORE_SC, 2, 0),
      PLAN_ALL_DEEP(EXPLORE_C11, 1, 1)},
     NULL},
    {"wake_targeted",
     targeted,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 4, 3), PLAN_ALL(EXPLORE_C11, 3, 2),
      PLAN_ALL_FAULTS(EXPLORE_SC, 4, 2)},
     NULL},
    {"wake_awaited",
     awaited,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 2),
      PLAN_ALL_FAULTS(EXPLORE_SC, 3, 2)},
     NULL},
    {NULL, NULL, {{0}}, NULL},
};
