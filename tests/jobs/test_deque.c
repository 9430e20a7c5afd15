/* SPDX-License-Identifier: MIT */
/* test_deque.c: the deque of submitted jobs, one thread at a time; schedules are in
 * tests/explore. */
#include "check.h"
#include "deque.h"

#include <criterion/criterion.h>

/* A deque of four. Owner: one test. */
static weft__deque deque;
static weft__deque_place places[4];

static void start(void)
{
    weft__deque_init(&deque, places, 4);
}

/* The item of a number; both words must come back. */
static weft__deque_item item_of(uint32_t number)
{
    return (weft__deque_item){number * UINT64_C(0x100000003), number};
}

static uint32_t number_of(weft__deque_item item)
{
    if (weft__deque_item_is_none(item)) return WEFT__DEQUE_NONE;
    CHECK_U64(item.fn, item_of((uint32_t)item.argument).fn);
    return (uint32_t)item.argument;
}

static bool push(uint32_t number)
{
    return weft__deque_push_owner(&deque, item_of(number));
}

static uint32_t pop(void)
{
    return number_of(weft__deque_pop_owner(&deque));
}

/* *number stays when nothing was got. */
static weft__steal steal(uint32_t *number)
{
    weft__deque_item item = item_of(0);
    weft__steal result = weft__deque_steal_any(&deque, &item);
    if (result == WEFT__STEAL_GOT) *number = number_of(item);
    return result;
}

TestSuite(deque, .init = start);

Test(deque, pop_returns_the_youngest_item)
{
    for (uint32_t i = 1; i <= 3; i++) CHECK(push(i));
    CHECK_U64(pop(), 3);
    CHECK_U64(pop(), 2);
    CHECK_U64(pop(), 1);
    CHECK_U64(pop(), WEFT__DEQUE_NONE);
}

static bool push_slot(uint32_t slot)
{
    return weft__deque_push_owner(&deque, weft__deque_item_of_slot(slot));
}

Test(deque, the_youngest_slot_is_popped_by_name)
{
    for (uint32_t alone = 0; alone < 2; alone++) {
        deque.is_alone = alone != 0;
        CHECK(!weft__deque_is_youngest_owner(&deque, WEFT__DEQUE_NONE)); /* empty: no item at all */
        for (uint32_t i = 1; i <= 2; i++) CHECK(push_slot(i));
        CHECK(weft__deque_is_youngest_owner(&deque, 2));
        CHECK(!weft__deque_is_youngest_owner(&deque, 1));
        CHECK(weft__deque_pop_youngest_owner(&deque));
        CHECK(weft__deque_is_youngest_owner(&deque, 1));
        CHECK_U64(weft__deque_pop_owner(&deque).argument, 1);
        CHECK(!weft__deque_is_youngest_owner(&deque, 1));
        CHECK(push(3)); /* its argument is 3, but it is no slot */
        CHECK(!weft__deque_is_youngest_owner(&deque, 3));
        CHECK_U64(pop(), 3);
    }
}

Test(deque, plain_jobs_leave_room_for_slots)
{
    deque.plain_limit = 2;
    for (uint32_t i = 1; i <= 2; i++) {
        CHECK(weft__deque_has_room_owner(&deque, deque.plain_limit));
        CHECK(push(i));
    }
    CHECK(!weft__deque_has_room_owner(&deque, deque.plain_limit));
    CHECK(push_slot(7) && push_slot(8) && !push_slot(9));
    uint32_t item = 0;
    for (uint32_t i = 1; i <= 2; i++) CHECK_U64(steal(&item), WEFT__STEAL_GOT);
    CHECK(!weft__deque_has_room_owner(&deque, deque.plain_limit)); /* two slots are there */
    CHECK_U64(weft__deque_pop_owner(&deque).argument, 8);
    CHECK(weft__deque_has_room_owner(&deque, deque.plain_limit));
}

Test(deque, steal_returns_the_oldest_item)
{
    uint32_t item = 0;
    for (uint32_t i = 1; i <= 3; i++) CHECK(push(i));
    CHECK_U64(steal(&item), WEFT__STEAL_GOT);
    CHECK_U64(item, 1);
    CHECK_U64(pop(), 3);
    CHECK_U64(steal(&item), WEFT__STEAL_GOT);
    CHECK_U64(item, 2);
}

Test(deque, steal_from_empty_deque_returns_nothing)
{
    uint32_t item = 77;
    CHECK_U64(steal(&item), WEFT__STEAL_EMPTY);
    CHECK_U64(item, 77);
    CHECK(!weft__deque_has_items_any(&deque));
}

Test(deque, push_into_full_deque_fails_until_something_is_taken)
{
    uint32_t item = 0;
    for (uint32_t i = 0; i < 4; i++) CHECK(push(i));
    CHECK(!push(4));
    CHECK_U64(steal(&item), WEFT__STEAL_GOT);
    CHECK(push(4));
    CHECK(!push(5));
}

Test(deque, indices_wrap_around_the_slots_many_times)
{
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t item = 0;
        CHECK(push(i));
        CHECK(push(i + 5000));
        CHECK_U64(steal(&item), WEFT__STEAL_GOT);
        CHECK_U64(item, i);
        CHECK_U64(pop(), i + 5000);
    }
    CHECK_U64(pop(), WEFT__DEQUE_NONE);
}

Test(deque, a_lone_owner_sees_the_same_order)
{
    deque.is_alone = true;
    for (uint32_t i = 1; i <= 4; i++) CHECK(push(i));
    CHECK(!push(5));
    for (uint32_t i = 4; i >= 1; i--) CHECK_U64(pop(), i);
    CHECK_U64(pop(), WEFT__DEQUE_NONE);
}
