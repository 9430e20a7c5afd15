/* SPDX-License-Identifier: MIT */
/* test_lease.c: threads that the host lends to a pool and takes back: asleep or at work, from any
 * thread, with work left over. */
#include "atomic.h"
#include "plain.h"

#include <weft/jobs.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>

/* A thread lent as worker 1 or 2. */
typedef struct lender {
    weft_job_pool *pool;
    uint32_t worker;
    bool is_asking; /* until asks x_is_over */
    pthread_t thread;
    weft_a32 x_asked;
    weft_a32 x_is_over;
    weft_result result;
} lender;

static bool ask(void *user)
{
    lender *self = user;
    at_add_ar(&self->x_asked, 1u);
    return self->is_asking && at_load_rlx(&self->x_is_over) != 0; /* relaxed: the wake orders it */
}

static void *lend(void *argument)
{
    lender *self = argument;
    self->result = weft_job_worker_run(self->pool, self->worker, ask, self);
    return NULL;
}

static weft_job_pool *open_pool(uint32_t workers)
{
    weft_job_pool *pool;
    const weft_job_pool_desc desc = {
        .worker_count = workers, .is_host_driven = true, .spin_ns = 1000, .background_workers = 1};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    return pool;
}

static uint64_t parked(weft_job_pool *pool)
{
    weft_job_stats stats;
    weft_job_stats_get(pool, &stats, sizeof stats);
    return stats.parked;
}

/* Lends a thread and waits until it sleeps, or is about to. */
static void lend_asleep(lender *self)
{
    uint64_t before = parked(self->pool);
    CHECK(pthread_create(&self->thread, NULL, lend, self) == 0);
    while (parked(self->pool) == before) sched_yield();
}

static void come_back(lender *self)
{
    CHECK(pthread_join(self->thread, NULL) == 0);
    CHECK_OK(self->result);
}

PLAIN_TEST(a_sleeping_lent_thread_asks_again_when_it_is_woken)
{
    weft_job_pool *pool = open_pool(2);
    for (int round = 0; round < 200; round++) {
        lender self = {.pool = pool, .worker = 1, .is_asking = true};
        lend_asleep(&self);
        at_store_rlx(&self.x_is_over, 1u); /* relaxed: the wake orders it */
        weft_job_pool_wake(pool);
        come_back(&self);
    }
    CHECK_OK(weft_job_pool_destroy(pool));
}

static void *recall(void *argument)
{
    lender *self = argument;
    CHECK_OK(weft_job_worker_recall(self->pool, self->worker));
    return NULL;
}

PLAIN_TEST(any_thread_takes_a_sleeping_lent_thread_back)
{
    weft_job_pool *pool = open_pool(3);
    for (int round = 0; round < 100; round++) {
        lender both[2] = {{.pool = pool, .worker = 1}, {.pool = pool, .worker = 2}};
        pthread_t other;
        lend_asleep(&both[0]);
        lend_asleep(&both[1]);
        CHECK(pthread_create(&other, NULL, recall, &both[0]) == 0);
        come_back(&both[0]);
        CHECK(pthread_join(other, NULL) == 0);
        CHECK_RESULT(weft_job_worker_recall(pool, 1), WEFT_NOT_FOUND);
        lender more = {.pool = pool, .worker = 2}; /* the second stayed */
        CHECK(pthread_create(&more.thread, NULL, lend, &more) == 0);
        CHECK(pthread_join(more.thread, NULL) == 0);
        CHECK_RESULT(more.result, WEFT_BUSY);
        CHECK_OK(weft_job_worker_recall(pool, 2));
        come_back(&both[1]);
    }
    CHECK_OK(weft_job_pool_destroy(pool));
}

static bool at_once(void *user)
{
    (void)user;
    return true;
}

static int lend_again(weft_job_context *job, void *argument)
{
    weft_job_pool *pool = weft_job_context_pool(job);
    return weft_job_worker_run(pool, 2, at_once, NULL) == WEFT_WRONG_THREAD &&
                   weft_job_worker_index(job) == *(const uint32_t *)argument
               ? 0
               : 1;
}

PLAIN_TEST(a_thread_is_one_worker)
{
    weft_job_pool *pool = open_pool(3);
    weft_job_context *owner = weft_job_pool_owner(pool);
    uint32_t worker = 0;
    int code = 0;
    weft_job_handle handle;
    const weft_job_desc desc = {.fn = lend_again, .argument = &worker};
    CHECK_RESULT(weft_job_worker_run(pool, 1, at_once, NULL), WEFT_WRONG_THREAD);
    CHECK_OK(weft_job_submit(owner, &desc, &handle));
    CHECK_OK(weft_job_wait(owner, handle, NULL));
    lender self = {.pool = pool, .worker = 1};
    lend_asleep(&self);
    worker = 1;
    CHECK_OK(weft_job_inject(pool, &desc, &handle));
    weft_result result;
    while ((result = weft_job_result(pool, handle, &code)) == WEFT_BUSY) sched_yield();
    CHECK_OK(result);
    CHECK_OK(weft_job_worker_recall(pool, 1));
    come_back(&self);
    CHECK_OK(weft_job_pool_destroy(pool));
}

PLAIN_TEST(recalling_says_what_is_wrong)
{
    weft_job_pool *pool = open_pool(2), *other;
    CHECK_RESULT(weft_job_worker_recall(NULL, 1), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_worker_recall(pool, 0), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_worker_recall(pool, 2), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_worker_recall(pool, 1), WEFT_NOT_FOUND);
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 2}, &other));
    CHECK_RESULT(weft_job_worker_recall(other, 1), WEFT_WRONG_PHASE);
    weft_job_pool_wake(other); /* harmless */
    weft_job_pool_wake(NULL);
    CHECK_OK(weft_job_pool_destroy(other));
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* ---- what a thread leaves behind */

static weft_a32 x_runs, x_is_held;

static int run_once(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    at_add_ar(&x_runs, 1u);
    return 0;
}

static int hold(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    at_add_ar(&x_runs, 1u);
    while (at_load_acq(&x_is_held) != 0) sched_yield();
    return 0;
}

static void inject(weft_job_pool *pool, weft_job_fn fn, weft_job_class class_, weft_job_handle *out)
{
    CHECK_OK(weft_job_inject(pool, &(weft_job_desc){.fn = fn, .class_ = class_}, out));
}

/* One thread takes a whole list of jobs into its own deque and is recalled inside the first. The
 * other, asleep, must be woken for the rest: the owner waits for none of them. */
PLAIN_TEST(jobs_that_a_recalled_thread_had_taken_go_to_others)
{
    weft_job_pool *pool = open_pool(3);
    for (int round = 0; round < 100; round++) {
        lender both[2] = {{.pool = pool, .worker = 1}, {.pool = pool, .worker = 2}};
        at_store_rel(&x_runs, 0u);
        at_store_rel(&x_is_held, 1u);
        for (int i = 0; i < 2; i++) inject(pool, hold, WEFT_JOB_NORMAL, NULL);
        inject(pool, run_once, WEFT_JOB_NORMAL, NULL);
        for (int i = 0; i < 2; i++)
            CHECK(pthread_create(&both[i].thread, NULL, lend, &both[i]) == 0);
        while (at_load_acq(&x_runs) < 2) sched_yield(); /* both are inside a job, one is left */
        CHECK_OK(weft_job_worker_recall(pool, 1));
        at_store_rel(&x_is_held, 0u);
        come_back(&both[0]);
        while (at_load_acq(&x_runs) < 3) sched_yield();
        CHECK_OK(weft_job_worker_recall(pool, 2));
        come_back(&both[1]);
    }
    CHECK_OK(weft_job_wait_all(weft_job_pool_owner(pool), NULL));
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* What recalls the only lent thread while the owner sleeps in a wait. */
typedef struct taker {
    weft_job_pool *pool;
    uint64_t parked;
} taker;

static void *take_last(void *argument)
{
    taker *self = argument;
    while (parked(self->pool) <= self->parked) sched_yield(); /* the owner sleeps */
    CHECK_OK(weft_job_worker_recall(self->pool, 1));
    at_store_rel(&x_is_held, 0u);
    return NULL;
}

/* A waiting owner leaves background jobs to others; when the last of them goes it must wake up. */
PLAIN_TEST(an_owner_asleep_runs_background_jobs_when_the_last_lent_thread_leaves)
{
    weft_job_pool *pool = open_pool(2);
    for (int round = 0; round < 100; round++) {
        lender self = {.pool = pool, .worker = 1};
        weft_job_handle second;
        pthread_t other;
        at_store_rel(&x_runs, 0u);
        at_store_rel(&x_is_held, 1u);
        lend_asleep(&self);
        inject(pool, hold, WEFT_JOB_BACKGROUND, NULL);
        while (at_load_acq(&x_runs) == 0) sched_yield();
        inject(pool, run_once, WEFT_JOB_BACKGROUND, &second);
        taker take = {pool, parked(pool)};
        CHECK(pthread_create(&other, NULL, take_last, &take) == 0);
        CHECK_OK(weft_job_wait(weft_job_pool_owner(pool), second, NULL));
        CHECK_U64(at_load_acq(&x_runs), 2);
        come_back(&self);
        CHECK(pthread_join(other, NULL) == 0);
    }
    CHECK_OK(weft_job_wait_all(weft_job_pool_owner(pool), NULL));
    CHECK_OK(weft_job_pool_destroy(pool));
}

PLAIN_TEST(destroy_says_that_jobs_are_pending)
{
    weft_job_pool *pool = open_pool(2);
    CHECK_OK(weft_job_pool_error(pool)->code);
    CHECK_TEXT(weft_job_pool_error(pool)->text, "");
    inject(pool, run_once, WEFT_JOB_NORMAL, NULL);
    CHECK_RESULT(weft_job_pool_destroy(pool), WEFT_BUSY);
    CHECK(strstr(weft_job_pool_error(pool)->text, "weft_job_wait_all") != NULL);
    CHECK_OK(weft_job_wait_all(weft_job_pool_owner(pool), NULL));
    CHECK_OK(weft_job_pool_destroy(pool));
    CHECK_RESULT(weft_job_pool_error(NULL)->code, WEFT_INVALID_ARGUMENT);
}
