/* SPDX-License-Identifier: MIT */
/* test_pool.c: creation, destruction, errors, forks, lent threads and statistics of pools. */
#include "check.h"
#include "folder.h"
#include "fork.h"
#include "memory_fault.h"
#include "os_fault.h"

#include <weft/jobs.h>

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int no_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job, (void)argument, (void)begin, (void)end;
    return 0;
}

static void *no_memory(void *user, size_t bytes, size_t alignment)
{
    (void)user, (void)bytes, (void)alignment;
    return NULL;
}

static int count(weft_job_context *job, void *argument)
{
    (void)job;
    at_add_ar((weft_a32 *)argument, 1u);
    return 0;
}

Test(pool, wrong_descriptors_are_refused)
{
    weft_job_pool *pool = (weft_job_pool *)1;
    static const struct {
        weft_job_pool_desc desc;
        const char *word;
    } wrong[] = {
        {{.worker_count = 257}, "worker_count"},
        {{.job_capacity = (1u << 24) + 1}, "job_capacity"},
        {{.child_capacity = 3}, "child_capacity"},
        {{.child_capacity = 1}, "child_capacity"},
        {{.trace_capacity = 100}, "trace_capacity"},
        {{.thread_name = "a name too long"}, "thread_name"},
        {{.thread_name = ""}, "thread_name"},
        {{.edge_capacity = UINT32_MAX}, "edge_capacity"},
        {{.stack_bytes = 1}, "stack_bytes"},
        {{.allocator.allocate = no_memory}, "weft_job_pool_create"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        weft_error error = {.number = 7};
        weft_job_pool_desc desc = wrong[i].desc;
        CHECK_RESULT(weft_job_pool_create(&desc, &pool), WEFT_INVALID_ARGUMENT);
        CHECK_POINTER(pool, NULL);
        desc.error = &error;
        CHECK_RESULT(weft_job_pool_create(&desc, &pool), WEFT_INVALID_ARGUMENT);
        CHECK_RESULT(error.code, WEFT_INVALID_ARGUMENT);
        CHECK_U64(error.number, 1);
        CHECK(strstr(error.text, wrong[i].word) != NULL);
    }
    CHECK_RESULT(weft_job_pool_create(NULL, NULL), WEFT_INVALID_ARGUMENT);
    weft_error error = {.code = WEFT_IO};
    CHECK_OK(
        weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1, .error = &error}, &pool));
    CHECK_OK(error.code);
    CHECK_OK(weft_job_pool_destroy(pool));
}

Test(pool, defaults_make_at_least_one_worker)
{
    weft_job_pool *pool;
    CHECK_OK(weft_job_pool_create(NULL, &pool));
    CHECK(weft_job_pool_worker_count(pool) >= 1);
    CHECK_U64(weft_job_worker_index(weft_job_pool_owner(pool)), 0);
    CHECK_POINTER(weft_job_context_pool(weft_job_pool_owner(pool)), pool);
    CHECK_OK(weft_job_pool_destroy(pool));
    CHECK_OK(weft_job_pool_destroy(NULL));
    CHECK_POINTER(weft_job_pool_owner(NULL), NULL);
    CHECK_U64(weft_job_pool_worker_count(NULL), 0);
}

Test(pool, every_refused_allocation_leaves_nothing_behind)
{
    test_memory memory;
    test_memory_init(&memory);
    weft_result result = WEFT_OUT_OF_MEMORY;
    uint64_t at = 0;
    while (result == WEFT_OUT_OF_MEMORY) {
        weft_job_pool *pool;
        const weft_job_pool_desc desc = {.worker_count = 3,
                                         .spin_ns = 1000,
                                         .trace_capacity = 16,
                                         .allocator = test_memory_hook(&memory)};
        test_memory_fail(&memory, ++at, false);
        result = weft_job_pool_create(&desc, &pool);
        if (result == WEFT_OK) CHECK_OK(weft_job_pool_destroy(pool));
        CHECK_U64(memory.live_blocks, 0);
    }
    CHECK_OK(result);
    CHECK(at > 6); /* the pool, two of its loops, a ring for each worker */
    test_memory_fini(&memory);
}

Test(pool, every_refused_thread_and_mapping_is_reported)
{
    test_os os;
    weft_job_pool *pool;
    test_os_init(&os);
    test_folder_enter();
    const weft_job_pool_desc desc = {
        .worker_count = 4, .spin_ns = 1000, .os = &os.table, .trace_file = "a.pftrace"};
    for (uint64_t at = 1; at <= 3; at++) {
        test_os_fail_thread(&os, at);
        CHECK_RESULT(weft_job_pool_create(&desc, &pool), WEFT_THREAD_FAILED);
        CHECK_POINTER(pool, NULL);
        CHECK(access("a.pftrace", F_OK) != 0 && access("a.pftrace.raw", F_OK) != 0);
    }
    test_os_fail_thread(&os, 0);
    test_os_fail_map(&os, 1);
    CHECK_RESULT(weft_job_pool_create(&desc, &pool), WEFT_OUT_OF_MEMORY);
    test_os_fail_map(&os, 0);
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    CHECK_OK(weft_job_pool_destroy(pool));
    /* and of the file the rings of four workers, four times */
    CHECK_U64(at_load_acq(&os.x_maps) + 4 * 4, at_load_acq(&os.x_unmaps));
    test_folder_leave();
}

Test(pool, sleepers_that_wake_for_no_reason_do_no_harm)
{
    test_os os;
    weft_job_pool *pool;
    weft_a32 runs = {0};
    test_os_init(&os);
    os.spurious_every = 2;
    const weft_job_pool_desc desc = {.worker_count = 4, .spin_ns = 1, .os = &os.table};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    weft_job_context *owner = weft_job_pool_owner(pool);
    const weft_job_desc job = {.fn = count, .argument = &runs};
    for (uint32_t i = 0; i < 500; i++) {
        weft_job_handle handle;
        CHECK_OK(weft_job_submit(owner, &job, &handle));
        CHECK_OK(weft_job_wait(owner, handle, NULL));
    }
    CHECK_U64(at_load_acq(&runs), 500);
    CHECK_OK(weft_job_pool_destroy(pool));
}

Test(pool, destroy_refuses_while_jobs_are_pending)
{
    weft_job_pool *pool;
    weft_a32 runs = {0};
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1}, &pool));
    weft_job_context *owner = weft_job_pool_owner(pool);
    const weft_job_desc job = {.fn = count, .argument = &runs};
    CHECK_OK(weft_job_submit(owner, &job, NULL));
    CHECK_RESULT(weft_job_pool_destroy(pool), WEFT_BUSY);
    CHECK_OK(weft_job_wait_all(owner, NULL));
    CHECK_U64(at_load_acq(&runs), 1);
    CHECK_OK(weft_job_pool_destroy(pool));
}

static int destroy_inside(weft_job_context *job, void *argument)
{
    *(weft_result *)argument = weft_job_pool_destroy(weft_job_context_pool(job));
    return 0;
}

static void *destroy_elsewhere(void *argument)
{
    CHECK_RESULT(weft_job_pool_destroy(argument), WEFT_WRONG_THREAD);
    CHECK_RESULT(weft_job_wait_all(weft_job_pool_owner(argument), NULL), WEFT_WRONG_THREAD);
    return NULL;
}

Test(pool, destroy_and_wait_belong_to_the_owner_outside_of_jobs)
{
    weft_job_pool *pool;
    pthread_t thread;
    weft_result inside = WEFT_OK;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1}, &pool));
    weft_job_context *owner = weft_job_pool_owner(pool);
    weft_job_child(owner, destroy_inside, &inside);
    CHECK_I64(weft_job_children_wait(owner), 0);
    CHECK_RESULT(inside, WEFT_WRONG_PHASE);
    CHECK_I64(pthread_create(&thread, NULL, destroy_elsewhere, pool), 0);
    CHECK_I64(pthread_join(thread, NULL), 0);
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* What the forked child sees; exit status 0 when all is as promised. */
static int look_from_child(weft_job_pool *pool)
{
    weft_job_context *owner = weft_job_pool_owner(pool);
    weft_a32 runs = {0};
    const weft_job_desc job = {.fn = count, .argument = &runs};
    weft_job_handle handle;
    if (weft_job_submit(owner, &job, &handle) != WEFT_FORKED) return 1;
    if (weft_job_inject(pool, &job, &handle) != WEFT_FORKED) return 2;
    if (weft_job_wait(owner, (weft_job_handle){0, 0}, NULL) != WEFT_FORKED) return 3;
    if (weft_job_wait_all(owner, NULL) != WEFT_FORKED) return 4;
    const weft_job_for_desc loop = {.fn = no_part, .count = 1};
    if (weft_job_for(owner, &loop, NULL) != WEFT_FORKED) return 5;
    if (weft_job_worker_run(pool, 1, NULL, NULL) != WEFT_FORKED) return 6;
    if (weft_job_pool_destroy(pool) != WEFT_OK) return 7;
    weft_job_pool *own;
    if (weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 2}, &own) != WEFT_OK) return 8;
    if (weft_job_pool_destroy(own) != WEFT_OK) return 9;
    return 0;
}

Test(pool, a_forked_child_is_told_instead_of_hanging)
{
    weft_job_pool *pool;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 2}, &pool));
    pid_t child = test_fork(pool);
    if (child == 0) _exit(look_from_child(pool));
    int status;
    CHECK_I64(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_I64(WEXITSTATUS(status), 0);
    CHECK_OK(weft_job_pool_destroy(pool)); /* the parent's still works */
}

/* A thread of the host. Owner: the test. */
typedef struct lender {
    weft_job_pool *pool;
    uint32_t worker;
    weft_a32 x_is_inside; /* it has begun to serve */
    weft_a32 x_is_over;
    weft_result result;
} lender;

static bool is_over(void *user)
{
    lender *self = user;
    at_store_rel(&self->x_is_inside, 1u);
    return at_load_acq(&self->x_is_over) != 0;
}

static void *lend(void *argument)
{
    lender *self = argument;
    self->result = weft_job_worker_run(self->pool, self->worker, is_over, self);
    return NULL;
}

Test(pool, threads_of_the_host_serve_as_workers_until_the_pool_is_destroyed)
{
    weft_job_pool *pool;
    const weft_job_pool_desc desc = {.worker_count = 3, .is_host_driven = true};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    weft_job_context *owner = weft_job_pool_owner(pool);
    lender lenders[2] = {{.pool = pool, .worker = 1}, {.pool = pool, .worker = 2}};
    pthread_t threads[2];
    weft_a32 runs = {0};
    for (uint32_t i = 0; i < 2; i++)
        CHECK_I64(pthread_create(&threads[i], NULL, lend, &lenders[i]), 0);
    for (uint32_t i = 0; i < 2; i++)
        while (at_load_acq(&lenders[i].x_is_inside) == 0) at_stall();
    const weft_job_desc job = {.fn = count, .argument = &runs};
    for (uint32_t i = 0; i < 1000; i++) CHECK_OK(weft_job_submit(owner, &job, NULL));
    CHECK_OK(weft_job_wait_all(owner, NULL));
    CHECK_U64(at_load_acq(&runs), 1000);
    CHECK_RESULT(weft_job_worker_run(pool, 0, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_worker_run(pool, 3, NULL, NULL), WEFT_INVALID_ARGUMENT);
    at_store_rel(&lenders[0].x_is_over, 1u);
    for (uint32_t i = 0; i < 200; i++)
        CHECK_OK(weft_job_submit(owner, &job, NULL)); /* it notices */
    CHECK_OK(weft_job_wait_all(owner, NULL));
    CHECK_OK(weft_job_pool_destroy(pool)); /* waits for the second, and the first if it sleeps */
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_I64(pthread_join(threads[i], NULL), 0);
        CHECK_OK(lenders[i].result);
    }
}

Test(pool, a_host_driven_pool_works_without_any_thread)
{
    weft_job_pool *pool;
    weft_a32 runs = {0};
    const weft_job_pool_desc desc = {.worker_count = 4, .is_host_driven = true};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    weft_job_context *owner = weft_job_pool_owner(pool);
    const weft_job_desc job = {.fn = count, .argument = &runs, .class_ = WEFT_JOB_BACKGROUND};
    weft_job_handle handle;
    CHECK_OK(weft_job_submit(owner, &job, &handle));
    CHECK_OK(weft_job_wait(owner, handle, NULL)); /* no other thread could run it */
    CHECK_U64(at_load_acq(&runs), 1);
    CHECK_OK(weft_job_pool_destroy(pool));
}

Test(pool, lending_a_thread_needs_a_host_driven_pool)
{
    weft_job_pool *pool;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 2}, &pool));
    CHECK_RESULT(weft_job_worker_run(pool, 1, NULL, NULL), WEFT_WRONG_PHASE);
    CHECK_OK(weft_job_pool_destroy(pool));
}

static int read_name(weft_job_context *job, void *argument)
{
    pthread_getname_np(pthread_self(), argument, 16);
    return weft_job_worker_index(job) == 0 ? 0 : 100;
}

Test(pool, workers_carry_the_name_of_the_pool)
{
    weft_job_pool *pool;
    const weft_job_pool_desc desc = {.worker_count = 2, .thread_name = "sim-w", .is_pinned = true};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    weft_job_context *owner = weft_job_pool_owner(pool);
    char name[16] = "";
    /* background jobs are left to worker 1 */
    const weft_job_desc job = {.fn = read_name, .argument = name, .class_ = WEFT_JOB_BACKGROUND};
    weft_job_handle handle;
    int code = 0;
    CHECK_OK(weft_job_submit(owner, &job, &handle));
    CHECK_RESULT(weft_job_wait(owner, handle, &code), WEFT_JOB_FAILED);
    CHECK_I64(code, 100);
    CHECK_TEXT(name, "sim-w1");
    CHECK_OK(weft_job_pool_destroy(pool));
}

static int read_stack(weft_job_context *job, void *argument)
{
    pthread_attr_t is;
    void *begin;
    if (weft_job_worker_index(job) == 0 || pthread_getattr_np(pthread_self(), &is) != 0) return 1;
    pthread_attr_getstack(&is, &begin, argument);
    pthread_attr_destroy(&is);
    return 0;
}

static size_t stack_of_worker_1(weft_job_pool *pool)
{
    size_t bytes = 0;
    const weft_job_desc job = {.fn = read_stack, .argument = &bytes, .class_ = WEFT_JOB_BACKGROUND};
    weft_job_handle handle;
    CHECK_OK(weft_job_submit(weft_job_pool_owner(pool), &job, &handle));
    CHECK_OK(weft_job_wait(weft_job_pool_owner(pool), handle, NULL));
    return bytes;
}

Test(pool, threads_get_the_stack_that_is_asked_for)
{
    const size_t asked[] = {64 << 10, (1 << 20) + 1, 32 << 20};
    const size_t expected[] = {64 << 10, (1 << 20) + (64 << 10), 32 << 20};
    weft_job_pool *pool;
    for (int i = 0; i < 3; i++) {
        weft_job_pool_desc desc = {.worker_count = 2, .stack_bytes = asked[i]};
        CHECK_OK(weft_job_pool_create(&desc, &pool));
        CHECK_U64(stack_of_worker_1(pool), expected[i]);
        CHECK_OK(weft_job_pool_destroy(pool));
    }
    weft_job_pool_desc small = {.worker_count = 2, .stack_bytes = 1000};
    CHECK_RESULT(weft_job_pool_create(&small, &pool), WEFT_INVALID_ARGUMENT);
}

Test(pool, several_pools_live_side_by_side)
{
    weft_job_pool *pools[4];
    weft_a32 runs = {0};
    const weft_job_desc job = {.fn = count, .argument = &runs};
    for (uint32_t i = 0; i < 4; i++)
        CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1 + i}, &pools[i]));
    for (uint32_t k = 0; k < 100; k++)
        for (uint32_t i = 0; i < 4; i++)
            CHECK_OK(weft_job_submit(weft_job_pool_owner(pools[i]), &job, NULL));
    for (uint32_t i = 4; i-- > 0;) {
        CHECK_OK(weft_job_wait_all(weft_job_pool_owner(pools[i]), NULL));
        CHECK_OK(weft_job_pool_destroy(pools[i]));
    }
    CHECK_U64(at_load_acq(&runs), 400);
}

Test(pool, statistics_count_what_was_done)
{
    weft_job_pool *pool;
    weft_job_stats stats;
    weft_a32 runs = {0};
    const weft_job_pool_desc desc = {.worker_count = 1, .child_capacity = 4};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    weft_job_context *owner = weft_job_pool_owner(pool);
    for (uint32_t i = 0; i < 10; i++) weft_job_child(owner, count, &runs);
    CHECK_I64(weft_job_children_wait(owner), 0);
    const weft_job_desc job = {.fn = count, .argument = &runs};
    weft_job_handle handle;
    for (uint32_t i = 0; i < 5; i++) CHECK_OK(weft_job_submit(owner, &job, &handle));
    for (uint32_t i = 0; i < 3; i++) CHECK_OK(weft_job_submit(owner, &job, NULL));
    CHECK_OK(weft_job_wait_all(owner, NULL));
    weft_job_stats_get(pool, &stats, sizeof stats);
    CHECK_U64(stats.children, 10);
    CHECK_U64(stats.children_inlined, 6);
    CHECK_U64(stats.submitted, 8);
    CHECK_U64(stats.stolen, 0);
    CHECK(stats.jobs_high_water >= 5);
    CHECK(stats.spin_budget_ns >= 4000);
    weft_job_frame_begin(pool); /* hints change nothing that can be counted here */
    weft_job_frame_end(pool);
    weft_job_frame_begin(NULL);
    weft_job_frame_end(NULL);
    weft_job_stats_get(NULL, &stats, sizeof stats);
    CHECK_U64(stats.children, 0);
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* Pools of one worker, of which each fourth has work, made and destroyed. */
static void *make_many(void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < 400; i++) {
        weft_job_pool *pools[3];
        for (uint32_t k = 0; k < 3; k++)
            CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1}, &pools[k]));
        weft_a32 runs = {0};
        weft_job_context *owner = weft_job_pool_owner(pools[i % 3]);
        const weft_job_desc job = {.fn = count, .argument = &runs};
        weft_job_handle handle;
        if (i % 4 == 0) weft_job_child(owner, count, &runs);
        if (i % 4 == 0) CHECK_I64(weft_job_children_wait(owner), 0);
        if (i % 4 == 1) CHECK_OK(weft_job_submit(owner, &job, &handle));
        if (i % 4 == 1) CHECK_OK(weft_job_wait(owner, handle, NULL));
        if (i % 4 == 2) CHECK_OK(weft_job_inject(pools[i % 3], &job, NULL));
        if (i % 4 == 2) CHECK_OK(weft_job_wait_all(owner, NULL));
        CHECK_U64(at_load_rlx(&runs), i % 4 < 3);
        for (uint32_t k = 0; k < 3; k++) CHECK_OK(weft_job_pool_destroy(pools[k]));
    }
    return NULL;
}

static int make_one(void)
{
    weft_job_pool *own;
    if (weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1}, &own) != WEFT_OK) return 1;
    return weft_job_pool_destroy(own) == WEFT_OK ? 0 : 2;
}

/* Their mappings are kept for the next ones: checked builds look whether these are clean. */
Test(pool, small_pools_come_and_go_in_several_threads_and_in_a_forked_child)
{
    pthread_t threads[3];
    weft_job_pool *pool;
    for (uint32_t i = 0; i < 3; i++)
        CHECK_I64(pthread_create(&threads[i], NULL, make_many, NULL), 0);
    for (uint32_t i = 0; i < 3; i++) CHECK_I64(pthread_join(threads[i], NULL), 0);
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1}, &pool));
    pid_t child = test_fork(pool);
    if (child == 0) _exit(weft_job_pool_destroy(pool) == WEFT_OK ? make_one() + make_one() : 3);
    int status;
    CHECK_I64(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_I64(WEXITSTATUS(status), 0);
    CHECK_OK(weft_job_pool_destroy(pool));
}

Test(pool, null_is_ignored_where_no_error_can_be_returned)
{
    weft_job_pool *pool;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 2}, &pool));
    weft_job_context *owner = weft_job_pool_owner(pool);
    weft_a32 counted;
    at_init(&counted, 0);
    weft_job_child(NULL, count, &counted);
    weft_job_child(owner, NULL, &counted);
    CHECK_I64(weft_job_children_wait(NULL), 0);
    CHECK_I64(weft_job_children_wait(owner), 0);
    CHECK_U64(at_load_acq(&counted), 0);
    CHECK_U64(weft_job_worker_index(NULL), 0);
    CHECK_POINTER(weft_job_context_pool(NULL), NULL);
    CHECK(!weft_job_is_cancelled(NULL));
    weft_job_trace_mark(NULL, "mark", 1);
    weft_job_stats_get(pool, NULL, 0);
    CHECK_OK(weft_job_pool_destroy(pool));
}
