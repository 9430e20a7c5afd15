/* SPDX-License-Identifier: MIT */
/* test_deque.c: the deque of submitted jobs, one thread at a time; schedules are in
 * tests/explore. */
#include "check.h"
#include "deque.h"

#include <criterion/criterion.h>

/* A deque of four. Owner: one test. */
static weft__deque deque;
static weft_a32 slots[4];

static void start(void)
{
    weft__deque_init(&deque, slots, 4);
}

TestSuite(deque, .init = start);

Test(deque, pop_returns_the_youngest_item)
{
    for (uint32_t i = 1; i <= 3; i++) CHECK(weft__deque_push_owner(&deque, i));
    CHECK(weft__deque_is_youngest_owner(&deque, 3));
    CHECK(!weft__deque_is_youngest_owner(&deque, 2));
    CHECK_U64(weft__deque_pop_owner(&deque), 3);
    CHECK_U64(weft__deque_pop_owner(&deque), 2);
    CHECK_U64(weft__deque_pop_owner(&deque), 1);
    CHECK_U64(weft__deque_pop_owner(&deque), WEFT__DEQUE_NONE);
}

Test(deque, the_youngest_item_is_popped_by_name)
{
    for (uint32_t alone = 0; alone < 2; alone++) {
        deque.is_alone = alone != 0;
        CHECK(!weft__deque_is_youngest_owner(&deque, WEFT__DEQUE_NONE)); /* empty: no item at all */
        for (uint32_t i = 1; i <= 2; i++) CHECK(weft__deque_push_owner(&deque, i));
        CHECK(weft__deque_is_youngest_owner(&deque, 2));
        CHECK(weft__deque_pop_youngest_owner(&deque));
        CHECK(weft__deque_is_youngest_owner(&deque, 1));
        CHECK_U64(weft__deque_pop_owner(&deque), 1);
        CHECK(!weft__deque_is_youngest_owner(&deque, 1));
    }
}

Test(deque, steal_returns_the_oldest_item)
{
    uint32_t item = 0;
    for (uint32_t i = 1; i <= 3; i++) CHECK(weft__deque_push_owner(&deque, i));
    CHECK_U64(weft__deque_steal_any(&deque, &item), WEFT__STEAL_GOT);
    CHECK_U64(item, 1);
    CHECK_U64(weft__deque_pop_owner(&deque), 3);
    CHECK_U64(weft__deque_steal_any(&deque, &item), WEFT__STEAL_GOT);
    CHECK_U64(item, 2);
}

Test(deque, steal_from_empty_deque_returns_nothing)
{
    uint32_t item = 77;
    CHECK_U64(weft__deque_steal_any(&deque, &item), WEFT__STEAL_EMPTY);
    CHECK_U64(item, 77);
    CHECK(!weft__deque_has_items_any(&deque));
}

Test(deque, push_into_full_deque_fails_until_something_is_taken)
{
    uint32_t item = 0;
    for (uint32_t i = 0; i < 4; i++) CHECK(weft__deque_push_owner(&deque, i));
    CHECK(!weft__deque_push_owner(&deque, 4));
    CHECK_U64(weft__deque_steal_any(&deque, &item), WEFT__STEAL_GOT);
    CHECK(weft__deque_push_owner(&deque, 4));
    CHECK(!weft__deque_push_owner(&deque, 5));
}

Test(deque, indices_wrap_around_the_slots_many_times)
{
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t item = 0;
        CHECK(weft__deque_push_owner(&deque, i));
        CHECK(weft__deque_push_owner(&deque, i + 5000));
        CHECK_U64(weft__deque_steal_any(&deque, &item), WEFT__STEAL_GOT);
        CHECK_U64(item, i);
        CHECK_U64(weft__deque_pop_owner(&deque), i + 5000);
    }
    CHECK_U64(weft__deque_pop_owner(&deque), WEFT__DEQUE_NONE);
}

Test(deque, a_lone_owner_sees_the_same_order)
{
    deque.is_alone = true;
    for (uint32_t i = 1; i <= 4; i++) CHECK(weft__deque_push_owner(&deque, i));
    CHECK(!weft__deque_push_owner(&deque, 5));
    for (uint32_t i = 4; i >= 1; i--) CHECK_U64(weft__deque_pop_owner(&deque), i);
    CHECK_U64(weft__deque_pop_owner(&deque), WEFT__DEQUE_NONE);
}
