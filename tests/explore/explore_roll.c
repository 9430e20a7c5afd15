/* SPDX-License-Identifier: MIT */
/* explore_roll.c: ecs/src/memory/roll.c under every schedule, with lists of 1, 2 and 4 entries. The
 * owner writes what an entry points to, and the entry, plainly; readers read both plainly. So an
 * entry that is seen too early, or in memory that was freed, is a data race or a use after
 * release. */
#include "explore_plans.h"
#include "roll.h"

#define THINGS 3u

static weft__memory memory;
static weft__roll roll;
static uint32_t things[THINGS];

static void start(void)
{
    weft__memory_init(&memory, explore_allocator());
    roll = (weft__roll){0};
    for (uint32_t i = 0; i < THINGS; i++) things[i] = 0;
}

static bool add(uint32_t i)
{
    if (!weft__roll_reserve(&roll, &memory, WEFT__MEMORY_TYPES, i)) return false;
    uint32_t **list = at_plain(&roll.x_list);
    things[i] = i + 1;
    list[i] = &things[i];
    weft__roll_publish(&roll, i + 1);
    return true;
}

static void look_up(void *argument)
{
    uint32_t known = 0, first = (uint32_t)(uintptr_t)argument;
    for (uint32_t i = first; i < THINGS; i++) {
        const uint32_t *thing = weft__roll_at(&roll, i), *before;
        if (thing == NULL) continue;
        EXPLORE_CHECK(*thing == i + 1, "entry %u leads to %u", i, *thing);
        for (uint32_t k = known; k < i; k++) {
            before = weft__roll_at(&roll, k);
            EXPLORE_CHECK(before == &things[k], "entry %u, before it, is another", k);
        }
        known = i;
    }
}

static void finish(void)
{
    explore_join_all();
    explore_end();
    weft__roll_fini(&roll, &memory, WEFT__MEMORY_TYPES);
    EXPLORE_CHECK(weft__memory_bytes(&memory, WEFT__MEMORY_TYPES) == 0, "memory is left");
}

static void read_while_it_grows(void)
{
    start();
    explore_thread(look_up, (void *)0);
    explore_begin();
    for (uint32_t i = 0; i < THINGS; i++) add(i);
    finish();
}

static void two_readers(void)
{
    start();
    if (!add(0)) return;
    explore_thread(look_up, (void *)0);
    explore_thread(look_up, (void *)1);
    explore_begin();
    for (uint32_t i = 1; i < THINGS; i++) add(i);
    finish();
}

const explore_scenario explore_scenarios[] = {
    {"roll_read_while_it_grows",
     read_while_it_grows,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 2)},
     NULL},
    {"roll_two_readers",
     two_readers,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_C11, 2, 1)},
     NULL},
    {NULL, NULL, {{0}}, NULL},
};
