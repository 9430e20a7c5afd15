/* SPDX-License-Identifier: MIT */
/* bench_jobs.c: spawning, children and loops of the job system against OpenMP, oneTBB and one
 * thread.
 *
 * `raw` is the same work in plain C on one thread where that makes sense, and a pool of one worker
 * for jobs.never_slower and jobs.heavy: there the ratio is what the second worker gains. Workers
 * other than the owner are pinned, because the kernel may pack two threads onto one core. What each
 * figure means: docs/notes/jobs.md.
 */
#include "bench_jobs.h"

#include <stdio.h>
#include <time.h>

static void add_peers(weft_bench_measure *measure, weft_bench_fn *run, jobs_bench data[2],
                      const jobs_bench *like)
{
    const weft_peer *peers[2] = {weft_peer_openmp(), weft_peer_tbb()};
    for (uint32_t i = 0, n = 0; i < 2; i++) {
        if (peers[i] == NULL) continue;
        data[i] = *like;
        data[i].peer = peers[i];
        measure->peers[n++] = (weft_bench_peer){peers[i]->name, run, &data[i]};
    }
}

/* ---- spawn, roundtrip, fib */

enum { SPAWNED = 1000000 };
static char cells[SPAWNED];

static int tick(weft_job_context *job, void *argument)
{
    (void)job;
    ++*(char *)argument;
    return 0;
}

static void spawn_run(void *data)
{
    jobs_bench *b = data;
    for (uint32_t i = 0; i < SPAWNED; i++) weft_job_child(b->owner, tick, &cells[i]);
    weft_job_children_wait(b->owner);
}

static void peer_tick(void *user)
{
    ++*(char *)user;
}

static void spawn_peer(void *data)
{
    jobs_bench *b = data;
    b->peer->spawn(b->workers, SPAWNED, peer_tick, cells);
}

static void spawn_case(weft_bench *bench, const char *name, uint32_t workers)
{
    jobs_bench b, peers[2];
    if (!weft_bench_wants(bench, name) || !open_pool(bench, &b, workers)) return;
    weft_bench_measure measure = {.name = name,
                                  .unit = "ns/job",
                                  .items = SPAWNED,
                                  .workers = workers,
                                  .run = spawn_run,
                                  .data = &b};
    add_peers(&measure, spawn_peer, peers, &b);
    weft_bench_run(bench, &measure);
    close_pool(&b);
}

static void spawn(weft_bench *bench)
{
    spawn_case(bench, "1M/1", 1);
    spawn_case(bench, "1M/2", 2);
}

/* All submitted before any is waited for: room for as many as there are. */
static void submit_run(void *data)
{
    jobs_bench *b = data;
    for (uint32_t i = 0; i < b->count; i++)
        weft_job_submit(b->owner, &(weft_job_desc){.fn = tick, .argument = &cells[i]}, NULL);
    weft_job_wait_all(b->owner, NULL);
}

static void submit_case(weft_bench *bench, const char *name, uint32_t count, uint32_t workers)
{
    jobs_bench b, peers[2];
    if (!weft_bench_wants(bench, name) || !open_pool_of(bench, &b, workers, count)) return;
    b.count = count;
    weft_bench_measure measure = {.name = name,
                                  .unit = "ns/job",
                                  .items = count,
                                  .workers = workers,
                                  .run = submit_run,
                                  .data = &b};
    if (count == SPAWNED) add_peers(&measure, spawn_peer, peers, &b);
    weft_bench_run(bench, &measure);
    close_pool(&b);
}

static void submit(weft_bench *bench)
{
    submit_case(bench, "4k/1", 4000, 1);
    submit_case(bench, "10k/1", 10000, 1);
    submit_case(bench, "1M/1", SPAWNED, 1);
    submit_case(bench, "1M/2", SPAWNED, 2);
}

static void roundtrip_run(void *data)
{
    jobs_bench *b = data;
    weft_job_handle handle;
    const weft_job_desc desc = {.fn = tick, .argument = cells};
    weft_job_submit(b->owner, &desc, &handle);
    weft_job_wait(b->owner, handle, NULL);
}

static void roundtrip(weft_bench *bench)
{
    jobs_bench b;
    if (!open_pool(bench, &b, 1)) return;
    weft_bench_run(bench, &(weft_bench_measure){.name = "submit+wait",
                                                .unit = "ns/job",
                                                .workers = 1,
                                                .run = roundtrip_run,
                                                .data = &b});
    close_pool(&b);
}

/* Owner: the caller's stack frame. */
typedef struct fib_call {
    uint32_t n;
    uint32_t result;
} fib_call;

static int fib_job(weft_job_context *job, void *argument)
{
    fib_call *call = argument;
    if (call->n < 2) {
        call->result = call->n;
        return 0;
    }
    fib_call one = {.n = call->n - 1}, two = {.n = call->n - 2};
    weft_job_child(job, fib_job, &one);
    fib_job(job, &two);
    weft_job_children_wait(job);
    call->result = one.result + two.result;
    return 0;
}

enum { FIB_N = 30, FIB_CALLS = 2692537 };

static void fib_run(void *data)
{
    jobs_bench *b = data;
    fib_call call = {.n = FIB_N};
    fib_job(b->owner, &call);
    weft_bench_keep(&call);
}

static void fib_peer(void *data)
{
    jobs_bench *b = data;
    uint64_t result = b->peer->fib(b->workers, FIB_N);
    weft_bench_keep(&result);
}

static void fib(weft_bench *bench)
{
    jobs_bench b, peers[2];
    uint32_t workers = weft_bench_workers(bench);
    if (!open_pool(bench, &b, workers)) return;
    weft_bench_measure measure = {.name = "fib(30)",
                                  .unit = "ns/call",
                                  .items = FIB_CALLS,
                                  .workers = workers,
                                  .run = fib_run,
                                  .data = &b};
    add_peers(&measure, fib_peer, peers, &b);
    weft_bench_run(bench, &measure);
    close_pool(&b);
}

/* ---- loops */

static int empty_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job, (void)begin, (void)end;
    weft_bench_keep(argument);
    return 0;
}

static void empty_loop(void *data)
{
    jobs_bench *b = data;
    const weft_job_for_desc desc = {
        .fn = empty_part, .argument = cells, .count = b->count, .cost = &b->cost};
    weft_job_for(b->owner, &desc, NULL);
}

static void empty_raw(void *data)
{
    jobs_bench *b = data;
    empty_part(b->owner, cells, 0, b->count);
}

static void empty_body(uint64_t begin, uint64_t end, void *user)
{
    (void)begin, (void)end;
    weft_bench_keep(user);
}

static void empty_peer(void *data)
{
    jobs_bench *b = data;
    b->peer->loop(b->workers, b->count, 0, empty_body, cells);
}

/* The same with a body as short as they come: 1 is added to each counter. */
enum { COUNTERS = 10000 };
static uint32_t counters[COUNTERS];

static int count_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    for (uint32_t i = begin; i < end; i++) counters[i]++;
    weft_bench_keep(argument);
    return 0;
}

static void count_loop(void *data)
{
    jobs_bench *b = data;
    const weft_job_for_desc desc = {
        .fn = count_part, .argument = counters, .count = b->count, .cost = &b->cost};
    weft_job_for(b->owner, &desc, NULL);
}

static void count_raw(void *data)
{
    jobs_bench *b = data;
    count_part(b->owner, counters, 0, b->count);
}

static void count_body(uint64_t begin, uint64_t end, void *user)
{
    count_part(NULL, user, (uint32_t)begin, (uint32_t)end);
}

static void count_peer(void *data)
{
    jobs_bench *b = data;
    b->peer->loop(b->workers, b->count, 0, count_body, counters);
}

/* A loop as weft, one thread and the peers run it. Constant. */
typedef struct loop_kind {
    weft_bench_fn *run, *raw, *peer;
} loop_kind;

static const loop_kind empty_kind = {empty_loop, empty_raw, empty_peer};
static const loop_kind count_kind = {count_loop, count_raw, count_peer};

/* Lets all workers fall asleep. Data of the peers is copied from the bench's: the same idleness. */
static void be_idle(void *data)
{
    jobs_bench *b = data;
    struct timespec pause = {.tv_nsec = (long)b->idle_ns};
    nanosleep(&pause, NULL);
}

static void loop_case(weft_bench *bench, const char *name, const loop_kind *kind, uint32_t count,
                      uint64_t idle_ns)
{
    jobs_bench b, peers[2];
    uint32_t workers = weft_bench_workers(bench);
    if (!weft_bench_wants(bench, name) || !open_pool(bench, &b, workers)) return;
    b.count = count;
    b.idle_ns = idle_ns;
    weft_bench_measure measure = {.name = name,
                                  .unit = "us/loop",
                                  .workers = workers,
                                  .run = kind->run,
                                  .raw = kind->raw,
                                  .data = &b};
    if (idle_ns != 0) measure.prepare = be_idle;
    add_peers(&measure, kind->peer, peers, &b);
    for (uint32_t i = 0; i < 100; i++) kind->run(&b); /* the cost is known */
    weft_bench_run(bench, &measure);
    close_pool(&b);
}

static void loop_awake(weft_bench *bench)
{
    loop_case(bench, "1000", &empty_kind, 1000, 0);
    loop_case(bench, "10000", &empty_kind, 10000, 0);
    loop_case(bench, "1000 counters", &count_kind, 1000, 0);
    loop_case(bench, "10000 counters", &count_kind, COUNTERS, 0);
}

static void loop_idle(weft_bench *bench)
{
    loop_case(bench, "1ms", &empty_kind, 1000, 1000000);
    loop_case(bench, "20ms", &empty_kind, 1000, 20000000);
    loop_case(bench, "1ms counters", &count_kind, 1000, 1000000);
    loop_case(bench, "20ms counters", &count_kind, 1000, 20000000);
}

/* `work` steps of a dependent chain: about 1 ns each. */
static uint64_t grind(uint64_t value, uint32_t work)
{
    for (uint32_t i = 0; i < work; i++) value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

static int grind_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    jobs_bench *b = argument;
    (void)job;
    uint64_t sum = 0;
    for (uint32_t i = begin; i < end; i++) sum += grind(i, b->work);
    weft_bench_keep(&sum);
    return 0;
}

static void grind_loop(void *data)
{
    jobs_bench *b = data;
    const weft_job_for_desc desc = {
        .fn = grind_part, .argument = b, .count = b->count, .cost = &b->cost};
    weft_job_for(b->owner, &desc, NULL);
}

static void grind_body(uint64_t begin, uint64_t end, void *user)
{
    grind_part(NULL, user, (uint32_t)begin, (uint32_t)end);
}

static void grind_peer(void *data)
{
    jobs_bench *b = data;
    b->peer->loop(b->workers, b->count, 0, grind_body, b);
}

static jobs_bench *alone; /* the pool of one worker that `raw` uses; owner: the benchmark */

static void grind_alone(void *data)
{
    jobs_bench *b = data;
    alone->count = b->count;
    alone->work = b->work;
    grind_loop(alone);
}

static int triangle_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job, (void)argument;
    uint64_t sum = 0;
    for (uint32_t i = begin; i < end; i++) sum += grind(i, i);
    weft_bench_keep(&sum);
    return 0;
}

static void triangle_run(void *data)
{
    jobs_bench *b = data;
    const weft_job_for_desc desc = {.fn = triangle_part, .count = b->count, .cost = &b->cost};
    weft_job_for(b->owner, &desc, NULL);
}

static void triangle_raw(void *data)
{
    jobs_bench *b = data;
    triangle_part(NULL, NULL, 0, b->count);
}

static void triangle_body(uint64_t begin, uint64_t end, void *user)
{
    (void)user;
    triangle_part(NULL, NULL, (uint32_t)begin, (uint32_t)end);
}

static void triangle_peer(void *data)
{
    jobs_bench *b = data;
    b->peer->loop(b->workers, b->count, 16, triangle_body, b);
}

static void uneven(weft_bench *bench)
{
    jobs_bench b, peers[2];
    if (!open_pool(bench, &b, 2)) return;
    b.count = 3000;
    weft_bench_measure measure = {.name = "triangle",
                                  .unit = "us/loop",
                                  .workers = 2,
                                  .run = triangle_run,
                                  .raw = triangle_raw,
                                  .data = &b};
    add_peers(&measure, triangle_peer, peers, &b);
    for (uint32_t i = 0; i < 20; i++) triangle_run(&b);
    weft_bench_result result = weft_bench_run(bench, &measure);
    if (result.ratio > 0)
        weft_bench_value(bench, "efficiency", "of 2 workers", 2, 0.5 / result.ratio);
    close_pool(&b);
}

static void heavy_case(weft_bench *bench, const char *name, uint32_t count)
{
    jobs_bench b, one, peers[2];
    if (!weft_bench_wants(bench, name)) return;
    if (!open_pool(bench, &b, 2)) return;
    if (open_pool(bench, &one, 1)) {
        alone = &one;
        b.count = count;
        b.work = 30;
        weft_bench_measure measure = {.name = name,
                                      .unit = "us/loop",
                                      .workers = 2,
                                      .run = grind_loop,
                                      .raw = grind_alone,
                                      .data = &b};
        add_peers(&measure, grind_peer, peers, &b);
        for (uint32_t i = 0; i < 20; i++) grind_loop(&b), grind_alone(&b);
        weft_bench_run(bench, &measure);
        close_pool(&one);
    }
    close_pool(&b);
}

static void heavy(weft_bench *bench)
{
    heavy_case(bench, "10k", 10000);
    heavy_case(bench, "1M", 1000000);
}

static double slower_case(weft_bench *bench, jobs_bench *b, uint32_t count, uint32_t item_ns)
{
    char name[32];
    snprintf(name, sizeof name, "%ux%uns", count, item_ns);
    b->count = count;
    b->work = item_ns;
    b->cost = alone->cost = (weft_job_cost){0};
    for (uint32_t i = 0; i < 40; i++) grind_loop(b), grind_alone(b);
    const weft_bench_measure measure = {.name = name,
                                        .unit = "us/loop",
                                        .workers = 2,
                                        .run = grind_loop,
                                        .raw = grind_alone,
                                        .data = b};
    return weft_bench_run(bench, &measure).ratio;
}

static void never_slower(weft_bench *bench)
{
    static const uint32_t counts[] = {1, 3, 10, 30, 100, 300, 1000, 3000, 10000};
    static const uint32_t items[] = {50, 200, 1000, 10000};
    jobs_bench b, one;
    double worst = 0;
    if (!open_pool(bench, &b, 2)) return;
    if (open_pool(bench, &one, 1)) {
        alone = &one;
        for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (uint32_t k = 0; k < sizeof items / sizeof *items; k++) {
                double ratio = slower_case(bench, &b, counts[i], items[k]);
                if (ratio > worst) worst = ratio;
            }
        weft_bench_value(bench, "worst", "ratio 2:1", 2, worst);
        close_pool(&one);
    }
    close_pool(&b);
}

const weft_bench_entry weft_bench_jobs[] = {
    {"jobs.spawn", "1 M tiny jobs started by one thread, and waited for", spawn, false},
    {"jobs.submit", "jobs submitted one by one and waited for together", submit, false},
    {"jobs.roundtrip", "submit, run and collect one job, one worker", roundtrip, false},
    {"jobs.fib", "fib(30) by structured children", fib, false},
    {"jobs.loop_awake", "loop that is empty, or adds 1 to counters, again and again", loop_awake,
     false},
    {"jobs.loop_idle", "loop that is empty, or adds 1 to counters, after idleness", loop_idle,
     false},
    {"jobs.uneven", "triangular loop, against one thread", uneven, false},
    {"jobs.heavy", "compute-heavy loop on 2 workers, against one", heavy, false},
    {"jobs.never_slower", "loops of all sizes on 2 workers, against one", never_slower, false},
    {0},
};
