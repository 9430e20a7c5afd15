/* SPDX-License-Identifier: MIT */
/* test_job.c: handles, results, dependencies, classes, cancellation and every error code of
 * submitted jobs. */
#include "check.h"

#include <weft/jobs.h>

#include <criterion/criterion.h>
#include <sched.h>

#include "atomic.h"
#include "pool_state.h"

static weft_job_pool *pool;
static weft_job_context *owner;
static uint32_t order[64], order_count; /* what ran, on pools of one worker */

static void start_with(const weft_job_pool_desc *desc)
{
    CHECK_OK(weft_job_pool_create(desc, &pool));
    owner = weft_job_pool_owner(pool);
    order_count = 0;
}

static void start(void)
{
    start_with(&(weft_job_pool_desc){.worker_count = 1});
}

static void stop(void)
{
    weft_job_wait_all(owner, NULL);
    CHECK_OK(weft_job_pool_destroy(pool));
}

TestSuite(job, .init = start, .fini = stop);

static int note(weft_job_context *job, void *argument)
{
    (void)job;
    order[order_count++ % 64] = (uint32_t)(uintptr_t)argument;
    return 0;
}

static int fail(weft_job_context *job, void *argument)
{
    (void)job;
    return (int)(intptr_t)argument;
}

static weft_job_desc noting(uintptr_t value)
{
    return (weft_job_desc){.fn = note, .argument = (void *)value};
}

static weft_job_handle submit(const weft_job_desc *desc)
{
    weft_job_handle handle;
    CHECK_OK(weft_job_submit(owner, desc, &handle));
    CHECK(handle.generation != 0);
    return handle;
}

Test(job, a_waited_job_has_run_and_stays_done_for_ever)
{
    weft_job_desc desc = noting(7);
    weft_job_handle first = submit(&desc);
    CHECK(!weft_job_is_done(pool, first));
    CHECK_RESULT(weft_job_result(pool, first, NULL), WEFT_BUSY);
    CHECK_OK(weft_job_wait(owner, first, NULL));
    for (uint32_t i = 0; i < 1000; i++) CHECK_OK(weft_job_wait(owner, submit(&desc), NULL));
    CHECK(weft_job_is_done(pool, first)); /* its slot was reused many times */
    CHECK_OK(weft_job_wait(owner, first, NULL));
    CHECK_OK(weft_job_result(pool, first, NULL));
    order_count = 0;
}

Test(job, the_null_handle_is_done)
{
    const weft_job_handle null = {0, 0};
    CHECK(weft_job_is_done(pool, null));
    CHECK_OK(weft_job_wait(owner, null, NULL));
    CHECK_OK(weft_job_result(pool, null, NULL));
}

static weft_result then(weft_job_context *job, weft_job_handle predecessor, weft_job_desc desc,
                        weft_job_handle *out)
{
    desc.after = &predecessor;
    desc.after_count = 1;
    return weft_job_submit(job, &desc, out);
}

Test(job, handles_that_were_never_issued_are_refused)
{
    const weft_job_handle forged[] = {{0, 1}, {5, 3}, {1u << 30, 1}, {UINT32_MAX, 1}, {3, 0}};
    weft_job_desc desc = noting(1);
    weft_job_handle handle = submit(&(weft_job_desc){.fn = note});
    for (uint32_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        weft_job_handle bad = forged[i];
        if (i == 0) bad = (weft_job_handle){handle.index, handle.generation + 1};
        desc.after = &bad;
        desc.after_count = 1;
        CHECK(!weft_job_is_done(pool, bad));
        CHECK_RESULT(weft_job_wait(owner, bad, NULL), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_job_result(pool, bad, NULL), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_job_cancel(pool, bad), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_job_submit(owner, &desc, NULL), WEFT_BAD_HANDLE);
    }
}

Test(job, wrong_arguments_are_refused)
{
    weft_job_handle handle;
    const weft_job_desc no_fn = {0}, no_list = {.fn = note, .after_count = 2},
                        no_class = {.fn = note, .class_ = (weft_job_class)9};
    CHECK_RESULT(weft_job_submit(owner, &no_fn, &handle), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_submit(owner, &no_list, &handle), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_submit(owner, &no_class, &handle), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_submit(owner, NULL, &handle), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_submit(NULL, &no_fn, &handle), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_inject(NULL, &no_fn, &handle), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_inject(pool, &no_fn, &handle), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_for_submit(owner, NULL, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_wait(NULL, (weft_job_handle){0, 0}, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_result(NULL, (weft_job_handle){0, 0}, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_cancel(NULL, (weft_job_handle){0, 0}), WEFT_INVALID_ARGUMENT);
    CHECK(!weft_job_is_done(NULL, (weft_job_handle){0, 0}));
}

Test(job, an_error_reaches_the_waiter_once)
{
    int code = 0;
    const weft_job_desc desc = {.fn = fail, .argument = (void *)(intptr_t)-42};
    weft_job_handle handle = submit(&desc);
    CHECK_RESULT(weft_job_wait(owner, handle, &code), WEFT_JOB_FAILED);
    CHECK_I64(code, -42);
    CHECK_OK(weft_job_wait(owner, handle, &code)); /* collected */
    handle = submit(&desc);
    CHECK_RESULT(weft_job_wait_all(owner, &code), WEFT_JOB_FAILED);
    CHECK_OK(weft_job_result(pool, handle, NULL)); /* wait_all collected it */
}

Test(job, an_error_of_a_job_without_a_handle_goes_to_wait_all)
{
    int code = 0;
    for (intptr_t i = 1; i <= 3; i++)
        CHECK_OK(weft_job_submit(owner, &(weft_job_desc){.fn = fail, .argument = (void *)i}, NULL));
    CHECK_RESULT(weft_job_wait_all(owner, &code), WEFT_JOB_FAILED);
    CHECK(code >= 1 && code <= 3);
    CHECK_OK(weft_job_wait_all(owner, NULL));
}

Test(job, jobs_run_after_their_predecessors)
{
    weft_job_desc desc = noting(1);
    weft_job_handle after[3];
    after[0] = submit(&desc);
    desc = noting(2);
    after[1] = submit(&desc);
    after[2] = (weft_job_handle){0, 0}; /* null: already met */
    desc = noting(3);
    desc.after = after;
    desc.after_count = 3;
    weft_job_handle last = submit(&desc);
    CHECK_OK(weft_job_wait(owner, last, NULL));
    CHECK_U64(order_count, 3);
    CHECK_U64(order[2], 3);
}

Test(job, a_continuation_follows_at_once_and_sees_the_failure)
{
    weft_job_desc first = noting(1), second = noting(2), other = noting(3);
    weft_job_handle handle = submit(&first), next;
    CHECK_OK(weft_job_submit(owner, &other, NULL));
    CHECK_OK(then(owner, handle, second, &next));
    CHECK_OK(weft_job_wait(owner, next, NULL));
    CHECK_OK(weft_job_wait_all(owner, NULL));
    CHECK_U64(order_count, 3);
    handle = submit(&(weft_job_desc){.fn = fail, .argument = (void *)(intptr_t)5});
    weft_job_handle anyway;
    CHECK_OK(then(owner, handle, second, &next));
    second.runs_on_error = true;
    CHECK_OK(then(owner, handle, second, &anyway));
    CHECK_RESULT(weft_job_wait(owner, handle, NULL), WEFT_JOB_FAILED);
    CHECK_RESULT(weft_job_wait(owner, next, NULL), WEFT_CANCELLED);
    CHECK_OK(weft_job_wait(owner, anyway, NULL)); /* it ran all the same */
    CHECK_U64(order_count, 4);
}

Test(job, a_job_after_one_that_already_failed_is_cancelled)
{
    weft_job_desc spare = noting(1);
    weft_job_handle older = submit(&spare);
    weft_job_handle failed = submit(&(weft_job_desc){.fn = fail, .argument = (void *)(intptr_t)5});
    CHECK_OK(weft_job_wait(owner, older, NULL)); /* the younger one runs first */
    CHECK(weft_job_is_done(pool, failed));
    weft_job_handle next;
    CHECK_OK(then(owner, failed, spare, &next));
    CHECK_RESULT(weft_job_wait(owner, next, NULL), WEFT_CANCELLED);
    CHECK_RESULT(weft_job_result(pool, failed, NULL), WEFT_JOB_FAILED);
    order_count = 0;
}

Test(job, a_cancelled_job_does_not_run_and_neither_do_those_after_it)
{
    weft_job_desc first = noting(1), second = noting(2);
    weft_job_handle handle = submit(&first), next;
    CHECK_OK(then(owner, handle, second, &next));
    CHECK_OK(weft_job_cancel(pool, handle));
    CHECK_RESULT(weft_job_wait(owner, handle, NULL), WEFT_CANCELLED);
    CHECK_RESULT(weft_job_wait(owner, next, NULL), WEFT_CANCELLED);
    CHECK_U64(order_count, 0);
    CHECK_OK(weft_job_cancel(pool, handle)); /* ended: nothing to do */
}

static int no_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job, (void)argument, (void)begin, (void)end;
    return 0;
}

static int cancel_self(weft_job_context *job, void *argument)
{
    weft_job_handle *self = argument;
    CHECK(!weft_job_is_cancelled(job));
    CHECK_OK(weft_job_cancel(weft_job_context_pool(job), *self));
    CHECK(weft_job_is_cancelled(job));
    weft_job_child(job, note, (void *)(uintptr_t)1); /* children still run: they were started */
    const weft_job_for_desc loop = {.fn = no_part, .count = 5};
    CHECK_RESULT(weft_job_for(job, &loop, NULL), WEFT_CANCELLED);
    return 0;
}

Test(job, a_running_job_sees_its_cancellation)
{
    static weft_job_handle self;
    self = submit(&(weft_job_desc){.fn = cancel_self, .argument = &self});
    CHECK_OK(weft_job_wait(owner, self, NULL)); /* it ran to its end */
    CHECK_U64(order_count, 1);
    CHECK(!weft_job_is_cancelled(owner));
}

static int wait_inside(weft_job_context *job, void *argument)
{
    CHECK_RESULT(weft_job_wait(job, *(weft_job_handle *)argument, NULL), WEFT_WOULD_NEST);
    CHECK_RESULT(weft_job_wait_all(job, NULL), WEFT_WOULD_NEST);
    return 0;
}

Test(job, waiting_for_a_handle_inside_a_job_is_refused)
{
    weft_job_desc desc = noting(1);
    weft_job_handle handle = submit(&desc);
    weft_job_handle inside = submit(&(weft_job_desc){.fn = wait_inside, .argument = &handle});
    CHECK_OK(weft_job_wait(owner, inside, NULL));
}

Test(job, a_full_pool_refuses_without_losing_anything)
{
    weft_job_desc desc = noting(1);
    CHECK_OK(weft_job_pool_destroy(pool));
    start_with(&(weft_job_pool_desc){.worker_count = 1, .job_capacity = 10, .edge_capacity = 8});
    uint32_t submitted = 0;
    weft_job_handle handles[200], last;
    weft_result result;
    while ((result = weft_job_submit(owner, &desc, &last)) == WEFT_OK) handles[submitted++] = last;
    CHECK_RESULT(result, WEFT_POOL_FULL);
    CHECK(submitted >= 10 && submitted < 200);
    CHECK_RESULT(weft_job_inject(pool, &desc, &last), WEFT_POOL_FULL);
    CHECK_OK(weft_job_wait(owner, handles[0], NULL));
    CHECK_OK(weft_job_wait_all(owner, NULL));
    weft_job_handle many[20], pending = submit(&desc);
    for (uint32_t i = 0; i < 20; i++) many[i] = pending;
    desc.after = many;
    uint32_t edges = 0;
    for (desc.after_count = 4; (result = weft_job_submit(owner, &desc, NULL)) == WEFT_OK;)
        edges += 4;
    CHECK_RESULT(result, WEFT_POOL_FULL);
    CHECK(edges >= 8);
    CHECK_OK(weft_job_wait_all(owner, NULL));
    for (uint32_t i = 0; i < 20; i++) many[i] = handles[0];
    desc.after_count = 20; /* all met: the edges come back at once */
    for (uint32_t i = 0; i < 5; i++) CHECK_OK(weft_job_submit(owner, &desc, NULL));
    CHECK_OK(weft_job_wait_all(owner, NULL));
    order_count = 0;
}

Test(job, critical_jobs_run_first_and_background_jobs_last)
{
    static const weft_job_class classes[] = {WEFT_JOB_BACKGROUND, WEFT_JOB_NORMAL,
                                             WEFT_JOB_CRITICAL};
    for (uint32_t i = 0; i < 3; i++) {
        weft_job_desc desc = noting(i);
        desc.class_ = classes[i];
        CHECK_OK(weft_job_submit(owner, &desc, NULL));
    }
    CHECK_OK(weft_job_wait_all(owner, NULL));
    CHECK_U64(order[0], 2);
    CHECK_U64(order[1], 1);
    CHECK_U64(order[2], 0);
}

/* What jobs that renew themselves tell each other. */
typedef struct renewal {
    weft_a32 has_begun, has_last_run;
    weft_a64 renewals;
} renewal;

/* One of them: by a job of its own, or by a continuation of the one that runs. */
typedef struct renewing {
    renewal *all;
    bool continues;
    weft_job_handle running;
} renewing;

#define MOST_RENEWALS 100000000u

static int end_renewal(weft_job_context *job, void *argument)
{
    renewal *self = argument;
    (void)job;
    at_store_rel(&self->has_last_run, 1u);
    return 0;
}

static int renew(weft_job_context *job, void *argument)
{
    renewing *self = argument;
    const weft_job_desc next = {.fn = renew, .argument = self};
    while (at_load_acq(&self->all->has_begun) == 0) sched_yield();
    if (at_load_acq(&self->all->has_last_run) != 0) return 0;
    if (at_add_ar(&self->all->renewals, (uint64_t)1) >= MOST_RENEWALS) return 0;
    if (!self->continues) return (int)weft_job_submit(job, &next, NULL);
    return (int)then(job, self->running, next, &self->running);
}

/* On each number of workers: normal jobs that never end do not keep `last` from running, which the
 * owner waits for, nor a normal job behind it. */
static void wait_beside_renewals(uint32_t workers, bool continues, bool is_behind,
                                 weft_job_class class_)
{
    renewal all = {0};
    renewing jobs[6];
    weft_job_handle handle;
    CHECK_OK(weft_job_pool_destroy(pool));
    start_with(&(weft_job_pool_desc){.worker_count = workers});
    for (uint32_t i = 0; i < 2 * workers; i++) {
        jobs[i] = (renewing){.all = &all, .continues = continues};
        const weft_job_desc desc = {.fn = renew, .argument = &jobs[i]};
        jobs[i].running = submit(&desc);
    }
    at_store_rel(&all.has_begun, 1u); /* they know their handles */
    const weft_job_desc last = {.fn = end_renewal, .argument = &all, .class_ = class_};
    CHECK_OK(class_ == WEFT_JOB_BACKGROUND ? weft_job_submit(owner, &last, &handle)
                                           : weft_job_inject(pool, &last, &handle));
    const weft_job_desc behind = noting(1);
    if (is_behind) CHECK_OK(then(owner, handle, behind, &handle));
    CHECK_OK(weft_job_wait(owner, handle, NULL));
    CHECK(at_load_acq(&all.has_last_run) != 0);
    CHECK(at_load_acq(&all.renewals) < MOST_RENEWALS);
    CHECK_OK(weft_job_wait_all(owner, NULL));
}

Test(job, waits_end_beside_jobs_that_renew_themselves)
{
    for (uint32_t workers = 1; workers <= 3; workers++) {
        for (int i = 0; i < 4; i++) {
            wait_beside_renewals(workers, i & 1, i & 2, WEFT_JOB_BACKGROUND);
            wait_beside_renewals(workers, i & 1, i & 2, WEFT_JOB_NORMAL); /* injected */
        }
    }
}

static int add_one(weft_job_context *job, void *argument)
{
    (void)job;
    ++*(uint8_t *)argument;
    return 0;
}

/* Hours if each took time for those that wait already. */
Test(job, a_million_ready_jobs_each_run_once)
{
    enum { JOBS = 1000000 };
    static uint8_t runs[JOBS];
    CHECK_OK(weft_job_pool_destroy(pool));
    start_with(&(weft_job_pool_desc){.worker_count = 1, .job_capacity = JOBS});
    for (uint32_t round = 1; round <= 2; round++) {
        for (uint32_t i = 0; i < JOBS; i++) {
            const weft_job_desc desc = {.fn = add_one, .argument = &runs[i], .class_ = i % 3};
            CHECK_OK(weft_job_submit(owner, &desc, NULL));
        }
        CHECK_OK(weft_job_wait_all(owner, NULL));
        for (uint32_t i = 0; i < JOBS; i++) CHECK_U64(runs[i], round);
    }
}

Test(job, a_pool_full_of_jobs_without_handles_runs_each_once)
{
    static uint8_t runs[1000];
    CHECK_OK(weft_job_pool_destroy(pool));
    start_with(&(weft_job_pool_desc){.worker_count = 1, .job_capacity = 100});
    for (uint32_t round = 1; round <= 3; round++) {
        uint32_t count = 0;
        weft_job_desc desc = {.fn = add_one};
        weft_result result = WEFT_OK;
        for (; result == WEFT_OK && count < 1000; count += result == WEFT_OK) {
            desc.argument = &runs[count];
            result = weft_job_submit(owner, &desc, NULL);
        }
        CHECK_RESULT(result, WEFT_POOL_FULL);
        CHECK(count >= 200); /* plain ones in the deque, and then slots */
        CHECK_OK(weft_job_wait_all(owner, NULL));
        for (uint32_t i = 0; i < 1000; i++) CHECK_U64(runs[i], i < count ? round : 0);
    }
}

static int fail_by_child(weft_job_context *job, void *argument)
{
    weft_job_child(job, fail, argument);
    return 0;
}

static int note_and_submit_critical(weft_job_context *job, void *argument)
{
    weft_job_desc desc = noting(7);
    desc.class_ = WEFT_JOB_CRITICAL;
    CHECK_OK(weft_job_submit(job, &desc, NULL));
    return note(job, argument);
}

Test(job, one_without_a_handle_joins_its_children_and_lets_critical_ones_first)
{
    int code = 0;
    CHECK_OK(
        weft_job_submit(owner, &(weft_job_desc){.fn = fail_by_child, .argument = (void *)5}, NULL));
    CHECK_RESULT(weft_job_wait_all(owner, &code), WEFT_JOB_FAILED);
    CHECK_U64(code, 5);
    for (uintptr_t i = 0; i < 3; i++) {
        const weft_job_desc desc = noting(i);
        CHECK_OK(weft_job_submit(owner, &desc, NULL));
    }
    const weft_job_desc last = {.fn = note_and_submit_critical, .argument = (void *)3};
    CHECK_OK(weft_job_submit(owner, &last, NULL));
    CHECK_RESULT(weft_job_pool_destroy(pool), WEFT_BUSY);
    CHECK_OK(weft_job_wait_all(owner, NULL));
    static const uint32_t wanted[] = {3, 7, 2, 1, 0}; /* the youngest first */
    CHECK_U64(order_count, 5);
    for (uint32_t i = 0; i < 5; i++) CHECK_U64(order[i], wanted[i]);
}

static int mark_range(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    for (uint32_t i = begin; i < end; i++) ((uint32_t *)argument)[i]++;
    return 0;
}

Test(job, a_loop_can_be_submitted_as_a_job)
{
    uint32_t items[100] = {0};
    weft_job_desc first = noting(1);
    weft_job_handle before = submit(&first), handle;
    const weft_job_for_desc loop = {.fn = mark_range, .argument = items, .count = 100, .grain = 7};
    const weft_job_desc job = {.after = &before, .after_count = 1};
    CHECK_OK(weft_job_for_submit(owner, &loop, &job, &handle));
    CHECK_OK(weft_job_wait(owner, handle, NULL));
    for (uint32_t i = 0; i < 100; i++) CHECK_U64(items[i], 1);
    CHECK_U64(order_count, 1);
    CHECK_OK(weft_job_for_submit(owner, &loop, NULL, NULL));
    CHECK_OK(weft_job_wait_all(owner, NULL));
    CHECK_U64(items[0], 2);
}

/* A loop whose first part cancels the job it belongs to. Owner: the test. */
typedef struct stopped_loop {
    weft_job_handle self;
    uint32_t parts;
} stopped_loop;

static int cancel_in_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    stopped_loop *loop = argument;
    (void)begin, (void)end;
    loop->parts++;
    CHECK_OK(weft_job_cancel(weft_job_context_pool(job), loop->self));
    return 0;
}

Test(job, a_loop_stopped_in_the_middle_ends_as_cancelled_and_so_do_the_jobs_after_it)
{
    static stopped_loop state;
    weft_job_desc second = noting(2);
    weft_job_handle next, done;
    int code = 5;
    const weft_job_for_desc loop = {
        .fn = cancel_in_part, .argument = &state, .count = 100, .grain = 1};
    CHECK_OK(weft_job_for_submit(owner, &loop, NULL, &state.self));
    CHECK_OK(then(owner, state.self, second, &next));
    CHECK_RESULT(weft_job_wait(owner, state.self, &code), WEFT_CANCELLED);
    CHECK_RESULT(weft_job_wait(owner, next, NULL), WEFT_CANCELLED);
    CHECK(state.parts >= 1 && state.parts < 100);
    CHECK_U64(order_count, 0);
    const weft_job_for_desc whole = {.fn = cancel_in_part, .argument = &state, .count = 1};
    CHECK_OK(weft_job_for_submit(owner, &whole, NULL, &state.self));
    CHECK_OK(then(owner, state.self, second, &done));
    CHECK_OK(weft_job_wait(owner, state.self, NULL)); /* nothing was left out */
    CHECK_OK(weft_job_wait(owner, done, NULL));
    CHECK_U64(order_count, 1);
}

Test(job, injected_jobs_run_in_the_order_they_came)
{
    for (uintptr_t i = 0; i < 20; i++) {
        weft_job_desc desc = noting(i);
        CHECK_OK(weft_job_inject(pool, &desc, NULL));
    }
    CHECK_OK(weft_job_wait_all(owner, NULL));
    for (uint32_t i = 0; i < 20; i++) CHECK_U64(order[i], i);
}

static int count_child(weft_job_context *job, void *argument)
{
    (void)job;
    ++*(uint32_t *)argument;
    return 0;
}

Test(job, the_owner_may_wait_for_a_job_while_it_has_children)
{
    uint32_t children = 0;
    for (uint32_t i = 0; i < 5; i++) weft_job_child(owner, count_child, &children);
    weft_job_child(owner, fail, (void *)(intptr_t)6);
    weft_job_desc desc = noting(1);
    desc.class_ = WEFT_JOB_CRITICAL;
    CHECK_OK(weft_job_wait(owner, submit(&desc), NULL));
    CHECK_U64(children, 5);
    CHECK_I64(weft_job_children_wait(owner), 6); /* the error was kept for here */
    CHECK_I64(weft_job_children_wait(owner), 0);
}
