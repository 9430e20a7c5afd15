/* SPDX-License-Identifier: MIT */
/* bench_grid.c: a grid built from points, and a pass over all neighbours (how many are nearer than
 * the reach), beside plain C: a counting sort and the same loops on one thread.
 *
 * Points are spread evenly, in random order or in the order of a sweep over space, which is how
 * entities lie that were created row by row. About four points share a cell. */
#include "bench.h"

#include <weft/grid.h>
#include <weft/random.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PER_CELL = 4 };

/* Owner: one benchmark. */
typedef struct grid_bed {
    weft_bench *bench;
    weft_job_pool *pool;
    weft_job_context *job;
    weft_grid *grid;
    weft_grid_view view;
    uint32_t count, side; /* side: cells along each axis */
    float (*positions)[3];
    float (*sorted)[3];
    uint32_t *near; /* of each place: neighbours */
    /* raw */
    uint32_t *cell_of, *cell_begin, *points;
    float (*raw_sorted)[3];
    uint32_t *raw_near;
    double per_cell;
} grid_bed;

static void check(const grid_bed *bed, weft_result result)
{
    if (result != WEFT_OK) weft_bench_fail(bed->bench, "%s", weft_result_text(result));
}

static void place_points(grid_bed *bed, bool is_swept)
{
    for (uint32_t i = 0; i < bed->count; i++) {
        weft_random random = weft_random_of(1, i, 0, 0);
        for (int axis = 0; axis < 3; axis++) bed->positions[i][axis] = weft_random_float(&random);
        if (is_swept) bed->positions[i][2] = (float)i / (float)bed->count * 0.9999f;
    }
}

static grid_bed bed_open(weft_bench *bench, uint32_t workers, uint32_t count, bool is_swept)
{
    grid_bed bed = {.bench = bench, .count = count};
    bed.side = (uint32_t)cbrt((double)count / PER_CELL);
    check(&bed, weft_job_pool_create(&(weft_job_pool_desc){.worker_count = workers}, &bed.pool));
    bed.job = weft_job_pool_owner(bed.pool);
    const weft_grid_desc desc = {.most = {1, 1, 1}, .reach = 0.999999 / bed.side};
    check(&bed, weft_grid_create(&desc, &bed.grid));
    weft_grid_view_get(bed.grid, &bed.view, sizeof bed.view);
    if (bed.view.cells[0] != bed.side) weft_bench_fail(bench, "another number of cells");
    bed.per_cell = bed.side;
    bed.positions = weft_bench_zeroed(count, sizeof *bed.positions);
    bed.sorted = weft_bench_zeroed(count, sizeof *bed.sorted);
    bed.raw_sorted = weft_bench_zeroed(count, sizeof *bed.raw_sorted);
    bed.near = weft_bench_zeroed(count, sizeof *bed.near);
    bed.raw_near = weft_bench_zeroed(count, sizeof *bed.raw_near);
    bed.cell_of = weft_bench_zeroed(count, sizeof *bed.cell_of);
    bed.points = weft_bench_zeroed(count, sizeof *bed.points);
    bed.cell_begin = weft_bench_zeroed(bed.view.cell_count + 1, sizeof *bed.cell_begin);
    place_points(&bed, is_swept);
    return bed;
}

static void bed_close(grid_bed *bed)
{
    free(bed->positions), free(bed->sorted), free(bed->raw_sorted), free(bed->near);
    free(bed->raw_near), free(bed->cell_of), free(bed->points), free(bed->cell_begin);
    weft_grid_destroy(bed->grid);
    check(bed, weft_job_pool_destroy(bed->pool));
}

/* ---- build ---- */

static void build_run(void *data)
{
    grid_bed *bed = data;
    const weft_grid_points points = {.positions = bed->positions,
                                     .stride = sizeof *bed->positions,
                                     .count = bed->count,
                                     .sorted = bed->sorted};
    check(bed, weft_grid_build(bed->grid, bed->job, &points));
    weft_grid_view_get(bed->grid, &bed->view, sizeof bed->view);
}

static uint32_t raw_axis(const grid_bed *bed, float coordinate)
{
    const double at = (double)coordinate * bed->per_cell; /* the same cells as weft's */
    if (!(at > 0)) return 0;
    return at >= bed->per_cell ? bed->side - 1 : (uint32_t)at;
}

static void build_raw(void *data)
{
    const grid_bed *bed = data;
    uint32_t *ends = bed->cell_begin + 1;
    memset(bed->cell_begin, 0, (bed->view.cell_count + 1) * sizeof *bed->cell_begin);
    for (uint32_t i = 0; i < bed->count; i++) {
        const float *at = bed->positions[i];
        const uint32_t row = raw_axis(bed, at[2]) * bed->side + raw_axis(bed, at[1]);
        bed->cell_of[i] = row * bed->side + raw_axis(bed, at[0]);
        ends[bed->cell_of[i]]++;
    }
    for (uint32_t cell = 0, begin = 0; cell < bed->view.cell_count; cell++) {
        const uint32_t count = ends[cell];
        ends[cell] = begin;
        begin += count;
    }
    for (uint32_t i = 0; i < bed->count; i++) {
        const uint32_t place = ends[bed->cell_of[i]]++;
        bed->points[place] = i;
        memcpy(bed->raw_sorted[place], bed->positions[i], sizeof *bed->raw_sorted);
    }
    weft_bench_keep(bed->raw_sorted);
}

/* ---- neighbours ---- */

static uint32_t near_of(const float (*sorted)[3], const float at[3], uint32_t begin, uint32_t end,
                        float reach2)
{
    uint32_t near = 0;
    for (uint32_t j = begin; j < end; j++) {
        const float x = sorted[j][0] - at[0], y = sorted[j][1] - at[1], z = sorted[j][2] - at[2];
        near += x * x + y * y + z * z < reach2;
    }
    return near;
}

static int near_cells(weft_job_context *job, void *argument, uint32_t first, uint32_t last)
{
    (void)job;
    const grid_bed *bed = argument;
    const float reach2 = (float)(1 / (bed->per_cell * bed->per_cell));
    for (uint32_t cell = first; cell < last; cell++) {
        weft_grid_run runs[WEFT_GRID_MAX_RUNS];
        const uint32_t count = weft_grid_runs(bed->grid, cell, runs);
        for (uint32_t k = bed->view.cell_begin[cell]; k < bed->view.cell_begin[cell + 1]; k++) {
            bed->near[k] = 0;
            for (uint32_t r = 0; r < count; r++)
                bed->near[k] += near_of((const float(*)[3])bed->sorted, bed->sorted[k],
                                        runs[r].begin, runs[r].end, reach2);
        }
    }
    return 0;
}

static void near_run(void *data)
{
    grid_bed *bed = data;
    static weft_job_cost cost;
    check(bed, weft_job_for(bed->job,
                            &(weft_job_for_desc){.fn = near_cells,
                                                 .argument = bed,
                                                 .count = bed->view.cell_count,
                                                 .cost = &cost},
                            NULL));
}

static void raw_near_cell(const grid_bed *bed, int32_t x, int32_t y, int32_t z)
{
    const float reach2 = (float)(1 / (bed->per_cell * bed->per_cell));
    const int32_t side = (int32_t)bed->side, low = x > 0 ? x - 1 : 0;
    const int32_t high = x + 1 < side ? x + 1 : x, cell = (z * side + y) * side + x;
    for (uint32_t k = bed->cell_begin[cell]; k < bed->cell_begin[cell + 1]; k++) {
        uint32_t near = 0;
        for (int32_t oz = z > 0 ? z - 1 : 0; oz <= z + 1 && oz < side; oz++)
            for (int32_t oy = y > 0 ? y - 1 : 0; oy <= y + 1 && oy < side; oy++) {
                const int32_t row = (oz * side + oy) * side;
                near +=
                    near_of((const float(*)[3])bed->raw_sorted, bed->raw_sorted[k],
                            bed->cell_begin[row + low], bed->cell_begin[row + high + 1], reach2);
            }
        bed->raw_near[k] = near;
    }
}

static void near_raw(void *data)
{
    const grid_bed *bed = data;
    const int32_t side = (int32_t)bed->side;
    for (int32_t z = 0; z < side; z++)
        for (int32_t y = 0; y < side; y++)
            for (int32_t x = 0; x < side; x++) raw_near_cell(bed, x, y, z);
    weft_bench_keep(bed->raw_near);
}

/* ---- cases ---- */

/* Both have found the same. */
static void compare(grid_bed *bed)
{
    build_run(bed), near_run(bed), build_raw(bed), near_raw(bed);
    if (memcmp(bed->points, bed->view.points, bed->count * sizeof *bed->points) != 0)
        weft_bench_fail(bed->bench, "the order of points differs from plain C");
    if (memcmp(bed->near, bed->raw_near, bed->count * sizeof *bed->near) != 0)
        weft_bench_fail(bed->bench, "the neighbours differ from plain C");
}

/* A name in the list of cases, the number of workers, the arrangement. */
typedef struct grid_case {
    const char *name;
    uint32_t workers, count;
    bool is_swept;
} grid_case;

static void grid_cases(weft_bench *bench, weft_bench_fn *run, weft_bench_fn *raw)
{
    const uint32_t many = weft_bench_workers(bench);
    const grid_case cases[] = {{"100k", 1, 100000, false},     {"1M", 1, 1000000, false},
                               {"1M-swept", 1, 1000000, true}, {"100k-2", many, 100000, false},
                               {"1M-2", many, 1000000, false}, {"1M-swept-2", many, 1000000, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const grid_case *c = &cases[i];
        if (!weft_bench_wants(bench, c->name)) continue;
        grid_bed bed = bed_open(bench, c->workers, c->count, c->is_swept);
        compare(&bed);
        weft_bench_run(bench, &(weft_bench_measure){.name = c->name,
                                                    .unit = "ns/point",
                                                    .items = c->count,
                                                    .workers = c->workers,
                                                    .run = run,
                                                    .raw = raw,
                                                    .data = &bed});
        bed_close(&bed);
    }
}

static void build_cases(weft_bench *bench)
{
    grid_cases(bench, build_run, build_raw);
}

static void near_cases(weft_bench *bench)
{
    grid_cases(bench, near_run, near_raw);
}

const weft_bench_entry weft_bench_grid[] = {
    {"grid.build", "points sorted into cells, positions copied in this order; raw: a counting sort",
     build_cases, false},
    {"grid.near", "for each point, how many are nearer than a cell; raw: the same loops",
     near_cases, false},
    {0}};
