/* SPDX-License-Identifier: MIT */
/* bench_jobs_pool.c: waking, graphs and idleness of the job system.
 *
 * jobs.wake compares the first start on a parked worker with a bare futex between two threads,
 * on the same two CPUs; jobs.idle reads the CPU time and the context switches of the whole
 * process, and the clocks of the workers from the last job on: the clock of a process leaves out
 * what a thread that still runs on another CPU has used since the last tick. What each figure
 * means: docs/notes/jobs.md.
 */
#include "bench_jobs.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "pool_state.h"

enum { LAYERS = 32, WIDTH = 32, NODES = LAYERS * WIDTH };
static char cells[NODES * 64]; /* one line per node */

static int tick(weft_job_context *job, void *argument)
{
    (void)job;
    ++*(char *)argument;
    return 0;
}

/* ---- wake-up */

/* A thread on a bare futex, and the stamp of a job. Owner: wake(). */
typedef struct sleeper {
    weft_job_pool *pool;
    pthread_t thread;
    weft_a32 x_word;    /* 1: run, 2: end */
    weft_a32 x_asleep;  /* it is about to sleep */
    weft_a32 x_stamped; /* it ran */
} sleeper;

static void *sleep_loop(void *argument)
{
    sleeper *s = argument;
    for (;;) {
        at_store_rel(&s->x_asleep, 1u);
        while (at_load_acq(&s->x_word) == 0)
            s->pool->os->futex_wait(s->pool->os->user, &s->x_word, 0);
        if (at_load_acq(&s->x_word) == 2) return NULL;
        at_store_rel(&s->x_word, 0u);
        at_store_rel(&s->x_stamped, 1u);
    }
}

static void wake_bare(void *data)
{
    sleeper *s = data;
    at_store_rel(&s->x_word, 1u);
    s->pool->os->futex_wake(s->pool->os->user, &s->x_word, 1);
    while (at_load_acq(&s->x_stamped) == 0) at_stall();
    at_store_rel(&s->x_stamped, 0u);
}

static int stamp(weft_job_context *job, void *argument)
{
    sleeper *s = argument;
    (void)job;
    at_store_rel(&s->x_stamped, 1u);
    return 0;
}

static void wake_job(void *data)
{
    sleeper *s = data;
    const weft_job_desc desc = {.fn = stamp, .argument = s};
    weft_job_submit(weft_job_pool_owner(s->pool), &desc, NULL);
    while (at_load_acq(&s->x_stamped) == 0) at_stall();
    at_store_rel(&s->x_stamped, 0u);
}

/* Both sleepers sleep, and have slept for a moment. */
static void wake_prepare(void *data)
{
    sleeper *s = data;
    while (weft__wake_is_awake(&s->pool->wake) || at_load_acq(&s->x_asleep) == 0) at_stall();
    struct timespec moment = {.tv_nsec = 200000};
    nanosleep(&moment, NULL);
}

static void wake(weft_bench *bench)
{
    jobs_bench b;
    if (!open_pool(bench, &b, 2)) return;
    sleeper s = {.pool = b.pool};
    cpu_set_t second;
    if (pthread_create(&s.thread, NULL, sleep_loop, &s) == 0) {
        CPU_ZERO(&second);
        CPU_SET(1, &second);
        pthread_setaffinity_np(s.thread, sizeof second, &second); /* as worker 1 is */
        weft_bench_run(bench, &(weft_bench_measure){.name = "parked",
                                                    .unit = "us/wake",
                                                    .workers = 2,
                                                    .run = wake_job,
                                                    .raw = wake_bare,
                                                    .prepare = wake_prepare,
                                                    .data = &s});
        at_store_rel(&s.x_word, 2u);
        s.pool->os->futex_wake(s.pool->os->user, &s.x_word, 1);
        pthread_join(s.thread, NULL);
    }
    weft_job_wait_all(b.owner, NULL);
    close_pool(&b);
}

/* ---- graphs */

static void graph_run(void *data)
{
    jobs_bench *b = data;
    weft_job_graph_run(b->owner, b->graph, NULL);
}

static void graph_case(weft_bench *bench, const weft_job_graph_desc *desc, bool is_shared,
                       const char *name)
{
    jobs_bench b = {.workers = weft_bench_workers(bench)};
    if (!weft_bench_wants(bench, name)) return;
    const weft_job_pool_desc pool = {
        .worker_count = b.workers, .is_pinned = true, .is_always_parallel = is_shared};
    if (weft_job_pool_create(&pool, &b.pool) != WEFT_OK) {
        weft_bench_fail(bench, "no pool");
        return;
    }
    b.owner = weft_job_pool_owner(b.pool);
    weft_bench_pin_threads();
    if (weft_job_graph_create(b.pool, desc, &b.graph) != WEFT_OK)
        weft_bench_fail(bench, "no graph");
    else
        weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                    .unit = "ns/node",
                                                    .items = desc->node_count,
                                                    .workers = b.workers,
                                                    .run = graph_run,
                                                    .data = &b});
    close_pool(&b);
}

static void fill_nodes(weft_job_graph_node *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        nodes[i] = (weft_job_graph_node){.fn = tick, .argument = &cells[i * 64]};
}

static void chain(weft_bench *bench)
{
    enum { COUNT = 1000 };
    static weft_job_graph_node nodes[COUNT];
    static uint32_t edges[COUNT - 1][2];
    fill_nodes(nodes, COUNT);
    for (uint32_t i = 0; i + 1 < COUNT; i++) edges[i][0] = i, edges[i][1] = i + 1;
    const weft_job_graph_desc desc = {nodes, COUNT, COUNT - 1, (const uint32_t(*)[2])edges};
    graph_case(bench, &desc, false, "1000");
}

static void layers(weft_bench *bench)
{
    static weft_job_graph_node nodes[NODES];
    static uint32_t edges[(LAYERS - 1) * WIDTH * 3][2];
    uint32_t count = 0;
    fill_nodes(nodes, NODES);
    for (uint32_t i = WIDTH; i < NODES; i++)
        for (uint32_t k = 0; k < 3; k++, count++) {
            edges[count][0] = (i / WIDTH - 1) * WIDTH + (i + k) % WIDTH;
            edges[count][1] = i;
        }
    const weft_job_graph_desc desc = {nodes, NODES, count, (const uint32_t(*)[2])edges};
    graph_case(bench, &desc, false, "32x32");
    graph_case(bench, &desc, true, "32x32 shared"); /* what it costs when it is not run in order */
}

/* ---- idleness */

static long cpu_ticks(void)
{
    FILE *file = fopen("/proc/self/stat", "re");
    long user = -1, system = -1;
    if (file == NULL) return -1;
    if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
               &system) != 2)
        user = system = -1;
    fclose(file);
    return user + system;
}

/* Sum over all threads of the process. */
static long voluntary_switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

/* Of the pool's own threads, also while they run. */
static double workers_cpu_ms(const weft_job_pool *pool)
{
    double sum = 0;
    for (uint32_t i = 1; i <= pool->thread_count; i++) {
        clockid_t clock;
        struct timespec used = {0};
        if (pthread_getcpuclockid((pthread_t)pool->threads[i].handle, &clock) == 0)
            clock_gettime(clock, &used);
        sum += (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
    }
    return sum;
}

static void idle(weft_bench *bench)
{
    jobs_bench b;
    if (!open_pool(bench, &b, weft_bench_workers(bench))) return;
    for (uint32_t i = 0; i < 100000; i++) weft_job_child(b.owner, tick, &cells[i % NODES * 64]);
    weft_job_children_wait(b.owner);
    for (uint32_t i = 0; i < 1000; i++)
        weft_job_submit(b.owner, &(weft_job_desc){.fn = tick, .argument = &cells[i * 64]}, NULL);
    weft_job_wait_all(b.owner, NULL);
    double used = workers_cpu_ms(b.pool);
    struct timespec settle = {.tv_nsec = 100000000}, rest = {.tv_sec = 10};
    nanosleep(&settle, NULL);
    long ticks = cpu_ticks(), switches = voluntary_switches();
    nanosleep(&rest, NULL);
    switches = voluntary_switches() - switches - 1; /* our own sleep is one */
    ticks = cpu_ticks() - ticks;
    used = workers_cpu_ms(b.pool) - used;
    weft_bench_value(bench, "cpu in 10 s", "ticks", b.workers, (double)ticks);
    weft_bench_value(bench, "workers from the last job on", "ms", b.workers, used);
    weft_bench_value(bench, "switches in 10 s", "switches", b.workers, (double)switches);
    close_pool(&b);
}

const weft_bench_entry weft_bench_jobs_pool[] = {
    {"jobs.wake", "first start on a parked worker, against a bare futex", wake, false},
    {"jobs.chain", "graph of 1,000 nodes in a row", chain, false},
    {"jobs.layers", "graph of 32 x 32 nodes, 3 predecessors each", layers, false},
    {"jobs.idle", "CPU time and wake-ups of an idle pool in 10 s", idle, true},
    {0},
};
