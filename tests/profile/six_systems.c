/* SPDX-License-Identifier: MIT */
/* six_systems.c: a program of six systems with known shares, as a stranger would build it: against
 * an installed weft, plain -O2 -g. Each call of a system works, mostly inside of libm, until it has
 * used its time, and every call is timed by the thread's own processor time and by the wall.
 * Prints one JSON line per system: {"system", "cpu_ns", "wall_ns", "calls"}.
 *
 * usage: six_systems SECONDS [WORKERS], of processor time
 *
 * Calls are long beside the clock reads around them, which nothing counts.
 * "wave" and "tide" share one function; "wave", "tide", "drag" and "spin" are fused; "drag" has a
 * deep stack and calls what "count" calls; "count" is a loop whose parts run on all workers. */
#include <weft/weft.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SYSTEMS = 6, WORKERS_MAX = 16, ROWS = 8000, CHECK = 16, PARTS = 16 };

/* What a system does and what it used, per worker on lines of its own. */
typedef struct Work {
    const char *name;
    uint64_t call_ns;
    struct {
        _Alignas(64) uint64_t cpu_ns;
        uint64_t wall_ns, calls, random;
    } used[WORKERS_MAX];
} Work;

typedef float Height, Light;

static Work works[SYSTEMS] = {
    {.name = "wave", .call_ns = 1100000}, {.name = "tide", .call_ns = 300000},
    {.name = "drag", .call_ns = 240000},  {.name = "spin", .call_ns = 160000},
    {.name = "glow", .call_ns = 120000},  {.name = "count", .call_ns = 240000}};

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double some_sines(double x)
{
    for (int i = 0; i < 40; i++) x = sin(x) + 1.5;
    return x;
}

static double some_powers(double x)
{
    for (int i = 0; i < 30; i++) x = pow(x, 0.9) + 0.5;
    return x;
}

static double some_roots(double x)
{
    for (int i = 0; i < 200; i++) x = sqrt(x + 1.25);
    return x;
}

/* Between half and one and a half of `ns`: calls of equal length would run in step with a
 * sampler. */
static uint64_t vary(uint64_t ns, uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ns / 2 + (*state >> 33) % (ns + 1);
}

/* Until the call has used its time, then adds it up. */
static void work_on(uint32_t worker, float *value, Work *w, double (*part)(double))
{
    uint64_t call_ns = vary(w->call_ns, &w->used[worker].random);
    uint64_t wall = now_ns(CLOCK_MONOTONIC), begin = now_ns(CLOCK_THREAD_CPUTIME_ID), now;
    double x = (double)value[0];
    do {
        for (int i = 0; i < CHECK / 4; i++) x = part(x);
        now = now_ns(CLOCK_THREAD_CPUTIME_ID);
    } while (now - begin < call_ns);
    value[0] = (float)x;
    w->used[worker].cpu_ns += now - begin;
    w->used[worker].wall_ns += now_ns(CLOCK_MONOTONIC) - wall;
    w->used[worker].calls++;
}

static void work(weft_slice *slice, Work *w, double (*part)(double))
{
    work_on(weft_slice_worker(slice), WEFT_WRITE_COLUMN(slice, 0, float), w, part);
}

static void run_waves(weft_slice *slice, void *user)
{
    work(slice, user, some_sines);
}
/* With a stack that samples copy in part only; a page that was never touched would end the copy. */
static void run_drag(weft_slice *slice, void *user)
{
    char room[24000];
    memset(room, 1, sizeof room);
    __asm__("" : : "m"(room));
    work(slice, user, some_powers);
    __asm__("" : : "m"(room));
}
static void run_spin(weft_slice *slice, void *user)
{
    work(slice, user, some_roots);
}
static void run_glow(weft_slice *slice, void *user)
{
    work(slice, user, some_sines);
}
/* A part of a loop inside of a system, on any worker. */
static int count_part(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++) {
        float value = (float)i;
        work_on(weft_job_worker_index(job), &value, user, some_powers);
    }
    return 0;
}

static void run_count(weft_slice *slice, void *user)
{
    weft_job_for(weft_slice_job(slice),
                 &(weft_job_for_desc){.fn = count_part, .argument = user, .count = PARTS}, NULL);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    uint32_t workers = argc > 2 ? (uint32_t)atoi(argv[2]) : 2;
    static void (*const run[SYSTEMS])(weft_slice *, void *) = {run_waves, run_waves, run_drag,
                                                               run_spin,  run_glow,  run_count};
    weft_world *world;
    if (workers < 1 || workers > WORKERS_MAX ||
        weft_world_create(&(weft_world_desc){.workers = workers}, &world) != WEFT_OK)
        return 2;
    weft_component height = WEFT_COMPONENT(world, Height), light = WEFT_COMPONENT(world, Light);
    weft_entity_create_many(world, WEFT_ARCHETYPE(world, height), ROWS, NULL);
    weft_entity_create_many(world, WEFT_ARCHETYPE(world, light), ROWS, NULL);
    for (int i = 0; i < SYSTEMS; i++) {
        weft_system_desc desc = {.name = works[i].name, .run = run[i], .user = &works[i]};
        if (run[i] == run_count)
            desc.flags = WEFT_SYSTEM_JOBS;
        else
            desc.over.rows.terms[0] = (weft_term){i < 4 ? height : light, WEFT_WRITE};
        weft_system_create(world, &desc);
    }
    while ((double)now_ns(CLOCK_PROCESS_CPUTIME_ID) < seconds * 1e9)
        if (weft_world_step(world, 0.01f) != WEFT_OK) return 1;
    weft_world_destroy(world);
    for (int i = 0; i < SYSTEMS; i++) {
        uint64_t cpu = 0, wall = 0, calls = 0;
        for (uint32_t w = 0; w < workers; w++) {
            cpu += works[i].used[w].cpu_ns;
            wall += works[i].used[w].wall_ns;
            calls += works[i].used[w].calls;
        }
        printf("{\"system\": \"%s\", \"cpu_ns\": %llu, \"wall_ns\": %llu, \"calls\": %llu}\n",
               works[i].name, (unsigned long long)cpu, (unsigned long long)wall,
               (unsigned long long)calls);
    }
    return 0;
}
