/* SPDX-License-Identifier: MIT */
/* test_grid.c: grids against the naive model: all pairs of points and all images of the box.
 *
 * Random boxes of two and three dimensions, periodic or not; any number of workers; refusals. */
#include "check.h"
#include "memory_fault.h"
#include "plain.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/grid.h>

enum { MOST = 400 };

/* A random arrangement. Owner: one test. */
typedef struct bed {
    weft_grid_desc desc;
    double middle[3];
    uint32_t count, dimensions;
    bool is_double;
    struct {
        uint64_t padding;
        double at[3];
    } points[MOST];
    struct {
        float at[3];
        uint32_t padding;
    } singles[MOST];
    double sorted[MOST * 3]; /* or floats */
    weft_grid_points given;
} bed;

static double side_of(const bed *b, int axis)
{
    return b->desc.most[axis] - b->desc.least[axis];
}

/* Where cells and the box begin and end, and the numbers beside these places. */
static double border_of(const bed *b, int axis, test_random *random)
{
    const double least = b->desc.least[axis], most = b->desc.most[axis];
    const double step = side_of(b, axis) / (double)(1 + test_random_below(random, 12));
    double at = least + step * (double)test_random_below(random, 12);
    if (test_random_below(random, 3) == 0) at = test_random_below(random, 2) ? most : least;
    const uint64_t side = test_random_below(random, 3);
    return side == 0 ? at : nextafter(at, side == 1 ? least : most);
}

/* Periodic points are in the box; the others may be outside. */
static double place(const bed *b, int axis, test_random *random)
{
    const bool is_periodic = b->desc.is_periodic[axis];
    const double part = (test_random_unit(random) - 0.5) * (is_periodic ? 1 : 1.5) + 0.5;
    double at = test_random_below(random, 3) == 0 ? border_of(b, axis, random)
                                                  : b->desc.least[axis] + part * side_of(b, axis);
    if (!b->is_double) at = (double)(float)at;
    const bool is_inside = at >= b->desc.least[axis] && at < b->desc.most[axis];
    return is_periodic && !is_inside ? (double)(float)b->middle[axis] : at;
}

static void scatter(bed *b, test_random *random)
{
    for (uint32_t i = 0; i < b->count; i++)
        for (int axis = 0; axis < 3; axis++) {
            b->points[i].at[axis] = place(b, axis, random);
            b->singles[i].at[axis] = (float)b->points[i].at[axis];
        }
    b->given = (weft_grid_points){.positions = b->singles[0].at,
                                  .stride = sizeof b->singles[0],
                                  .count = b->count,
                                  .sorted = test_random_below(random, 2) ? b->sorted : NULL};
    if (!b->is_double) return;
    b->given.positions = b->points[0].at;
    b->given.stride = sizeof b->points[0];
    b->given.is_double = true;
}

/* Half of the builds sort positions along. */
static void check_sorted(const bed *b, const weft_grid_view *view)
{
    if (!b->given.sorted) return;
    const size_t bytes = b->dimensions * (b->is_double ? sizeof(double) : sizeof(float));
    for (uint32_t k = 0; k < view->count; k++) {
        const unsigned char *position = b->given.positions;
        position += view->points[k] * b->given.stride;
        CHECK(memcmp((const unsigned char *)b->sorted + k * bytes, position, bytes) == 0);
    }
}

static bed bed_make(test_random *random)
{
    bed b = {.count = (uint32_t)test_random_below(random, MOST + 1)};
    b.dimensions = 2 + (uint32_t)test_random_below(random, 2);
    b.desc.dimensions = b.dimensions == 3 && test_random_below(random, 2) ? 0 : b.dimensions;
    b.is_double = test_random_below(random, 2) == 0;
    const double scales[] = {1, 1e-3 / 3, 1e6 / 7}, scale = scales[test_random_below(random, 3)];
    for (int axis = 0; axis < 3; axis++) {
        b.desc.least[axis] = ((double)test_random_below(random, 20) - 10) * scale;
        b.desc.most[axis] = b.desc.least[axis] + (double)(1 + test_random_below(random, 9)) * scale;
        b.desc.is_periodic[axis] = test_random_below(random, 2) == 0;
        b.middle[axis] = b.desc.least[axis] + side_of(&b, axis) / 2;
    }
    b.desc.reach = (0.3 + 2 * test_random_unit(random)) * scale;
    if (test_random_below(random, 3) == 0)
        b.desc.reach = side_of(&b, 0) / (double)(1 + test_random_below(random, 12));
    return b;
}

static double apart(const bed *b, uint32_t i, uint32_t j, const int8_t shift[3])
{
    double square = 0;
    for (uint32_t axis = 0; axis < b->dimensions; axis++) {
        const double between = b->points[j].at[axis] - b->points[i].at[axis]; /* rounded the same */
        const double far = between + shift[axis] * side_of(b, (int)axis);     /* from both sides */
        square += far * far;
    }
    return sqrt(square);
}

/* Pairs (i, image of j) nearer than the reach, the point itself left out. */
static uint64_t pairs_naive(const bed *b)
{
    uint64_t pairs = 0;
    int most[3];
    for (int axis = 0; axis < 3; axis++)
        most[axis] = b->desc.is_periodic[axis] && axis < (int)b->dimensions;
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t j = 0; j < b->count; j++)
            for (int z = -most[2]; z <= most[2]; z++)
                for (int y = -most[1]; y <= most[1]; y++)
                    for (int x = -most[0]; x <= most[0]; x++) {
                        const int8_t shift[3] = {(int8_t)x, (int8_t)y, (int8_t)z};
                        const bool is_itself = i == j && x == 0 && y == 0 && z == 0;
                        if (!is_itself && apart(b, i, j, shift) < b->desc.reach) pairs++;
                    }
    return pairs;
}

static uint64_t pairs_of_runs(const bed *b, const weft_grid_view *view, const weft_grid_run *runs,
                              uint32_t run_count, uint32_t cell)
{
    uint64_t pairs = 0;
    for (uint32_t k = view->cell_begin[cell]; k < view->cell_begin[cell + 1]; k++)
        for (uint32_t r = 0; r < run_count; r++)
            for (uint32_t other = runs[r].begin; other < runs[r].end; other++) {
                const uint32_t i = view->points[k], j = view->points[other];
                const int8_t *shift = runs[r].shift;
                if (i == j && !shift[0] && !shift[1] && !shift[2]) continue;
                if (apart(b, i, j, shift) < b->desc.reach) pairs++;
            }
    return pairs;
}

static uint64_t pairs_within(const bed *b, const weft_grid_view *view, uint32_t cell)
{
    uint64_t pairs = 0;
    for (uint32_t k = view->cell_begin[cell]; k < view->cell_begin[cell + 1]; k++)
        for (uint32_t other = k + 1; other < view->cell_begin[cell + 1]; other++)
            if (apart(b, view->points[k], view->points[other], (int8_t[3]){0, 0, 0}) <
                b->desc.reach)
                pairs++;
    return pairs;
}

/* Every point once, in its cell, ascending within it. */
static void check_order(const bed *b, const weft_grid *grid, const weft_grid_view *view)
{
    CHECK_U64(view->count, b->count);
    CHECK_U64(view->cell_begin[0], 0);
    CHECK_U64(view->cell_begin[view->cell_count], b->count);
    CHECK_U64(view->cell_count, (uint64_t)view->cells[0] * view->cells[1] * view->cells[2]);
    for (uint32_t cell = 0; cell < view->cell_count; cell++)
        for (uint32_t k = view->cell_begin[cell]; k < view->cell_begin[cell + 1]; k++) {
            CHECK_U64(view->cell_of[view->points[k]], cell);
            CHECK_U64(weft_grid_cell_at(grid, b->points[view->points[k]].at), cell);
            CHECK(k == view->cell_begin[cell] || view->points[k - 1] < view->points[k]);
        }
}

static void check_pairs(const bed *b, const weft_grid *grid, const weft_grid_view *view)
{
    uint64_t all = 0, once = 0;
    for (uint32_t cell = 0; cell < view->cell_count; cell++) {
        weft_grid_run runs[WEFT_GRID_MAX_RUNS];
        uint32_t count = weft_grid_runs(grid, cell, runs);
        CHECK(count <= WEFT_GRID_MAX_RUNS);
        all += pairs_of_runs(b, view, runs, count, cell);
        count = weft_grid_runs_half(grid, cell, runs);
        once += pairs_of_runs(b, view, runs, count, cell) + pairs_within(b, view, cell);
    }
    CHECK_U64(all, pairs_naive(b));
    CHECK_U64(once * 2, all);
}

PLAIN_TEST(neighbours_are_those_of_all_pairs)
{
    test_random random = test_random_init(7);
    weft_job_pool *pool;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 2}, &pool));
    for (int round = 0; round < 200; round++) {
        bed b = bed_make(&random);
        weft_grid *grid;
        CHECK_OK(weft_grid_create(&b.desc, &grid));
        for (int build = 0; build < 2; build++) {
            scatter(&b, &random);
            weft_job_context *job = build ? weft_job_pool_owner(pool) : NULL;
            CHECK_OK(weft_grid_build(grid, job, &b.given));
            weft_grid_view view;
            weft_grid_view_get(grid, &view, sizeof view);
            for (uint32_t axis = 0; axis < b.dimensions; axis++)
                CHECK(view.cells[axis] == 1 || view.cell_size[axis] >= b.desc.reach);
            check_order(&b, grid, &view);
            check_sorted(&b, &view);
            check_pairs(&b, grid, &view);
        }
        weft_grid_destroy(grid);
    }
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* ---- workers ---- */

enum { MANY = 100000 };

static float (*many_points(uint64_t seed))[3]
{
    test_random random = test_random_init(seed);
    float(*points)[3] = malloc(MANY * sizeof *points);
    for (uint32_t i = 0; i < MANY; i++)
        for (int axis = 0; axis < 3; axis++) points[i][axis] = (float)test_random_unit(&random);
    return points;
}

static weft_grid_desc unit_box(double reach)
{
    return (weft_grid_desc){.most = {1, 1, 1}, .reach = reach, .is_periodic = {true, true, true}};
}

static void check_same(const weft_grid *a, const weft_grid *b)
{
    weft_grid_view one, other;
    weft_grid_view_get(a, &one, sizeof one);
    weft_grid_view_get(b, &other, sizeof other);
    CHECK_U64(one.count, other.count);
    CHECK(memcmp(one.points, other.points, one.count * sizeof *one.points) == 0);
    CHECK(memcmp(one.cell_begin, other.cell_begin, (one.cell_count + 1) * sizeof(uint32_t)) == 0);
}

static void build_by(uint32_t workers, const weft_grid_points *points, double reach,
                     const weft_grid *expected)
{
    weft_job_pool *pool;
    weft_grid *grid;
    const weft_grid_desc desc = unit_box(reach);
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = workers}, &pool));
    CHECK_OK(weft_grid_create(&desc, &grid));
    for (int round = 0; round < 5; round++) {
        CHECK_OK(weft_grid_build(grid, weft_job_pool_owner(pool), points));
        check_same(grid, expected);
    }
    weft_grid_destroy(grid);
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* With more cells than points, and with fewer. */
static void check_workers(double reach)
{
    float(*points)[3] = many_points(5);
    const weft_grid_points given = {points, sizeof *points, MANY, false, NULL};
    const weft_grid_desc desc = unit_box(reach);
    weft_grid *expected;
    CHECK_OK(weft_grid_create(&desc, &expected));
    CHECK_OK(weft_grid_build(expected, NULL, &given));
    build_by(1, &given, reach, expected);
    build_by(2, &given, reach, expected);
    build_by(5, &given, reach, expected);
    weft_grid_destroy(expected);
    free(points);
}

PLAIN_TEST(grids_are_equal_for_any_number_of_workers)
{
    check_workers(0.02);
    check_workers(0.03);
}

/* ---- refusals ---- */

static void check_refused(weft_grid_desc desc, weft_result expected)
{
    weft_grid *grid;
    CHECK_RESULT(weft_grid_create(&desc, &grid), expected);
    CHECK_POINTER(grid, NULL);
}

PLAIN_TEST(descriptions_that_cannot_be_are_refused)
{
    const double inf = (double)INFINITY, nan = (double)NAN;
    check_refused((weft_grid_desc){.most = {1, 1, 1}}, WEFT_INVALID_ARGUMENT);
    check_refused((weft_grid_desc){.most = {1, 1, 1}, .reach = nan}, WEFT_INVALID_ARGUMENT);
    check_refused((weft_grid_desc){.most = {1, 0, 1}, .reach = 1}, WEFT_INVALID_ARGUMENT);
    check_refused((weft_grid_desc){.most = {1, inf, 1}, .reach = 1}, WEFT_INVALID_ARGUMENT);
    check_refused((weft_grid_desc){.dimensions = 4, .most = {1, 1, 1}, .reach = 1},
                  WEFT_INVALID_ARGUMENT);
    check_refused((weft_grid_desc){.most = {1, 1, 1e-310}, .reach = 1}, WEFT_INVALID_ARGUMENT);
    check_refused((weft_grid_desc){.most = {1, 1, 1}, .reach = 1e-310}, WEFT_INVALID_ARGUMENT);
    check_refused((weft_grid_desc){.most = {1, 1, 1}, .reach = 1e-4}, WEFT_LIMIT);
    check_refused((weft_grid_desc){.dimensions = 2, .most = {1e12, 1}, .reach = 1}, WEFT_LIMIT);
    check_refused((weft_grid_desc){.dimensions = 2, .most = {1, 1}, .reach = 1e-300}, WEFT_LIMIT);
    CHECK_RESULT(weft_grid_create(NULL, NULL), WEFT_INVALID_ARGUMENT);
    weft_grid *grid;
    CHECK_OK(
        weft_grid_create(&(weft_grid_desc){.dimensions = 2, .most = {1, 1}, .reach = 0.1}, &grid));
    CHECK_RESULT(weft_grid_build(grid, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_grid_build(grid, NULL, &(weft_grid_points){NULL, 8, 1, false, NULL}),
                 WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_grid_build(grid, NULL, &(weft_grid_points){NULL, 8, 0, false, NULL}));
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    CHECK_U64(weft_grid_runs(grid, 100000, runs), 0);
    const float strange[][2] = {{NAN, INFINITY}, {-INFINITY, NAN}, {1e30f, -1e30f}};
    CHECK_OK(weft_grid_build(grid, NULL, &(weft_grid_points){strange, 8, 3, false, NULL}));
    weft_grid_view view;
    weft_grid_view_get(grid, &view, sizeof view);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_U64(weft_grid_cell_at(grid, (double[]){(double)strange[i][0], (double)strange[i][1]}),
                  view.cell_of[i]);
    CHECK_U64(view.cell_of[0], view.cells[0] * (view.cells[1] - 1)); /* NaN, most */
    CHECK_U64(view.cell_of[1], 0);                                   /* least, NaN */
    weft_grid_destroy(grid);
}

PLAIN_TEST(strange_positions_of_a_periodic_grid_have_a_cell)
{
    const weft_grid_desc desc = unit_box(0.1);
    weft_grid *grid;
    CHECK_OK(weft_grid_create(&desc, &grid));
    const double inf = (double)INFINITY, nan = (double)NAN;
    const double strange[][3] = {
        {nan, inf, -inf}, {1e300, -1e300, -1e-300}, {1, 1, 1}, {-0.5, 7.25, 2}};
    CHECK_OK(
        weft_grid_build(grid, NULL, &(weft_grid_points){strange, sizeof *strange, 4, true, NULL}));
    weft_grid_view view;
    weft_grid_view_get(grid, &view, sizeof view);
    CHECK_U64(view.cell_of[2], 0);
    CHECK_U64(view.cell_of[3], weft_grid_cell_at(grid, (double[]){0.5, 0.25, 0}));
    weft_grid_destroy(grid);
}

static void check_cell(const weft_grid_desc *desc, double at, uint32_t expected)
{
    weft_grid *grid;
    CHECK_OK(weft_grid_create(desc, &grid));
    CHECK_U64(weft_grid_cell_at(grid, (double[]){at, 0}), expected);
    weft_grid_destroy(grid);
}

/* Cells are wider than the reach, so a reach of a tenth of the side makes nine of them. */
PLAIN_TEST(positions_beside_a_border_belong_to_the_cell_on_their_side)
{
    weft_grid_desc desc = {.dimensions = 2,
                           .least = {-50, 0},
                           .most = {50, 1},
                           .reach = 10,
                           .is_periodic = {true, false}};
    check_cell(&desc, -50, 0);
    check_cell(&desc, nextafter(50, 0), 8);
    check_cell(&desc, nextafter(-50, -60), 8); /* wrapped: below 50 */
    check_cell(&desc, 50, 0);
    desc.least[0] = -100;
    desc.most[0] = 0;
    check_cell(&desc, -1e-17, 8);
    check_cell(&desc, 1e-17, 0);
    desc.is_periodic[0] = false;
    check_cell(&desc, -1e-17, 8);
    check_cell(&desc, 1e-17, 8);
    check_cell(&desc, -101, 0);
}

/* Rounding a coordinate, and adding the side to it, may lose this much. */
PLAIN_TEST(millions_of_cells_have_room_for_rounding)
{
    const double reach = 1.0 / 3, side = 16000000 * reach * (1 + 1.001e-9);
    const weft_grid_desc desc = {
        .dimensions = 2, .least = {-side / 2, 0}, .most = {side / 2, reach}, .reach = reach};
    weft_grid *grid;
    weft_grid_view view;
    CHECK_OK(weft_grid_create(&desc, &grid));
    weft_grid_view_get(grid, &view, sizeof view);
    CHECK(view.cells[0] > 15990000);
    CHECK(view.cell_size[0] - reach > 4 * (nextafter(side, 2 * side) - side));
    weft_grid_destroy(grid);
}

static weft_result build_one(weft_grid *grid)
{
    static const float point[3] = {0.5f, 0.5f, 0.5f};
    const weft_result result =
        weft_grid_build(grid, NULL, &(weft_grid_points){point, sizeof point, 1, false, NULL});
    weft_grid_view view;
    weft_grid_view_get(grid, &view, sizeof view);
    CHECK_U64(view.count, result == WEFT_OK);
    CHECK_U64(view.cell_begin[view.cell_count], result == WEFT_OK);
    return result;
}

PLAIN_TEST(refused_memory_leaves_a_grid_without_points)
{
    weft_result result = WEFT_OUT_OF_MEMORY;
    for (uint64_t k = 1; result != WEFT_OK; k++) {
        test_memory memory;
        test_memory_init(&memory);
        test_memory_fail(&memory, k, false);
        weft_grid_desc desc = unit_box(0.1);
        desc.allocator = test_memory_hook(&memory);
        weft_grid *grid;
        result = weft_grid_create(&desc, &grid);
        if (result == WEFT_OK) {
            result = build_one(grid);
            CHECK_OK(build_one(grid));
            weft_grid_destroy(grid);
        }
        CHECK(result == WEFT_OK || result == WEFT_OUT_OF_MEMORY);
        test_memory_fini(&memory);
        CHECK(k < 20);
    }
}
