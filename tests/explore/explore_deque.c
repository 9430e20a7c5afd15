/* SPDX-License-Identifier: MIT */
/* explore_deque.c: jobs/src/protocol/deque.h under every schedule: one owner, up to two thieves.
 * Each item carries a plain payload that its pusher wrote, so a missing edge D1 is a data race. */
#include "deque.h"
#include "explore_plans.h"

#define ITEMS 8u

static weft__deque deque;
static weft__deque_place places[4];
static uint32_t payload[ITEMS], taken[ITEMS];
static uint32_t pushed;
static explore_history history;

enum { PUSH = 1, POP, STEAL };
#define LOST (UINT32_MAX - 1)

static void start(uint32_t capacity)
{
    weft__deque_init(&deque, places, capacity);
    for (uint32_t i = 0; i < ITEMS; i++) payload[i] = taken[i] = 0;
    for (uint32_t i = 0; i < 4; i++) {
        at_init(&places[i].x_fn, 0);
        at_init(&places[i].x_argument, 0);
    }
    pushed = 0;
    explore_history_init(&history);
}

static void take(uint32_t item)
{
    EXPLORE_CHECK(item >= 1 && item < ITEMS, "item %u was never pushed", item);
    EXPLORE_CHECK(payload[item] == item * 10, "item %u taken before its payload", item);
    EXPLORE_CHECK(taken[item]++ == 0, "item %u taken twice", item);
}

static weft__deque_item item_of(uint32_t n)
{
    return (weft__deque_item){n * 7, n};
}

/* The words of two items must never come together. */
static uint32_t number_of(weft__deque_item item)
{
    if (weft__deque_item_is_none(item)) return WEFT__DEQUE_NONE;
    EXPLORE_CHECK(item.fn == item.argument * 7, "half of %u", (uint32_t)item.argument);
    return (uint32_t)item.argument;
}

static bool push(void)
{
    uint32_t item = pushed + 1;
    payload[item] = item * 10;
    uint32_t h = explore_history_begin(&history, PUSH, item);
    bool ok = weft__deque_push_owner(&deque, item_of(item));
    explore_history_end(&history, h, ok);
    if (ok) pushed++;
    return ok;
}

static void pop(void)
{
    uint32_t h = explore_history_begin(&history, POP, 0);
    uint32_t item = number_of(weft__deque_pop_owner(&deque));
    explore_history_end(&history, h, item);
    if (item != WEFT__DEQUE_NONE) take(item);
}

static void steal(void)
{
    weft__deque_item got = {0, WEFT__DEQUE_NONE};
    uint32_t h = explore_history_begin(&history, STEAL, 0);
    weft__steal result = weft__deque_steal_any(&deque, &got);
    uint32_t item = number_of(got);
    explore_history_end(&history, h, result == WEFT__STEAL_LOST ? LOST : item);
    if (result == WEFT__STEAL_GOT) take(item);
}

static void thief(void *argument)
{
    for (uintptr_t i = 0; i < (uintptr_t)argument; i++) steal();
}

/* The specification: a list of items, taken at both ends. */
typedef struct list {
    uint32_t count, capacity, items[ITEMS];
} list;

static bool apply(void *state, const explore_operation *o)
{
    list *l = state;
    if (o->kind == PUSH) {
        if (!o->result) return true; /* full may be reported while thieves are taking */
        l->items[l->count++] = (uint32_t)o->argument;
        return l->count <= l->capacity;
    }
    if (o->result == LOST) return true;
    if (o->result == WEFT__DEQUE_NONE) return l->count == 0;
    if (!l->count) return false;
    uint32_t at = o->kind == POP ? l->count - 1 : 0;
    if (l->items[at] != o->result) return false;
    l->count--;
    if (o->kind == STEAL) {
        for (uint32_t i = 0; i < l->count; i++) l->items[i] = l->items[i + 1];
    }
    return true;
}

static void finish(uint32_t capacity)
{
    explore_join_all();
    explore_end();
    while (weft__deque_has_items_any(&deque)) pop();
    for (uint32_t i = 1; i <= pushed; i++) EXPLORE_CHECK(taken[i] == 1, "item %u is lost", i);
    list empty = {0, capacity, {0}};
    EXPLORE_CHECK(explore_history_is_linearisable(&history, apply, &empty, sizeof empty),
                  "the history is not one of a deque");
}

static void two_thieves(void)
{
    start(4);
    push();
    push();
    explore_thread(thief, (void *)2);
    explore_thread(thief, (void *)1);
    explore_begin();
    pop();
    push();
    pop();
    pop();
    finish(4);
}

static void last_item(void)
{
    start(2);
    explore_thread(thief, (void *)1);
    explore_thread(thief, (void *)1);
    explore_begin();
    push();
    pop();
    finish(2);
}

/* Capacity two, five pushes: slots are reused while thieves hold old indices. */
static void slot_reuse(void)
{
    start(2);
    explore_thread(thief, (void *)2);
    explore_thread(thief, (void *)1);
    explore_begin();
    for (int i = 0; i < 4; i++) {
        if (!push()) pop();
    }
    finish(2);
}

/* An index below zero: pop from an empty deque while a thief looks. */
static void empty_pop(void)
{
    start(2);
    explore_thread(thief, (void *)2);
    explore_begin();
    pop();
    push();
    pop();
    pop();
    finish(2);
}

const explore_scenario explore_scenarios[] = {
    {"deque_two_thieves",
     two_thieves,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 1),
      PLAN_PCT(EXPLORE_TSO, 5, 20000, 5000000), PLAN_PCT(EXPLORE_C11, 5, 20000, 5000000),
      PLAN_ALL_DEEP(EXPLORE_SC, 6, 0), PLAN_ALL_DEEP(EXPLORE_TSO, 4, 3),
      PLAN_ALL_DEEP(EXPLORE_C11, 4, 2)},
     NULL},
    {"deque_last_item",
     last_item,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 4, 3), PLAN_ALL(EXPLORE_PSO, 3, 3),
      PLAN_ALL(EXPLORE_C11, 3, 3), PLAN_PCT(EXPLORE_C11, 4, 20000, 2000000)},
     NULL},
    {"deque_slot_reuse",
     slot_reuse,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 1),
      PLAN_PCT(EXPLORE_TSO, 5, 20000, 5000000), PLAN_PCT(EXPLORE_C11, 5, 20000, 5000000),
      PLAN_ALL_DEEP(EXPLORE_SC, 6, 0), PLAN_ALL_DEEP(EXPLORE_TSO, 4, 3),
      PLAN_ALL_DEEP(EXPLORE_C11, 4, 2)},
     NULL},
    {"deque_empty_pop",
     empty_pop,
     {PLAN_ALL(EXPLORE_SC, 5, 0), PLAN_ALL(EXPLORE_TSO, 4, 3), PLAN_ALL(EXPLORE_C11, 3, 2),
      PLAN_PCT(EXPLORE_C11, 4, 20000, 2000000)},
     NULL},
    {NULL, NULL, {{0}}, NULL},
};
