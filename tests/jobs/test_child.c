/* SPDX-License-Identifier: MIT */
/* test_child.c: the stack of structured children, one thread at a time; schedules are in
 * tests/explore. */
#include "check.h"
#include "child.h"

#include <criterion/criterion.h>

static weft__child_stack stack;
static weft__child children[4];

static int nothing(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    return 0;
}

static void start(void)
{
    weft__child_init(&stack, children, 4, false);
}

static void *mark(uintptr_t value)
{
    return (void *)value;
}

static void push(uintptr_t value)
{
    CHECK(weft__child_push_owner(&stack, nothing, mark(value), 0));
}

TestSuite(child, .init = start);

Test(child, the_youngest_child_comes_back_first)
{
    push(1);
    push(2);
    CHECK_U64(weft__child_pop_owner(&stack), WEFT__CHILD_POPPED);
    CHECK_POINTER(weft__child_at(&stack, stack.bottom)->argument, mark(2));
    CHECK_U64(weft__child_pop_owner(&stack), WEFT__CHILD_POPPED_LAST);
    CHECK_POINTER(weft__child_at(&stack, stack.bottom - 1)->argument, mark(1));
}

Test(child, a_thief_takes_the_oldest_child_and_leaves_its_name)
{
    weft__child *taken = NULL;
    push(1);
    push(2);
    CHECK_U64(weft__child_steal_any(&stack, NULL, 9, &taken), WEFT__STEAL_GOT);
    CHECK_POINTER(taken->argument, mark(1));
    CHECK_U64(at_load_acq(&taken->x_thief), 9);
    CHECK_U64(weft__child_pop_owner(&stack), WEFT__CHILD_POPPED_LAST);
    CHECK_U64(weft__child_pop_owner(&stack), WEFT__CHILD_TAKEN);
}

Test(child, finishing_tells_whether_the_parent_sleeps)
{
    weft__child *taken = NULL;
    push(1);
    push(2);
    CHECK_U64(weft__child_steal_any(&stack, NULL, 1, &taken), WEFT__STEAL_GOT);
    CHECK(!weft__child_finish(taken, 5));
    CHECK_I64(taken->code, 5);
    CHECK_U64(weft__child_steal_any(&stack, NULL, 1, &taken), WEFT__STEAL_GOT);
    uint32_t state = WEFT__CHILD_READY;
    CHECK(at_cas_ar(&taken->x_state, &state, (uint32_t)WEFT__CHILD_WAITED));
    CHECK(weft__child_finish(taken, 0));
}

Test(child, nothing_is_taken_for_an_awaited_child_that_is_done)
{
    weft__child awaited = {0}, *taken = NULL;
    push(1);
    CHECK_U64(weft__child_steal_any(&stack, &awaited, 1, &taken), WEFT__STEAL_GOT);
    push(2);
    weft__child_finish(&awaited, 0);
    CHECK_U64(weft__child_steal_any(&stack, &awaited, 1, &taken), WEFT__STEAL_EMPTY);
}

Test(child, a_full_stack_refuses_until_the_oldest_is_done_without_error)
{
    weft__child *taken = NULL;
    for (uintptr_t i = 0; i < 4; i++) push(i);
    CHECK(!weft__child_push_owner(&stack, nothing, NULL, 0));
    CHECK(!weft__child_make_room(&stack));
    CHECK_U64(weft__child_steal_any(&stack, NULL, 1, &taken), WEFT__STEAL_GOT);
    CHECK(!weft__child_make_room(&stack)); /* taken, but not done */
    weft__child_finish(taken, 0);
    CHECK(weft__child_make_room(&stack));
    push(4);
    CHECK_U64(weft__child_steal_any(&stack, NULL, 1, &taken), WEFT__STEAL_GOT);
    weft__child_finish(taken, 3); /* its error has not been seen yet */
    CHECK(!weft__child_make_room(&stack));
}
