/* SPDX-License-Identifier: MIT */
/* test_slots.c: numbers are handed out once each, through caches, batches and the rising mark. */
#include "check.h"
#include "slots.h"

#include <criterion/criterion.h>

enum { CAPACITY = 200 };
static weft__slots slots;
static weft_a32 links[2 * CAPACITY];
static weft__slots_cache caches[2];
static bool is_out[CAPACITY];

static void start(void)
{
    weft__slots_init(&slots, links, CAPACITY);
    weft__slots_cache_init(&caches[0], &slots);
    weft__slots_cache_init(&caches[1], &slots);
    for (uint32_t i = 0; i < CAPACITY; i++) is_out[i] = false;
}

TestSuite(slots, .init = start);

static uint32_t take(weft__slots_cache *cache)
{
    uint32_t number =
        cache != NULL ? weft__slots_take(&slots, cache) : weft__slots_take_any(&slots);
    if (number == WEFT__SLOTS_NONE) return number;
    CHECK(number < CAPACITY);
    CHECK(!is_out[number]);
    is_out[number] = true;
    return number;
}

static void give(weft__slots_cache *cache, uint32_t number)
{
    is_out[number] = false;
    if (cache != NULL)
        weft__slots_give(&slots, cache, number);
    else
        weft__slots_give_any(&slots, number);
}

Test(slots, every_number_is_handed_out_once)
{
    for (uint32_t i = 0; i < CAPACITY; i++) CHECK(take(&caches[0]) != WEFT__SLOTS_NONE);
    CHECK_U64(take(&caches[0]), WEFT__SLOTS_NONE);
    CHECK_U64(take(NULL), WEFT__SLOTS_NONE);
}

Test(slots, numbers_given_by_one_cache_reach_the_other)
{
    for (uint32_t i = 0; i < CAPACITY; i++) take(&caches[0]);
    for (uint32_t i = 0; i < CAPACITY; i++) give(&caches[0], i);
    uint32_t count = 0;
    while (take(&caches[1]) != WEFT__SLOTS_NONE) count++;
    CHECK(count >= CAPACITY - 2 * WEFT__SLOTS_BATCH); /* the rest is in the first cache */
    while (take(&caches[0]) != WEFT__SLOTS_NONE) count++;
    CHECK_U64(count, CAPACITY);
}

Test(slots, threads_without_a_cache_take_and_give_single_numbers)
{
    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < CAPACITY; i++) CHECK(take(NULL) != WEFT__SLOTS_NONE);
        CHECK_U64(take(NULL), WEFT__SLOTS_NONE);
        for (uint32_t i = 0; i < CAPACITY; i++) give(NULL, i);
    }
}
