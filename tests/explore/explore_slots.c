/* SPDX-License-Identifier: MIT */
/* explore_slots.c: jobs/src/slots.* under every schedule, with batches of one (explore_slots) and
 * of two (explore_batches): threads take and give the numbers of a small table. Each number guards
 * a plain word, so handing it out twice, or without edge S1, is a data race. */
#include "explore_plans.h"
#include "slots.h"

#define NUMBERS 4u

static weft__slots slots;
static weft_a32 links[2 * NUMBERS];
static uint32_t holder[NUMBERS];
static weft__slots_cache caches[4];

static void hold(uint32_t number)
{
    EXPLORE_CHECK(number < NUMBERS, "number %u", number);
    EXPLORE_CHECK(holder[number] == 0, "number %u is held by %u", number, holder[number]);
    holder[number] = explore_self();
}

static void let_go(uint32_t number)
{
    EXPLORE_CHECK(holder[number] == explore_self(), "number %u taken meanwhile", number);
    holder[number] = 0;
}

static void worker(void *argument)
{
    weft__slots_cache *cache = &caches[explore_self()];
    for (uintptr_t i = 0; i < (uintptr_t)argument; i++) {
        uint32_t a = weft__slots_take(&slots, cache), b = weft__slots_take(&slots, cache);
        if (a != WEFT__SLOTS_NONE) hold(a);
        if (b != WEFT__SLOTS_NONE) hold(b);
        if (a != WEFT__SLOTS_NONE) {
            let_go(a);
            weft__slots_give(&slots, cache, a);
        }
        if (b != WEFT__SLOTS_NONE) {
            let_go(b);
            weft__slots_give(&slots, cache, b);
        }
    }
}

static void stranger(void *argument)
{
    (void)argument;
    uint32_t a = weft__slots_take_any(&slots);
    if (a == WEFT__SLOTS_NONE) return;
    hold(a);
    let_go(a);
    weft__slots_give(&slots, &caches[explore_self()], a);
}

static void start(void)
{
    weft__slots_init(&slots, links, NUMBERS);
    for (uint32_t i = 0; i < NUMBERS; i++) holder[i] = 0;
    for (uint32_t i = 0; i < 4; i++) weft__slots_cache_init(&caches[i], &slots);
}

/* At rest every number can be had exactly once more. */
static void finish(void)
{
    uint32_t seen = 0;
    explore_join_all();
    explore_end();
    for (uint32_t i = 0; i < 4; i++) {
        while (caches[i].count) seen |= 1u << weft__slots_take(&slots, &caches[i]);
    }
    for (uint32_t n; (n = weft__slots_take_any(&slots)) != WEFT__SLOTS_NONE;) {
        EXPLORE_CHECK(!(seen >> n & 1), "number %u twice", n);
        seen |= 1u << n;
    }
    EXPLORE_CHECK(seen == (1u << NUMBERS) - 1, "numbers lost: %#x", seen);
}

static void fresh(void)
{
    start();
    explore_thread(worker, (void *)1);
    explore_thread(worker, (void *)1);
    explore_begin();
    finish();
}

/* All numbers are on the shared stack: takers of the same head, and the ABA case. */
static void shared_stack(void)
{
    start();
    for (uint32_t i = 0; i < NUMBERS / WEFT__SLOTS_BATCH; i++)
        weft__slots_refill(&slots, &caches[i]);
    for (uint32_t i = 0; i < NUMBERS / WEFT__SLOTS_BATCH; i++)
        weft__slots_spill(&slots, &caches[i]);
    explore_thread(worker, (void *)1);
    explore_thread(worker, (void *)1);
    explore_thread(stranger, NULL);
    explore_begin();
    finish();
}

static void busy(void)
{
    start();
    for (uint32_t i = 0; i < 3; i++) explore_thread(worker, (void *)2);
    explore_begin();
    finish();
}

const explore_scenario explore_scenarios[] = {
    {"slots_fresh",
     fresh,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 2, 2), PLAN_ALL(EXPLORE_C11, 2, 1),
      PLAN_ALL_DEEP(EXPLORE_TSO, 4, 2), PLAN_ALL_DEEP(EXPLORE_C11, 4, 2)},
     NULL},
    {"slots_shared_stack",
     shared_stack,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT(EXPLORE_C11, 5, 20000, 5000000), PLAN_ALL_DEEP(EXPLORE_SC, 4, 0),
      PLAN_ALL_DEEP(EXPLORE_C11, 3, 2)},
     NULL},
    {"slots_busy", busy, {PLAN_PCT(EXPLORE_C11, 5, 20000, 5000000)}, NULL},
    {NULL, NULL, {{0}}, NULL},
};
