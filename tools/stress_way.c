/* SPDX-License-Identifier: MIT */
/* stress_way.c: see stress_way.h.
 */
#include "stress_way.h"

#include "cli.h"
#include "diverge.h"
#include "registry.h"
#include "stress_report.h"
#include "stress_runner.h"

#include <weft/state_log.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const weft_stress_way weft_stress_serial = {.workers = 1, .options = {.without_parallel = true}};

/* ---- one way ---- */

/* What else is wanted of a run. */
typedef struct extras {
    FILE *log;                 /* NULL: none */
    uint64_t log_step;         /* whose rows are logged, from 1 */
    weft_stress_way *recorded; /* gets the parts; NULL: not wanted */
    uint32_t steps;
} extras;

static weft_result write_log(void *user, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, user) == count ? WEFT_OK : WEFT_IO;
}

static bool begin_extras(weft_world *world, const weft_stress_way *way, const extras *e)
{
    weft__scheduler *scheduler = weft__scheduler_of(world);
    const bool has_parts = e->recorded != NULL || way->mode != WEFT__PART_RECORD;
    weft__part_order *order =
        has_parts ? weft__part_order_begin(scheduler, way->mode, way->draw_seed) : NULL;
    if (has_parts &&
        (order == NULL || !WEFT__LIST_APPEND(scheduler->memory, WEFT__MEMORY_SYSTEMS, &order->parts,
                                             way->parts, way->part_count)))
        return false;
    const weft_state_log_desc desc = {.writer = {write_log, e->log},
                                      .keeps_graphs = true,
                                      .rows_first = e->log_step,
                                      .rows_last = e->log_step};
    return e->log == NULL || weft_state_log_begin(world, &desc) == WEFT_OK;
}

/* Copies the parts of the run; those of a way that went other ways than given are none. */
static void end_extras(weft_world *world, const extras *e)
{
    const weft__part_order *order = weft__scheduler_of(world)->part_order;
    weft_state_log_end(world);
    if (e->recorded == NULL || order == NULL) return;
    const weft__part *parts = order->parts.at;
    const uint32_t count = order->is_incomplete ? 0 : order->parts.count;
    e->recorded->parts = calloc((size_t)count + 1, sizeof *parts);
    e->recorded->part_count = e->recorded->parts ? count : 0;
    if (e->recorded->part_count > 0) memcpy(e->recorded->parts, parts, count * sizeof *parts);
}

static bool step_world(weft_stress *stress, const weft_stress_way *way, weft_world *world,
                       uint32_t step, uint64_t *hash)
{
    if (weft_world_step(world, 0.5f) != WEFT_OK || weft_world_validate(world) != WEFT_OK) {
        weft_stress_error(stress, "%u workers, step %u: %s", way->workers, step + 1,
                          weft_world_error(world)->text);
        return false;
    }
    *hash = weft_world_hash(world, WEFT_HASH_LAYOUT);
    return true;
}

static bool run(weft_stress *stress, const weft_stress_recipe *r, const weft_stress_way *way,
                uint64_t hashes[WEFT_STRESS_STEPS], const extras *e)
{
    weft_stress_actors *actors = weft_stress_actors_begin(stress, r, way->workers, &way->options);
    if (actors == NULL) {
        weft_stress_error(stress, "a world of seed %#llx could not be made",
                          (unsigned long long)r->seed);
        return false;
    }
    weft_world *world = weft_stress_actors_world(actors);
    bool is_good = begin_extras(world, way, e);
    for (uint32_t i = 0; is_good && i < e->steps; i++)
        is_good = step_world(stress, way, world, i, &hashes[i]);
    end_extras(world, e);
    weft_stress_actors_end(actors);
    return is_good;
}

bool weft_stress_way_run(weft_stress *stress, const weft_stress_recipe *r,
                         const weft_stress_way *way, uint64_t hashes[WEFT_STRESS_STEPS])
{
    return run(stress, r, way, hashes, &(extras){.steps = WEFT_STRESS_STEPS});
}

/* ---- orders as files ---- */

enum { PATH_BYTES = 160, LINE_BYTES = 256, SEARCHES = 64 };

static void write_order(FILE *file, const weft_stress_recipe *r, const weft_stress_way *way)
{
    fprintf(file, "weft stress order 2\nseed %#" PRIx64 " scale %u one in %u\n", r->seed, r->scale,
            r->one_in);
    fprintf(file, "workers %u unfused %d shuffle %#" PRIx64 " parts %u\n", way->workers,
            way->options.without_fusion, way->options.shuffle_seed, way->part_count);
    for (uint32_t i = 0; i < way->part_count; i++) {
        const weft__part *p = &way->parts[i];
        fprintf(file, "pass %u stage %u item %u worker %u\n", p->pass, p->stage, p->item,
                p->worker);
    }
}

/* Beside the working folder's other files; where that cannot be written, in /tmp. */
static bool save_order(const weft_stress_recipe *r, const weft_stress_way *way,
                       char path[PATH_BYTES])
{
    static const char *const folders[] = {".", "/tmp"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, PATH_BYTES, "%s/weft-stress-%016" PRIx64 ".order", folders[i], r->seed);
        FILE *file = fopen(path, "we");
        if (file == NULL) continue;
        write_order(file, r, way);
        const bool is_written = ferror(file) == 0;
        if (fclose(file) == 0 && is_written) return true;
        remove(path);
    }
    return false;
}

static bool read_part(const char *line, weft__part *p)
{
    return sscanf(line, "pass %u stage %u item %u worker %u", &p->pass, &p->stage, &p->item,
                  &p->worker) == 4;
}

static bool read_order(FILE *file, weft_stress_recipe *r, weft_stress_way *way)
{
    char line[LINE_BYTES];
    int unfused = 0;
    uint32_t count = 0;
    if (!fgets(line, sizeof line, file) || strcmp(line, "weft stress order 2\n") != 0) return false;
    if (!fgets(line, sizeof line, file) ||
        sscanf(line, "seed %" SCNx64 " scale %u one in %u", &r->seed, &r->scale, &r->one_in) != 3 ||
        r->one_in == 0)
        return false;
    if (!fgets(line, sizeof line, file) ||
        sscanf(line, "workers %u unfused %d shuffle %" SCNx64 " parts %u", &way->workers, &unfused,
               &way->options.shuffle_seed, &count) != 4)
        return false;
    if (way->workers < 1 || way->workers > 256 || count > 10000000) return false;
    way->options.without_fusion = unfused != 0;
    way->options.is_always_parallel = true;
    way->parts = calloc((size_t)count + 1, sizeof *way->parts);
    for (; way->parts && way->part_count < count; way->part_count++)
        if (!fgets(line, sizeof line, file) || !read_part(line, &way->parts[way->part_count]))
            return false;
    return way->parts != NULL;
}

/* ---- two ways ---- */

static void name_way(const weft_stress_way *way, char text[LINE_BYTES])
{
    static const char *const orders[] = {[WEFT__PART_RECORD] = "on the pool",
                                         [WEFT__PART_DRAW] = "parts in a drawn order",
                                         [WEFT__PART_REPLAY] = "parts in the order of the file"};
    if (way->options.without_parallel)
        snprintf(text, LINE_BYTES, "one thread, in order");
    else
        snprintf(text, LINE_BYTES, "%u workers, %s, systems in %s%#" PRIx64 ", %s", way->workers,
                 way->options.without_fusion ? "not fused" : "fused",
                 way->options.shuffle_seed ? "random order " : "order ", way->options.shuffle_seed,
                 orders[way->mode]);
}

/* The first step in which hashes differ; WEFT_STRESS_STEPS: none. */
static uint32_t first_different(const uint64_t *a, const uint64_t *b)
{
    uint32_t step = 0;
    while (step < WEFT_STRESS_STEPS && a[step] == b[step]) step++;
    return step;
}

/* Runs both ways again with logs of the step and says where they part. False: they do not. */
static bool explain(weft_stress *stress, const weft_stress_recipe *r, const weft_stress_way *way,
                    uint32_t step)
{
    weft_divergence d = {.kind = WEFT_SAME};
    uint64_t hashes[2][WEFT_STRESS_STEPS];
    char names[2][LINE_BYTES], *text = NULL;
    size_t bytes = 0;
    FILE *logs[2] = {tmpfile(), tmpfile()}, *words = open_memstream(&text, &bytes);
    const weft_stress_way *const ways[2] = {&weft_stress_serial, way};
    bool is_run = logs[0] && logs[1] && words;
    for (int i = 0; is_run && i < 2; i++) {
        const extras e = {.log = logs[i], .log_step = step + 1, .steps = step + 1};
        is_run = run(stress, r, ways[i], hashes[i], &e);
        name_way(ways[i], names[i]);
        rewind(logs[i]);
    }
    if (is_run && weft_diverge(logs[0], logs[1], &d) && d.kind != WEFT_SAME) {
        weft_diverge_print(words, &d, (const char *const[2]){names[0], names[1]});
        fflush(words);
        weft_stress_error(stress, "%.*s", (int)bytes - 1, text);
    }
    for (int i = 0; i < 2; i++)
        if (logs[i]) fclose(logs[i]);
    if (words) fclose(words);
    free(text);
    return d.kind != WEFT_SAME;
}

/* The recorded order, run again, must have a wrong result in every run. */
static bool repeats(weft_stress *stress, const weft_stress_recipe *r, const weft_stress_way *given,
                    const uint64_t expected[WEFT_STRESS_STEPS])
{
    uint64_t first[WEFT_STRESS_STEPS] = {0}, again[WEFT_STRESS_STEPS] = {0};
    if (!weft_stress_way_run(stress, r, given, first)) return true; /* a step failed: reported */
    if (first_different(first, expected) == WEFT_STRESS_STEPS) return false;
    return weft_stress_way_run(stress, r, given, again) &&
           first_different(first, again) == WEFT_STRESS_STEPS;
}

/* Looks for an order of parts that shows the difference every time; `way` gets it. */
static bool find_order(weft_stress *stress, const weft_stress_recipe *r, weft_stress_way *way,
                       const uint64_t expected[WEFT_STRESS_STEPS], uint32_t *step)
{
    uint64_t hashes[WEFT_STRESS_STEPS];
    for (uint32_t i = 0; i < SEARCHES; i++) {
        weft_stress_way drawn = *way;
        const extras e = {.recorded = way, .steps = WEFT_STRESS_STEPS};
        uint64_t random = r->seed + i;
        drawn.mode = WEFT__PART_DRAW;
        drawn.workers = 3;
        drawn.draw_seed = weft_stress_random(&random);
        free(way->parts);
        way->parts = drawn.parts = NULL;
        way->workers = drawn.workers;
        if (!run(stress, r, &drawn, hashes, &e)) return false;
        *step = first_different(hashes, expected);
        if (*step < WEFT_STRESS_STEPS && repeats(stress, r, way, expected)) return true;
    }
    return false;
}

static void report(weft_stress *stress, const weft_stress_recipe *r, weft_stress_way *recorded,
                   uint32_t step, const uint64_t expected[WEFT_STRESS_STEPS])
{
    char name[LINE_BYTES], path[PATH_BYTES];
    name_way(recorded, name);
    weft_stress_error(stress, "seed %#" PRIx64 ": step %u differs from one thread: %s", r->seed,
                      step + 1, name);
    recorded->mode = WEFT__PART_REPLAY;
    const bool is_same = recorded->part_count > 0 && repeats(stress, r, recorded, expected);
    if (!is_same && !find_order(stress, r, recorded, expected, &step)) {
        weft_stress_error(stress, "no order of its parts repeats it: the difference comes from "
                                  "inside of parts, or from playback; try --until-fail");
        return;
    }
    explain(stress, r, recorded, step);
    if (save_order(r, recorded, path)) weft_stress_report_order(path);
}

void weft_stress_way_compare(weft_stress *stress, const weft_stress_recipe *r,
                             const weft_stress_way *way, const uint64_t expected[WEFT_STRESS_STEPS])
{
    uint64_t hashes[WEFT_STRESS_STEPS] = {0};
    weft_stress_way recorded = *way;
    const extras e = {.recorded = &recorded, .steps = WEFT_STRESS_STEPS};
    if (weft_stress_has_errors()) return; /* the first difference is told, not a hundred */
    const bool is_run = run(stress, r, way, hashes, &e);
    const uint32_t step = is_run ? first_different(hashes, expected) : WEFT_STRESS_STEPS;
    if (step < WEFT_STRESS_STEPS) report(stress, r, &recorded, step, expected);
    free(recorded.parts);
}

int weft_stress_replay(const char *path)
{
    weft_stress stress = {.workers = 1};
    weft_stress_recipe r;
    weft_stress_way way = {.mode = WEFT__PART_REPLAY};
    uint64_t expected[WEFT_STRESS_STEPS], hashes[WEFT_STRESS_STEPS];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return weft_cli_fail("stress", "cannot open %s: %s; a failing run writes one", path,
                             strerror(errno));
    const bool is_order = read_order(file, &r, &way);
    fclose(file);
    stress.seed = r.seed;
    int status =
        is_order ? WEFT_CLI_OK : weft_cli_misuse("stress", "%s is no order of `weft stress`", path);
    if (status == WEFT_CLI_OK &&
        (!weft_stress_way_run(&stress, &r, &weft_stress_serial, expected) ||
         !weft_stress_way_run(&stress, &r, &way, hashes)))
        status = WEFT_CLI_FOUND;
    const uint32_t step =
        status == WEFT_CLI_OK ? first_different(hashes, expected) : WEFT_STRESS_STEPS;
    if (step < WEFT_STRESS_STEPS) {
        explain(&stress, &r, &way, step);
        status = WEFT_CLI_FOUND;
    }
    free(way.parts);
    if (status == WEFT_CLI_OK) puts("no difference: the order has the result of one thread");
    return status;
}
