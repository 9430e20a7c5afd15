/* SPDX-License-Identifier: MIT */
/* explore_units.c: ecs/src/memory/units.c under every schedule, with 2 megachunks of 3 units of 64
 * bytes that share one reservation, and none kept mapped when empty. An owner marks the memory
 * of its units with plain writes, so two owners, or an owner of memory that is mapped or
 * unmapped meanwhile, are a data race or a use after release. Histories are checked against a
 * counter: LIMIT only when all units were taken at some instant of the call. */
#include "explore_plans.h"
#include "heap.h"
#include "units.h"

#include <string.h>

#define CAPACITY (2u * WEFT__MEGACHUNK_UNITS)

static weft__memory memory;
static weft__units units;
static explore_history history;

enum { TAKE = 1, GIVE };

static void start(void)
{
    weft__memory_init(&memory, explore_allocator());
    weft__units_init(&units, &memory, explore_os(), 2, false);
    explore_history_init(&history);
}

static weft_result take(uint32_t home, uint32_t count, weft__run *run)
{
    uint32_t h = explore_history_begin(&history, TAKE, count);
    weft_result result = weft__units_allocate(&units, count, home, run);
    explore_history_end(&history, h, (uint64_t)result);
    if (result != WEFT_OK) {
        EXPLORE_CHECK(run->count == 0, "failed, but %u units", run->count);
        return result;
    }
    EXPLORE_CHECK(run->count == count && run->memory, "%u units of %u", run->count, count);
    uint64_t *words = run->memory;
    for (uint32_t i = 0; i < count * WEFT__UNIT_BYTES / 8; i++) {
        EXPLORE_CHECK(!run->is_zero || words[i] == 0, "fresh memory is not zero");
        words[i] = run->first + 1;
    }
    return WEFT_OK;
}

static void give(const weft__run *run)
{
    const uint64_t *words = run->memory;
    for (uint32_t i = 0; i < run->count * WEFT__UNIT_BYTES / 8; i++) {
        EXPLORE_CHECK(words[i] == run->first + 1, "another run's unit: %u", run->first);
    }
    uint32_t h = explore_history_begin(&history, GIVE, run->count);
    weft_result result = weft__units_free(&units, run->first, run->count);
    explore_history_end(&history, h, 0);
    EXPLORE_CHECK(result == WEFT_OK, "free: %d", (int)result);
}

/* Units that operations of others moved while `o` ran. */
static uint64_t overlapping(const explore_operation *o)
{
    uint64_t moved = 0;
    for (uint32_t i = 0; i < history.count; i++) {
        const explore_operation *other = &history.operations[i];
        if (other->thread == o->thread || other->end < o->begin || other->begin > o->end) continue;
        if (other->kind == GIVE) moved += other->argument;
    }
    return moved;
}

static bool apply(void *state, const explore_operation *o)
{
    uint64_t *used = state;
    if (o->kind == GIVE) {
        *used -= o->argument;
        return true;
    }
    if (o->result == WEFT_OK) return (*used += o->argument) <= CAPACITY;
    if (o->result == WEFT_OUT_OF_MEMORY) return true;
    /* A run of 3 needs an empty megachunk, which a count does not tell. The scan looks at one
     * megachunk after the other: what others give and take meanwhile may be behind it. */
    return o->argument > 1 ? *used > 0 : *used + overlapping(o) >= CAPACITY;
}

static void finish(uint64_t used)
{
    char text[200] = "";
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(explore_is_weak() ||
                      explore_history_is_linearisable(&history, apply, &used, sizeof used),
                  "the history is not one of a pool of %u units", CAPACITY);
    EXPLORE_CHECK(weft__units_check(&units, text, sizeof text), "%s", text);
}

static void empty(void)
{
    char text[200] = "";
    EXPLORE_CHECK(weft__units_used(&units) == 0, "units are left");
    EXPLORE_CHECK(weft__units_check(&units, text, sizeof text), "%s", text);
    weft__units_fini(&units);
}

static void take_and_give(void *argument)
{
    weft__run run;
    if (take((uint32_t)(uintptr_t)argument, 1, &run) == WEFT_OK) give(&run);
}

static void take_three(void *argument)
{
    weft__run run;
    if (take((uint32_t)(uintptr_t)argument, 3, &run) == WEFT_OK) give(&run);
}

static void first_allocators(void)
{
    start();
    explore_thread(take_and_give, (void *)0);
    explore_begin();
    take_and_give((void *)0);
    finish(0);
    empty();
}

static void both_halves(void)
{
    start();
    explore_thread(take_and_give, (void *)1);
    explore_begin();
    take_and_give((void *)0);
    finish(0);
    empty();
}

/* The units given back by one thread are taken by others: all but one unit are taken before. */
static weft__run held[CAPACITY];

static void hold(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        EXPLORE_CHECK(take(0, 1, &held[i]) == WEFT_OK, "unit %u", i);
    }
    explore_history_init(&history);
}

static void give_held(void *argument)
{
    give(argument);
}

static void release_held(uint32_t from, uint32_t count)
{
    explore_history_init(&history);
    for (uint32_t i = from; i < count; i++) give(&held[i]);
}

static void last_unit_against_free(void)
{
    start();
    hold(CAPACITY - 1);
    explore_thread(give_held, &held[0]);
    explore_thread(take_and_give, (void *)0);
    explore_begin();
    take_and_give((void *)1);
    finish(CAPACITY - 1);
    release_held(1, CAPACITY - 1);
    empty();
}

/* The last unit of the reservation goes back (unmap) while another is taken (map). */
static void free_against_map(void)
{
    start();
    hold(1);
    explore_thread(give_held, &held[0]);
    explore_thread(take_and_give, (void *)0);
    explore_begin();
    take_and_give((void *)1);
    finish(1);
    empty();
}

static void free_against_map_three(void)
{
    start();
    hold(1);
    explore_thread(give_held, &held[0]);
    explore_thread(take_three, (void *)0);
    explore_thread(take_and_give, (void *)1);
    explore_begin();
    take_and_give((void *)0);
    finish(1);
    empty();
}

/* One unit free in all, two want one: exactly one gets it, or both in turn. */
static void busy_is_not_full(void)
{
    start();
    hold(3);
    explore_thread(take_three, (void *)1);
    explore_begin();
    give(&held[0]);
    take_and_give((void *)1);
    finish(3);
    release_held(1, 3);
    empty();
}

/* Two units of one megachunk are given back at once. */
static void two_frees(void)
{
    start();
    hold(3);
    explore_thread(give_held, &held[0]);
    explore_begin();
    give(&held[1]);
    finish(3);
    release_held(2, 3);
    empty();
}

/* Half of the units are held: a thread that wants one of the others gets it, also while its
 * megachunk is busy. */
static void must_take(void *argument)
{
    weft__run run;
    (void)argument;
    EXPLORE_CHECK(take(1, 1, &run) == WEFT_OK, "no unit, but there were three");
    give(&run);
}

static void busy_must_wait(void)
{
    start();
    hold(3);
    explore_thread(must_take, NULL);
    explore_begin();
    must_take(NULL);
    finish(3);
    release_held(0, 3);
    empty();
}

/* A megachunk becomes empty, is unmapped and mapped again, and looks as it did before: a claim that
 * begins before and ends after must find the memory of now. */
static weft__run kept;

static void give_and_take(void *argument)
{
    give(argument);
    EXPLORE_CHECK(take(0, 1, &kept) == WEFT_OK, "no unit");
    take_and_give((void *)0); /* its neighbour is no fresh unit then, as it was not before */
}

static void remapped(void)
{
    start();
    hold(1);
    take_and_give((void *)0);
    explore_history_init(&history);
    explore_thread(give_and_take, &held[0]);
    explore_begin();
    take_and_give((void *)0);
    finish(1);
    give(&kept);
    empty();
}

/* The same through the scan, which runs of several units take. */
static void take_two(uint32_t home)
{
    weft__run run;
    if (take(home, 2, &run) == WEFT_OK) give(&run);
}

static void remapped_run(void)
{
    start();
    hold(1);
    explore_thread(give_and_take, &held[0]);
    explore_begin();
    take_two(0);
    finish(1);
    give(&kept);
    empty();
}

static void trim(void *argument)
{
    (void)argument;
    weft__units_trim(&units, 0);
}

static void trim_against_map(void)
{
    start();
    explore_thread(trim, NULL);
    explore_thread(take_and_give, (void *)1);
    explore_begin();
    take_and_give((void *)0);
    finish(0);
    empty();
}

/* One unit given back by two threads: one of them is refused. (While the megachunk is mapped or
 * unmapped a double free may pass: units.h.) */
static weft_a32 freed;

static void free_shared(void *argument)
{
    weft__run *run = argument;
    weft_result result = weft__units_free(&units, run->first, run->count);
    EXPLORE_CHECK(result == WEFT_OK || result == WEFT_INVALID_ARGUMENT, "result %d", (int)result);
    if (result == WEFT_OK) at_add_rlx(&freed, 1u);
}

static void double_free(void)
{
    start();
    at_init(&freed, 0);
    hold(2);
    explore_thread(free_shared, &held[1]);
    explore_begin();
    free_shared(&held[1]);
    finish(2);
    EXPLORE_CHECK(at_plain(&freed) == 1, "freed %u times", at_plain(&freed));
    release_held(0, 1);
    empty();
}

#define SHORT                                                                                      \
    PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_TSO, 1, 2), PLAN_ALL(EXPLORE_C11, 1, 1),          \
        PLAN_ALL_FAULTS(EXPLORE_SC, 1, 2)
#define LONG                                                                                       \
    PLAN_PCT_FAULTS(EXPLORE_C11, 5, 1, 10000, 5000000), PLAN_ALL_DEEP(EXPLORE_SC, 3, 0),           \
        PLAN_ALL_DEEP(EXPLORE_TSO, 2, 2), PLAN_ALL_DEEP(EXPLORE_C11, 2, 1)

const explore_scenario explore_scenarios[] = {
    {"units_first_allocators",
     first_allocators,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 2, 2), PLAN_ALL(EXPLORE_C11, 2, 1),
      PLAN_ALL_FAULTS(EXPLORE_SC, 2, 2), PLAN_PCT_FAULTS(EXPLORE_C11, 5, 1, 10000, 5000000)},
     NULL},
    {"units_both_halves",
     both_halves,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 2, 2), PLAN_ALL(EXPLORE_C11, 2, 1),
      PLAN_ALL_FAULTS(EXPLORE_SC, 2, 2), PLAN_PCT_FAULTS(EXPLORE_C11, 5, 1, 10000, 5000000)},
     NULL},
    {"units_last_unit_against_free", last_unit_against_free, {SHORT, LONG}, NULL},
    {"units_free_against_map", free_against_map, {SHORT, LONG}, NULL},
    {"units_free_against_map_three",
     free_against_map_three,
     {PLAN_PCT_FAULTS(EXPLORE_C11, 5, 1, 10000, 5000000)},
     NULL},
    {"units_busy_is_not_full", busy_is_not_full, {SHORT, LONG}, NULL},
    {"units_two_frees", two_frees, {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_C11, 3, 1)}, NULL},
    {"units_busy_must_wait",
     busy_must_wait,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_C11, 1, 1), LONG},
     NULL},
    {"units_remapped", remapped, {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1)}, NULL},
    {"units_remapped_run",
     remapped_run,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1)},
     NULL},
    {"units_trim_against_map", trim_against_map, {SHORT, LONG}, NULL},
    {"units_double_free",
     double_free,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_C11, 3, 1)},
     NULL},
    {NULL, NULL, {{0}}, NULL},
};
