/* SPDX-License-Identifier: MIT */
/* grid.c: grids of cells: create and destroy, what they hold, and the runs of places beside a cell.
 * Sorting points into cells: grid_build.c. */
#include <weft/grid.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "grid_build.h"
#include "sized.h"

enum { MAX_CELLS = 1 << 28 };

/* The greatest integer that is not above `value`, without libm; beyond 2^53 the value itself. */
static double whole_below(double value)
{
    if (!(value > -0x1p53 && value < 0x1p53)) return value;
    const double whole = (double)(int64_t)value;
    return whole > value ? whole - 1 : whole;
}

static bool is_axis_right(const weft_grid_desc *desc, uint32_t axis)
{
    const double side = desc->most[axis] - desc->least[axis];
    return isfinite(desc->least[axis]) && isfinite(side) && side >= DBL_MIN;
}

static bool is_right(const weft_grid_desc *desc)
{
    if (desc->dimensions != 0 && desc->dimensions != 2 && desc->dimensions != 3) return false;
    if (!isfinite(desc->reach) || desc->reach < DBL_MIN) return false;
    const uint32_t dimensions = desc->dimensions ? desc->dimensions : 3;
    for (uint32_t axis = 0; axis < dimensions; axis++)
        if (!is_axis_right(desc, axis)) return false;
    return true;
}

/* Cells are wider than the reach by more than what rounding a coordinate, its cell and its image
 * beyond the border may lose. false: more cells than a grid may have. */
static bool lay_axis(weft_grid *grid, const weft_grid_desc *desc, uint32_t axis)
{
    const double least = desc->least[axis], most = desc->most[axis], side = most - least;
    const double lost = (side + fabs(least) + fabs(most)) * 0x1p-50;
    const double cells = whole_below(side / (desc->reach * (1 + 1e-9) + lost));
    if (cells > MAX_CELLS) return false;
    grid->cells[axis] = cells < 1 ? 1 : (uint32_t)cells;
    grid->cell_size[axis] = side / grid->cells[axis];
    grid->axes[axis] = (weft__grid_axis){.least = least,
                                         .most = most,
                                         .per_cell = grid->cells[axis] / side,
                                         .cells = grid->cells[axis],
                                         .is_periodic = desc->is_periodic[axis]};
    return true;
}

/* false: more cells than a grid may have. */
static bool lay_out(weft_grid *grid, const weft_grid_desc *desc)
{
    grid->dimensions = desc->dimensions ? desc->dimensions : 3;
    grid->cells[2] = 1;
    uint64_t cells = 1;
    for (uint32_t axis = 0; axis < grid->dimensions; axis++) {
        if (!lay_axis(grid, desc, axis)) return false;
        cells *= grid->cells[axis];
        if (cells > MAX_CELLS) return false;
    }
    grid->cell_count = (uint32_t)cells;
    while ((grid->cell_count - 1) >> grid->range_shift >= GRID_RANGES) grid->range_shift++;
    return true;
}

weft_result weft_grid_create(const weft_grid_desc *desc, weft_grid **out)
{
    if (!out) return WEFT_INVALID_ARGUMENT;
    *out = NULL;
    if (!desc || !is_right(desc)) return WEFT_INVALID_ARGUMENT;
    weft_grid fresh = {.count = 0};
    if (!lay_out(&fresh, desc)) return WEFT_LIMIT;
    weft_result result = weft__memory_init(&fresh.memory, &desc->allocator);
    if (result != WEFT_OK) return result;
    weft_grid *grid = weft__alloc(&fresh.memory, WEFT__MEMORY_OTHER, 1, sizeof *grid, 64);
    if (!grid) return WEFT_OUT_OF_MEMORY;
    *grid = fresh;
    grid->cell_begin = weft__alloc_zeroed(&grid->memory, WEFT__MEMORY_OTHER,
                                          (size_t)grid->cell_count + 1, sizeof(uint32_t), 64);
    grid->range_end = weft__alloc(&grid->memory, WEFT__MEMORY_OTHER, GRID_MAX_BLOCKS,
                                  sizeof *grid->range_end, 64);
    if (!grid->cell_begin || !grid->range_end) {
        weft_grid_destroy(grid);
        return WEFT_OUT_OF_MEMORY;
    }
    *out = grid;
    return WEFT_OK;
}

void weft_grid_destroy(weft_grid *grid)
{
    if (!grid) return;
    weft__memory *memory = &grid->memory;
    weft__grid_points_free(grid);
    weft__free(memory, WEFT__MEMORY_OTHER, grid->cell_begin, (size_t)grid->cell_count + 1,
               sizeof(uint32_t), 64);
    weft__free(memory, WEFT__MEMORY_OTHER, grid->range_end, GRID_MAX_BLOCKS,
               sizeof *grid->range_end, 64);
    weft__free(memory, WEFT__MEMORY_OTHER, grid->first_half, grid->cell_count,
               sizeof *grid->first_half, 64);
    weft__memory last = *memory;
    weft__free(&last, WEFT__MEMORY_OTHER, grid, 1, sizeof *grid, 64);
}

void weft_grid_view_get(const weft_grid *grid, weft_grid_view *out, size_t bytes)
{
    if (!out) return;
    weft_grid_view view = {.count = 0};
    if (grid) {
        view = (weft_grid_view){.points = grid->points,
                                .cell_begin = grid->cell_begin,
                                .cell_of = grid->cell_of,
                                .count = grid->count,
                                .cell_count = grid->cell_count};
        memcpy(view.cells, grid->cells, sizeof view.cells);
        memcpy(view.cell_size, grid->cell_size, sizeof view.cell_size);
    }
    weft__sized_fill(out, bytes, &view, sizeof view);
}

/* The cell of a coordinate along an axis. */
static uint32_t cell_along(const weft__grid_axis *axis, double coordinate)
{
    double at = (coordinate - axis->least) * axis->per_cell;
    if (at >= 0 && at < axis->cells) return (uint32_t)at;
    const uint32_t last = (uint32_t)axis->cells - 1;
    if (!axis->is_periodic) return at >= axis->cells ? last : 0;
    if (coordinate >= axis->least && coordinate < axis->most) return last; /* rounded up */
    at -= axis->cells * whole_below(at / axis->cells);
    if (!(at > -1 && at <= axis->cells)) return 0; /* NaN, infinite, beyond what doubles tell */
    return at >= 0 && at < axis->cells ? (uint32_t)at : last; /* rounded: just below the border */
}

uint32_t weft_grid_cell_at(const weft_grid *grid, const double *position)
{
    uint32_t cell = 0;
    if (!grid || !position) return 0;
    for (int axis = (int)grid->dimensions - 1; axis >= 0; axis--)
        cell = cell * grid->cells[axis] + cell_along(&grid->axes[axis], position[axis]);
    return cell;
}

/* ---- runs ---- */

/* A cell beside another one along one axis. */
typedef struct beside {
    uint32_t at;
    int8_t shift; /* boxes by which its points are to be moved */
} beside;

/* at + step along an axis; false: beyond the border. */
static bool step_along(const weft_grid *grid, uint32_t axis, uint32_t at, int step, beside *out)
{
    const uint32_t cells = grid->cells[axis];
    *out = (beside){at + (uint32_t)step, 0};
    if (out->at < cells) return true; /* -1 is far beyond */
    if (!grid->axes[axis].is_periodic) return false;
    *out = step < 0 ? (beside){cells - 1, -1} : (beside){0, 1};
    return true;
}

/* Where runs go. Owner: one call. */
typedef struct run_list {
    const weft_grid *grid;
    weft_grid_run *runs;
    uint32_t count;
} run_list;

/* The row of cells first..last (along x) of y and z. */
static void add_row(run_list *list, const beside *y, const beside *z, uint32_t first, uint32_t last,
                    int8_t shift)
{
    const weft_grid *grid = list->grid;
    const uint32_t row = (z->at * grid->cells[1] + y->at) * grid->cells[0];
    const uint32_t begin = grid->cell_begin[row + first], end = grid->cell_begin[row + last + 1];
    if (begin == end) return;
    list->runs[list->count++] = (weft_grid_run){begin, end, {shift, y->shift, z->shift}};
}

/* The cells from x + from to x + 1 of a row: one run, and one more for each end that wraps. */
static void add_cells(run_list *list, const beside *y, const beside *z, uint32_t x, int from)
{
    const weft_grid *grid = list->grid;
    const bool is_periodic = grid->axes[0].is_periodic;
    const uint32_t last = grid->cells[0] - 1;
    if (from < 0 && x == 0 && is_periodic) add_row(list, y, z, last, last, -1);
    const uint32_t first = from < 0 ? (x > 0 ? x - 1 : 0) : x + (uint32_t)from;
    const uint32_t end = x < last ? x + 1 : last;
    if (first <= end) add_row(list, y, z, first, end, 0);
    if (x == last && is_periodic) add_row(list, y, z, 0, 0, 1);
}

/* The rows of cells beside (x, y, z), all of them or those behind the cell. */
static uint32_t list_runs(const weft_grid *grid, uint32_t cell, weft_grid_run *runs, bool is_half)
{
    if (!grid || !runs || cell >= grid->cell_count) return 0;
    run_list list = {grid, runs, 0};
    const uint32_t x = cell % grid->cells[0], row = cell / grid->cells[0];
    const uint32_t y = row % grid->cells[1], z = row / grid->cells[1];
    const int reach_z = grid->dimensions == 3;
    for (int dz = is_half ? 0 : -reach_z; dz <= reach_z; dz++) {
        beside at_z, at_y;
        if (!step_along(grid, 2, z, dz, &at_z)) continue;
        for (int dy = is_half && dz == 0 ? 0 : -1; dy <= 1; dy++)
            if (step_along(grid, 1, y, dy, &at_y))
                add_cells(&list, &at_y, &at_z, x, is_half && dz == 0 && dy == 0 ? 1 : -1);
    }
    return list.count;
}

uint32_t weft_grid_runs(const weft_grid *grid, uint32_t cell,
                        weft_grid_run runs[WEFT_GRID_MAX_RUNS])
{
    return list_runs(grid, cell, runs, false);
}

uint32_t weft_grid_runs_half(const weft_grid *grid, uint32_t cell,
                             weft_grid_run runs[WEFT_GRID_MAX_RUNS])
{
    return list_runs(grid, cell, runs, true);
}
