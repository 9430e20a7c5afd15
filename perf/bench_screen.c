/* SPDX-License-Identifier: MIT */
/* bench_screen.c: the main job: kernels alone, stages alone, and the whole of `weft screen` on one
 * and on all workers, beside the same job in plain C on one thread.
 *
 * The catalogue is ../shared/data/satellites/active-2026-08-11.tle (16,089 objects) where it
 * exists, looked for from the working folder, else the shipped one of 979: then the names of the
 * cases begin with that number. `screen.day` is the bar: 24 hours in steps of 10 s.
 */
#include "bench.h"

#include "screen/ephemeris.h"
#include "screen/screen.h"
#include "screen/screen_plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char large_catalogue[] = "../shared/data/satellites/active-2026-08-11.tle";

/* A job to run again and again. */
typedef struct job {
    struct screen_options options;
    uint32_t approaches; /* of the last run */
    int status;
    char shipped[4096]; /* room for the name of the shipped catalogue */
} job;

static void job_init(job *j, weft_bench *bench, double hours, uint32_t workers)
{
    *j = (job){.options = {.hours = hours,
                           .step_s = 10.0,
                           .threshold_km = 5.0,
                           .max_age_days = 30.0,
                           .is_quiet = true}};
    j->options.path = access(large_catalogue, R_OK) == 0
                          ? large_catalogue
                          : screen_default_catalogue(j->shipped, sizeof j->shipped);
    j->options.workers = workers ? workers : weft_bench_workers(bench);
}

static void run_engine(void *data)
{
    job *j = data;
    struct screen_result result = {0};
    j->status = screen_load(&j->options, &result);
    if (j->status == 0) j->status = screen_search(&j->options, &result);
    j->approaches = result.approach_count;
    screen_result_fini(&result);
}

static void run_plain(void *data)
{
    job *j = data;
    struct screen_result result = {0};
    j->status = screen_load(&j->options, &result);
    if (j->status == 0) j->status = screen_plain(&result);
    j->approaches = result.approach_count;
    screen_result_fini(&result);
}

static const char *size_name(const job *j)
{
    return j->options.path == large_catalogue ? "16089" : "979";
}

/* One hour on one worker and on all, each beside plain C on one thread. */
static void hour(weft_bench *bench)
{
    const uint32_t all = weft_bench_workers(bench);
    for (uint32_t workers = 1; workers <= all; workers += all > 1 ? all - 1 : 1) {
        job j;
        char name[40];
        job_init(&j, bench, 1.0, workers);
        snprintf(name, sizeof name, "%s/%u", size_name(&j), workers);
        if (!weft_bench_wants(bench, name)) continue;
        weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                    .unit = "ms",
                                                    .workers = workers,
                                                    .run = run_engine,
                                                    .raw = run_plain,
                                                    .data = &j});
        if (j.status != 0) weft_bench_fail(bench, "the job failed");
    }
}

/* One figure of a day; of the shipped catalogue under a name of its own. */
static void day_value(weft_bench *bench, const job *j, const char *what, const char *unit,
                      double value)
{
    char name[40];
    const bool is_shipped = j->options.path != large_catalogue;
    snprintf(name, sizeof name, "%s%s%s", is_shipped ? size_name(j) : "", is_shipped ? "-" : "",
             what);
    weft_bench_value(bench, name, unit, j->options.workers, value);
}

/* The whole day, once per number of workers: seconds, states per second, speed-up. */
static void day(weft_bench *bench)
{
    const uint32_t all = weft_bench_workers(bench);
    double alone = 0.0;
    for (uint32_t workers = 1; workers <= all; workers += all > 1 ? all - 1 : 1) {
        job j;
        struct screen_result result = {0};
        job_init(&j, bench, 24.0, workers);
        if (screen_load(&j.options, &result) || screen_search(&j.options, &result)) {
            weft_bench_fail(bench, "the job failed");
        } else {
            const double seconds = result.counts.screen_s;
            day_value(bench, &j, "wall", "s", seconds);
            day_value(bench, &j, "states", "M/s", (double)result.counts.states / 1e6 / seconds);
            day_value(bench, &j, "approaches", "count", result.approach_count);
            if (workers == 1) alone = seconds;
            if (workers > 1) day_value(bench, &j, "speedup", "ratio", alone / seconds);
        }
        screen_result_fini(&result);
    }
}

/* ---- stages on one thread ---- */

/* Near-earth objects of the catalogue, a batch of states, a grid. */
typedef struct stage {
    struct screen_result result;
    struct sgp4_near *near;
    uint32_t count;
    struct ephemeris_fate *fates;
    struct ephemeris ephemeris;
    struct sky_rules rules;
    struct sky_grid grid;
    struct sky_pairs pairs;
} stage;

enum { stage_steps = 16 };

static bool stage_init(weft_bench *bench, stage *s)
{
    job j;
    job_init(&j, bench, 1.0, 1);
    *s = (stage){0};
    if (screen_load(&j.options, &s->result)) return false;
    const uint32_t all = s->result.catalogue.count;
    s->near = calloc(all, sizeof *s->near);
    s->fates = calloc(all, sizeof *s->fates);
    if (!s->near || !s->fates || ephemeris_init(&s->ephemeris, stage_steps, all)) return false;
    for (uint32_t i = 0; i < all; i++) {
        const struct sgp4_elements *e = &s->result.catalogue.objects[i].elements;
        if (!sgp4_is_deep(e)) sgp4_near_init(e, &s->near[s->count++]);
    }
    s->ephemeris.kernels = sgp4_kernels_best();
    s->ephemeris.sky_kernels = sky_kernels_best();
    s->ephemeris.window = &s->result.window;
    s->ephemeris.step_count = stage_steps;
    s->ephemeris.object_count = s->count;
    s->rules = sky_rules_of(10.0, 5.0, 100.0);
    return sky_grid_init(&s->grid, all) == 0;
}

static void stage_fini(stage *s)
{
    screen_result_fini(&s->result);
    free(s->near);
    free(s->fates);
    ephemeris_fini(&s->ephemeris);
    sky_grid_fini(&s->grid);
    sky_pairs_fini(&s->pairs);
}

static void stage_propagate(void *data)
{
    stage *s = data;
    ephemeris_near(&s->ephemeris, s->near, s->count, 0, s->fates);
}

static void stage_hash(void *data)
{
    stage *s = data;
    const struct sky sky = ephemeris_sky(&s->ephemeris, 0);
    s->ephemeris.sky_kernels->hash(&sky, &s->rules, &s->grid);
}

static void stage_pairs(void *data)
{
    stage *s = data;
    s->pairs.count = 0;
    if (s->ephemeris.sky_kernels->find_pairs(&s->grid, &s->rules, &s->pairs)) abort();
    weft_bench_keep(s->pairs.pairs);
}

static void stages(weft_bench *bench)
{
    stage s;
    if (!stage_init(bench, &s)) {
        weft_bench_fail(bench, "no memory or no catalogue");
        stage_fini(&s);
        return;
    }
    const struct sgp4_kernels *kernels[3];
    const uint32_t kernel_count = sgp4_kernels_available(kernels, 3);
    for (uint32_t k = 0; k < kernel_count; k++) {
        s.ephemeris.kernels = kernels[k];
        weft_bench_run(bench, &(weft_bench_measure){.name = kernels[k]->name,
                                                    .unit = "ns/state",
                                                    .items = (double)s.count * stage_steps,
                                                    .workers = 1,
                                                    .run = stage_propagate,
                                                    .data = &s});
    }
    weft_bench_run(bench, &(weft_bench_measure){.name = "hash",
                                                .unit = "ns/object",
                                                .workers = 1,
                                                .items = s.count,
                                                .run = stage_hash,
                                                .data = &s});
    weft_bench_run(bench, &(weft_bench_measure){.name = "pairs",
                                                .unit = "ns/object",
                                                .workers = 1,
                                                .items = s.count,
                                                .run = stage_pairs,
                                                .data = &s});
    stage_fini(&s);
}

const weft_bench_entry weft_bench_screen[] = {
    {"screen.stage", "one thread: near-earth states per kernel, hashing and pairing a step", stages,
     false},
    {"screen.hour", "weft screen, 1 h in steps of 10 s, against plain C on one thread", hour,
     false},
    {"screen.day", "weft screen, 24 h in steps of 10 s, 5 km: wall time, rate, speed-up", day,
     true},
    {0},
};
