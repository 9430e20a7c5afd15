/* SPDX-License-Identifier: MIT */
/* test_signals.c: on which threads the handlers of the host run: never on those of a pool, but for
 * signals of a thread's own instructions and of profilers. */
#include "atomic.h"
#include "plain.h"

#include <weft/jobs.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 3 };

static const int own_signals[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                                  SIGTRAP, SIGSYS, SIGABRT, SIGPROF};

static pthread_t owner;
static weft_a32 x_on_owner, x_elsewhere; /* runs of the handler */
static weft_a32 x_arrived;

static void on_signal(int number)
{
    (void)number;
    at_add_ar(pthread_equal(pthread_self(), owner) ? &x_on_owner : &x_elsewhere, 1u);
}

/* What a worker's thread says about signals. */
typedef struct report {
    sigset_t blocked, pending;
    bool has_pended;   /* a SIGUSR1 to the thread itself waits instead of running its handler */
    bool has_profiled; /* a SIGPROF to the thread itself ran its handler */
} report;

static report reports[WORKERS];

/* One for each worker: none ends before all have begun. */
static int ask_worker(weft_job_context *job, void *argument)
{
    (void)argument;
    report *r = &reports[weft_job_worker_index(job)];
    at_add_ar(&x_arrived, 1u);
    while (at_load_acq(&x_arrived) < WORKERS) sched_yield();
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &r->blocked) == 0);
    CHECK(sigpending(&r->pending) == 0);
    if (weft_job_worker_index(job) == 0) return 0;
    sigset_t pending;
    uint32_t before = at_load_acq(&x_elsewhere);
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
    CHECK(sigpending(&pending) == 0);
    r->has_pended = sigismember(&pending, SIGUSR1) == 1;
    CHECK(pthread_kill(pthread_self(), SIGPROF) == 0);
    r->has_profiled = at_load_acq(&x_elsewhere) > before;
    return 0;
}

static void ask_workers(weft_job_pool *pool)
{
    weft_job_context *context = weft_job_pool_owner(pool);
    const weft_job_desc job = {.fn = ask_worker};
    memset(reports, 0, sizeof reports);
    at_store_rel(&x_arrived, 0u);
    for (uint32_t i = 0; i < WORKERS; i++) CHECK_OK(weft_job_submit(context, &job, NULL));
    CHECK_OK(weft_job_wait_all(context, NULL));
}

static const int handled[] = {SIGUSR1, SIGUSR2, SIGPROF};
static struct sigaction actions_before[3];

static weft_job_pool *open_pool(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    const weft_job_pool_desc desc = {.worker_count = WORKERS, .spin_ns = 1000};
    weft_job_pool *pool;
    for (size_t i = 0; i < 3; i++) CHECK(sigaction(handled[i], &action, &actions_before[i]) == 0);
    owner = pthread_self();
    at_store_rel(&x_on_owner, 0u);
    at_store_rel(&x_elsewhere, 0u);
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    return pool;
}

static void close_pool(weft_job_pool *pool)
{
    CHECK_OK(weft_job_pool_destroy(pool));
    for (size_t i = 0; i < 3; i++) CHECK(sigaction(handled[i], &actions_before[i], NULL) == 0);
}

static void check_same(const sigset_t *a, const sigset_t *b)
{
    for (int s = 1; s < NSIG; s++) CHECK_I64(sigismember(a, s), sigismember(b, s));
}

PLAIN_TEST(workers_block_all_signals_but_their_own)
{
    weft_job_pool *pool = open_pool();
    ask_workers(pool);
    close_pool(pool);
    sigset_t expected;
    sigfillset(&expected); /* without what the C library keeps for itself */
    for (size_t i = 0; i < sizeof own_signals / sizeof own_signals[0]; i++)
        sigdelset(&expected, own_signals[i]);
    sigdelset(&expected, SIGKILL);
    sigdelset(&expected, SIGSTOP);
    for (uint32_t i = 1; i < WORKERS; i++) {
        check_same(&reports[i].blocked, &expected);
        CHECK(reports[i].has_pended && reports[i].has_profiled);
    }
    CHECK_U64(at_load_acq(&x_on_owner), 0);
    CHECK_U64(at_load_acq(&x_elsewhere), WORKERS - 1); /* SIGPROF; no SIGUSR1 ran */
}

PLAIN_TEST(a_signal_to_the_process_waits_for_a_thread_of_the_host)
{
    sigset_t one, before;
    weft_job_pool *pool = open_pool();
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &one, &before) == 0);
    CHECK(kill(getpid(), SIGUSR2) == 0);
    ask_workers(pool);
    for (uint32_t i = 0; i < WORKERS; i++) CHECK_I64(sigismember(&reports[i].pending, SIGUSR2), 1);
    CHECK_U64(at_load_acq(&x_on_owner), 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    CHECK_U64(at_load_acq(&x_on_owner), 1);
    CHECK_U64(at_load_acq(&x_elsewhere), WORKERS - 1); /* SIGPROF only */
    close_pool(pool);
}

/* Also of the signals that are left alone: who blocks them has workers that do. */
PLAIN_TEST(the_mask_of_the_creator_stays_as_it_is)
{
    sigset_t mask, before, after;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigaddset(&mask, SIGPROF);
    CHECK(pthread_sigmask(SIG_SETMASK, &mask, &before) == 0);
    weft_job_pool *pool = open_pool();
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &after) == 0);
    check_same(&after, &mask);
    ask_workers(pool);
    check_same(&reports[0].blocked, &mask);
    for (uint32_t i = 1; i < WORKERS; i++) {
        CHECK_I64(sigismember(&reports[i].blocked, SIGPROF), 1);
        CHECK_I64(sigismember(&reports[i].blocked, SIGSEGV), 0);
        CHECK(!reports[i].has_profiled);
    }
    close_pool(pool);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}
