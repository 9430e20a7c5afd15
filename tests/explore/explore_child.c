/* SPDX-License-Identifier: MIT */
/* explore_child.c: jobs/src/protocol/child.h under every schedule: a parent pushes children,
 * takes them back youngest first, and waits for those that thieves took. Argument and result are
 * plain data. */
#include "child.h"
#include "explore_plans.h"

#define CHILDREN 6u

static weft__child_stack stack;
static weft__child children[4];
static uint32_t arguments[CHILDREN], ran[CHILDREN], runner[CHILDREN];
static weft_a32 token;

static int body(weft_job_context *job, void *argument)
{
    (void)job;
    uint32_t n = *(uint32_t *)argument;
    EXPLORE_CHECK(n < CHILDREN && ran[n]++ == 0, "child %u ran twice", n);
    runner[n] = explore_self();
    return (int)n + 1;
}

static void start(void)
{
    weft__child_init(&stack, children, 4, false);
    for (uint32_t i = 0; i < 4; i++) {
        at_init(&children[i].x_state, WEFT__CHILD_DONE);
        at_init(&children[i].x_thief, WEFT__CHILD_NO_THIEF);
    }
    for (uint32_t i = 0; i < CHILDREN; i++) ran[i] = 0;
    at_init(&token, 0);
}

static void thief(void *argument)
{
    const weft_os *os = explore_os();
    for (uintptr_t i = 0; i < (uintptr_t)argument; i++) {
        weft__child *child;
        if (weft__child_steal_any(&stack, NULL, explore_self(), &child) != WEFT__STEAL_GOT)
            continue;
        int code = child->fn(NULL, child->argument);
        if (!weft__child_finish(child, code)) continue;
        at_store_rel(&token, 1);
        os->futex_wake(os->user, &token, 1);
    }
}

static void push(uint32_t n)
{
    arguments[n] = n;
    EXPLORE_CHECK(weft__child_push_owner(&stack, body, &arguments[n], 0), "no room");
}

/* Waits for the child at `index` as a parent does that finds nothing to help with. */
static void wait_for(uint64_t index, uint32_t n)
{
    const weft_os *os = explore_os();
    weft__child *child = weft__child_at(&stack, index);
    uint32_t state = at_load_acq(&child->x_state);
    if (state == WEFT__CHILD_READY && at_cas_ar(&child->x_state, &state, WEFT__CHILD_WAITED)) {
        while (!at_load_acq(&token)) os->futex_wait(os->user, &token, 0);
        at_store_rlx(&token, 0);
    }
    EXPLORE_CHECK(at_load_acq(&child->x_state) == WEFT__CHILD_DONE, "child %u is not done", n);
    EXPLORE_CHECK(child->code == (int)n + 1, "child %u left code %d", n, child->code);
    uint32_t who = at_load_acq(&child->x_thief);
    uint32_t taker = runner[n] == 0 ? WEFT__CHILD_NO_THIEF : runner[n];
    EXPLORE_CHECK(who == taker, "child %u ran on %u, but its thief is %u", n, runner[n], who);
}

/* Joins children n-1..first, youngest first. */
static void join(uint32_t first, uint32_t n)
{
    while (n-- > first) {
        weft__child_pop popped = weft__child_pop_owner(&stack);
        if (popped == WEFT__CHILD_TAKEN) {
            uint64_t index = stack.bottom - 1;
            for (uint32_t k = n + 1; k-- > first; index--) wait_for(index, k);
            stack.floor = stack.bottom;
            return;
        }
        int code = body(NULL, &arguments[n]);
        if (popped != WEFT__CHILD_POPPED_LAST) continue;
        weft__child_finish(weft__child_at(&stack, stack.bottom - 1), code);
        /* Its index counts as taken: the next pop finds it and all older ones taken. */
        for (uint64_t index = stack.bottom - 1, k = n + 1; k-- > first; index--) {
            wait_for(index, (uint32_t)k);
        }
        stack.floor = stack.bottom;
        return;
    }
}

static void check(uint32_t count)
{
    explore_join_all();
    explore_end();
    for (uint32_t n = 0; n < count; n++) EXPLORE_CHECK(ran[n] == 1, "child %u did not run", n);
}

static void two_children(void)
{
    start();
    explore_thread(thief, (void *)2);
    explore_thread(thief, (void *)1);
    explore_begin();
    push(0);
    push(1);
    join(0, 2);
    check(2);
}

/* The stack's entries are used again after a join. */
static void reuse(void)
{
    start();
    explore_thread(thief, (void *)2);
    explore_begin();
    for (uint32_t n = 0; n < 5; n++) {
        push(n);
        join(n, n + 1);
    }
    check(5);
}

/* A thief may not take on behalf of a thread whose awaited child is done. */
static weft__child awaited;

static void done_awaited(void *argument)
{
    (void)argument;
    weft__child_finish(&awaited, 7);
}

static void helper(void *argument)
{
    weft__child *child;
    (void)argument;
    bool was_done = at_load_acq(&awaited.x_state) == WEFT__CHILD_DONE;
    if (weft__child_steal_any(&stack, &awaited, explore_self(), &child) != WEFT__STEAL_GOT) return;
    EXPLORE_CHECK(!was_done, "helped although the awaited child was done");
    child->fn(NULL, child->argument);
    weft__child_finish(child, 1);
}

static void leapfrog(void)
{
    start();
    at_init(&awaited.x_state, WEFT__CHILD_READY);
    push(0);
    explore_thread(helper, NULL);
    explore_thread(done_awaited, NULL);
    explore_begin();
    explore_join_all();
    explore_end();
    if (ran[0]) return;
    EXPLORE_CHECK(at_plain(&awaited.x_state) == WEFT__CHILD_DONE, "not taken without a reason");
    EXPLORE_CHECK(weft__child_has_items_any(&stack), "the child is lost");
}

const explore_scenario explore_scenarios[] = {
    {"child_two",
     two_children,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 1),
      PLAN_PCT(EXPLORE_C11, 5, 30000, 5000000), PLAN_ALL_DEEP(EXPLORE_SC, 6, 0),
      PLAN_ALL_DEEP(EXPLORE_TSO, 4, 3), PLAN_ALL_DEEP(EXPLORE_C11, 4, 2)},
     NULL},
    {"child_reuse",
     reuse,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 1),
      PLAN_PCT(EXPLORE_C11, 5, 30000, 5000000), PLAN_ALL_DEEP(EXPLORE_C11, 4, 2)},
     NULL},
    {"child_leapfrog",
     leapfrog,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 2)},
     NULL},
    {NULL, NULL, {{0}}, NULL},
};
