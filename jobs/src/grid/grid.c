/* SPDX-License-Identifier: MIT */
/* grid.c: grids of cells: create and destroy, what they hold, and the runs of places beside a cell.
 * Then how points are sorted into them. */
#include "heap.h"
#include "sized.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <weft/grid.h>

/* Loops over a grid share it between workers without atomics: each part of a loop writes entries
 * of its own. */

enum {
    GRID_BLOCK = 8192,     /* points of a block: a part of the first step */
    GRID_MAX_BLOCKS = 512, /* blocks grow beyond 4 M points */
    GRID_RANGES = 256      /* ranges of cells: parts of the second step */
};

/* A point on its way to its cell; its position may follow. */
typedef struct grid_entry {
    uint32_t cell, point;
} grid_entry;

/* What the cells along an axis are. A value. */
typedef struct grid_axis {
    double least, most, per_cell;
    double cells; /* an integer */
    bool is_periodic;
} grid_axis;

/* Owner: the creator. Always: cells[a] = axes[a].cells, 1 beyond the dimensions; cell_count =
 * cells[0] * cells[1] * cells[2]; after a build cell_begin[cell_count] = count, and
 * cell_of[points[k]] = c for cell_begin[c] <= k < cell_begin[c + 1]. */
struct weft_grid {
    /* constant after create */
    weft_allocator allocator;
    weft__memory memory;
    uint32_t dimensions, cell_count, range_shift; /* cell >> range_shift: its range */
    uint32_t cells[3];
    double cell_size[3];
    grid_axis axes[3];
    /* owner only */
    uint32_t count, capacity, entry_bytes;
    uint32_t *points, *cell_of;         /* [capacity] */
    uint32_t *cell_begin;               /* [cell_count + 1] */
    unsigned char *entries;             /* [capacity][entry_bytes], by range; or NULL */
    uint32_t (*range_end)[GRID_RANGES]; /* [GRID_MAX_BLOCKS]: of a block: counts, then places */
    uint32_t range_begin[GRID_RANGES + 1];
    weft_job_cost costs[3]; /* of the loops: number, spread, sort */
};

static void grid_points_free(weft_grid *grid);

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
    grid->axes[axis] = (grid_axis){.least = least,
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
    grid->range_end =
        WEFT__NEW(&grid->memory, WEFT__MEMORY_OTHER, GRID_MAX_BLOCKS, *grid->range_end);
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
    grid_points_free(grid);
    weft__free(memory, WEFT__MEMORY_OTHER, grid->cell_begin, (size_t)grid->cell_count + 1,
               sizeof *grid->cell_begin, 64);
    WEFT__FREE(memory, WEFT__MEMORY_OTHER, grid->range_end, GRID_MAX_BLOCKS);
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
static uint32_t cell_along(const grid_axis *axis, double coordinate)
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

/* at + step along an axis, and the boxes by which points there are to be moved; false: beyond the
 * border. */
static inline bool step_along(const weft_grid *grid, uint32_t axis, int step, uint32_t *at,
                              int8_t *shift)
{
    const uint32_t cells = grid->cells[axis];
    *at += (uint32_t)step;
    *shift = 0;
    if (*at < cells) return true; /* -1 is far beyond */
    *at = step < 0 ? cells - 1 : 0;
    *shift = step < 0 ? -1 : 1;
    return grid->axes[axis].is_periodic;
}

/* Writes the run of the cells first..last of a row; returns where the next one goes: there, too,
 * when the run is empty. */
static inline weft_grid_run *add_run(weft_grid_run *run, const uint32_t *row, uint32_t first,
                                     uint32_t last, const int8_t shift[3])
{
    *run = (weft_grid_run){row[first], row[last + 1], {shift[0], shift[1], shift[2]}};
    return run + (run->begin != run->end);
}

/* The rows of cells beside (x, y, z), all of them or those behind the cell: the cells from x - 1 to
 * x + 1 are one run, and one more for each end that wraps. */
static uint32_t list_runs(const weft_grid *grid, uint32_t cell, weft_grid_run *runs, bool is_half)
{
    if (!grid || !runs || cell >= grid->cell_count) return 0;
    weft_grid_run *run = runs;
    const uint32_t last = grid->cells[0] - 1, x = cell % grid->cells[0];
    const uint32_t y = cell / grid->cells[0] % grid->cells[1];
    const uint32_t z = cell / grid->cells[0] / grid->cells[1];
    const uint32_t left = x > 0 ? x - 1 : 0, right = x < last ? x + 1 : last;
    const bool is_periodic = grid->axes[0].is_periodic;
    const int reach_z = grid->dimensions == 3;
    for (int dz = is_half ? 0 : -reach_z; dz <= reach_z; dz++) {
        uint32_t at_z = z, at_y;
        int8_t to_y, to_z;
        if (!step_along(grid, 2, dz, &at_z, &to_z)) continue;
        for (int dy = is_half && dz == 0 ? 0 : -1; dy <= 1; dy++) {
            at_y = y;
            if (!step_along(grid, 1, dy, &at_y, &to_y)) continue;
            const uint32_t *row =
                grid->cell_begin + (at_z * grid->cells[1] + at_y) * grid->cells[0];
            const bool is_own = is_half && dz == 0 && dy == 0;
            const uint32_t first = is_own ? x + 1 : left;
            if (is_periodic && x == 0 && !is_own)
                run = add_run(run, row, last, last, (int8_t[]){-1, to_y, to_z});
            if (first <= right) run = add_run(run, row, first, right, (int8_t[]){0, to_y, to_z});
            if (is_periodic && x == last) run = add_run(run, row, 0, 0, (int8_t[]){1, to_y, to_z});
        }
    }
    return (uint32_t)(run - runs);
}

/* list_runs of a cell in two dimensions with a cell on each side; false: it is another one. Most
 * cells are such, and programs list the runs of each point: a third of the instructions. */
static inline bool list_inside(const weft_grid *grid, uint32_t cell, weft_grid_run *runs,
                               uint32_t *count)
{
    if (!grid || !runs || cell >= grid->cell_count || grid->dimensions != 2) return false;
    const uint32_t cells = grid->cells[0], x = cell % cells, y = cell / cells;
    if (x == 0 || x + 1 == cells || y == 0 || y + 1 == grid->cells[1]) return false;
    const uint32_t *row = grid->cell_begin + cell - cells;
    weft_grid_run *run = runs;
    for (int dy = -1; dy <= 1; dy++, row += cells)
        run = add_run(run, row - 1, 0, 2, (int8_t[]){0, 0, 0});
    *count = (uint32_t)(run - runs);
    return true;
}

uint32_t weft_grid_runs(const weft_grid *grid, uint32_t cell,
                        weft_grid_run runs[WEFT_GRID_MAX_RUNS])
{
    uint32_t count;
    return list_inside(grid, cell, runs, &count) ? count : list_runs(grid, cell, runs, false);
}

uint32_t weft_grid_runs_half(const weft_grid *grid, uint32_t cell,
                             weft_grid_run runs[WEFT_GRID_MAX_RUNS])
{
    return list_runs(grid, cell, runs, true);
}

/* Sorts points into cells: a counting sort in two steps.
 *
 *     number  blocks  the cell of each point; how many points of the block each range of cells gets
 *     place   serial  where the points of each block begin in each range
 *     spread  blocks  {cell, point} to its range, in the order of points
 *     sort    ranges  counts the cells of a range, then points to their cells
 *
 * A single worker sorts in one step, which moves fewer bytes.
 *
 * Blocks and ranges depend on counts only, and each step keeps the order of what is in the same
 * cell: the result is that of a stable sort, however many workers share the loops. */

/* What the loops share. Owner: one call of weft_grid_build. */
typedef struct build {
    weft_grid *grid;
    const unsigned char *positions;
    size_t stride;
    unsigned char *sorted; /* positions in the order of places, or NULL */
    bool is_double;
    uint32_t count, block, blocks; /* block: points of each but the last */
    uint32_t bytes;                /* of a position that is sorted along, or 0 */
} build;

/* The loop `f`, once for each size of a position: sizes are constants in it. */
#define BY_BYTES(b, f, ...)                                                                        \
    switch ((b)->bytes) {                                                                          \
    case 8:                                                                                        \
        f(__VA_ARGS__, 8);                                                                         \
        break;                                                                                     \
    case 12:                                                                                       \
        f(__VA_ARGS__, 12);                                                                        \
        break;                                                                                     \
    case 16:                                                                                       \
        f(__VA_ARGS__, 16);                                                                        \
        break;                                                                                     \
    case 24:                                                                                       \
        f(__VA_ARGS__, 24);                                                                        \
        break;                                                                                     \
    default:                                                                                       \
        f(__VA_ARGS__, 0);                                                                         \
        break;                                                                                     \
    }

static uint32_t block_end(const build *b, uint32_t block)
{
    const uint64_t end = ((uint64_t)block + 1) * b->block;
    return end < b->count ? (uint32_t)end : b->count;
}

/* ---- number ---- */

static double coordinate(const unsigned char *position, bool is_double, int axis)
{
    if (is_double) {
        double value;
        memcpy(&value, position + (size_t)axis * sizeof value, sizeof value);
        return value;
    }
    float value;
    memcpy(&value, position + (size_t)axis * sizeof value, sizeof value);
    return (double)value;
}

/* A coordinate in cells, and whether these are there. NaN is in none. */
static inline double along(const grid_axis *axis, double coordinate)
{
    return (coordinate - axis->least) * axis->per_cell;
}

static inline bool is_inside(const grid_axis *axis, double at)
{
    return at >= 0 && at < axis->cells;
}

/* Numbers points up to the first that is in no cell; returns its number, or `end`. Constant
 * arguments make four loops of this one. The axes are a copy that no store can change; a call for
 * the points outside would take the registers that they are in. */
__attribute__((always_inline)) static inline uint32_t
number_points(const build *b, uint32_t begin, uint32_t end, bool is_double, bool is_flat)
{
    const grid_axis x = b->grid->axes[0], y = b->grid->axes[1], z = b->grid->axes[2];
    const uint32_t row = b->grid->cells[0], layer = row * b->grid->cells[1];
    uint32_t *cell_of = b->grid->cell_of;
    for (uint32_t i = begin; i < end; i++) {
        const unsigned char *position = b->positions + i * b->stride;
        const double at_x = along(&x, coordinate(position, is_double, 0));
        const double at_y = along(&y, coordinate(position, is_double, 1));
        const double at_z = is_flat ? 0 : along(&z, coordinate(position, is_double, 2));
        if (!is_inside(&x, at_x) || !is_inside(&y, at_y)) return i;
        if (!is_flat && !is_inside(&z, at_z)) return i;
        cell_of[i] = (uint32_t)at_x + row * (uint32_t)at_y + layer * (uint32_t)at_z;
    }
    return end;
}

static void number_outside(const build *b, uint32_t i)
{
    double position[3];
    for (uint32_t axis = 0; axis < b->grid->dimensions; axis++)
        position[axis] = coordinate(b->positions + i * b->stride, b->is_double, (int)axis);
    b->grid->cell_of[i] = weft_grid_cell_at(b->grid, position);
}

static void number_any(const build *b, uint32_t begin, uint32_t end)
{
    const bool is_double = b->is_double, is_flat = b->grid->dimensions == 2;
    for (uint32_t i = begin; i < end; i++) {
        if (is_double && is_flat) i = number_points(b, i, end, true, true);
        if (is_double && !is_flat) i = number_points(b, i, end, true, false);
        if (!is_double && is_flat) i = number_points(b, i, end, false, true);
        if (!is_double && !is_flat) i = number_points(b, i, end, false, false);
        if (i < end) number_outside(b, i);
    }
}

static int number(weft_job_context *job, void *argument, uint32_t first, uint32_t last)
{
    (void)job;
    const build *b = argument;
    for (uint32_t block = first; block < last; block++) {
        const uint32_t begin = block * b->block, end = block_end(b, block);
        number_any(b, begin, end);
        uint32_t *counts = b->grid->range_end[block];
        memset(counts, 0, sizeof b->grid->range_end[block]);
        for (uint32_t i = begin; i < end; i++)
            counts[b->grid->cell_of[i] >> b->grid->range_shift]++;
    }
    return 0;
}

/* ---- place, spread ---- */

static void place(const build *b)
{
    weft_grid *grid = b->grid;
    uint32_t begin = 0;
    for (uint32_t range = 0; range < GRID_RANGES; range++) {
        grid->range_begin[range] = begin;
        for (uint32_t block = 0; block < b->blocks; block++) {
            const uint32_t count = grid->range_end[block][range];
            grid->range_end[block][range] = begin;
            begin += count;
        }
    }
    grid->range_begin[GRID_RANGES] = begin;
}

/* The entry at a place: an entry and its position are `bytes` bytes more than the entry. */
static grid_entry *entry_at(const weft_grid *grid, uint32_t place, size_t bytes)
{
    return (grid_entry *)(void *)(grid->entries + place * (sizeof(grid_entry) + bytes));
}

__attribute__((always_inline)) static inline void spread_block(const build *b, uint32_t block,
                                                               size_t bytes)
{
    const weft_grid *grid = b->grid;
    uint32_t *at = grid->range_end[block];
    for (uint32_t i = block * b->block, end = block_end(b, block); i < end; i++) {
        const uint32_t cell = grid->cell_of[i];
        grid_entry *entry = entry_at(grid, at[cell >> grid->range_shift]++, bytes);
        *entry = (grid_entry){cell, i};
        if (bytes) memcpy(entry + 1, b->positions + i * b->stride, bytes);
    }
}

static int spread(weft_job_context *job, void *argument, uint32_t first, uint32_t last)
{
    (void)job;
    const build *b = argument;
    for (uint32_t block = first; block < last; block++) BY_BYTES(b, spread_block, b, block)
    return 0;
}

/* ---- sort ---- */

/* Counts of cells become the places where they begin. */
static void begin_cells(uint32_t *cells, uint32_t count, uint32_t begin)
{
    for (uint32_t cell = 0; cell < count; cell++) {
        const uint32_t points = cells[cell];
        cells[cell] = begin;
        begin += points;
    }
}

/* Leaves in cell_begin[c + 1] the end of cell c, which is where cell c + 1 begins: places are
 * counted one cell further while points are put there. The cells of a range are its own but for
 * cell_begin[0], which is always 0, and the first one of the next range, which is not written. */
__attribute__((always_inline)) static inline void sort_range(const build *b, uint32_t range,
                                                             size_t bytes)
{
    const weft_grid *grid = b->grid;
    const uint64_t cells = (uint64_t)1 << grid->range_shift, first = range * cells;
    if (first >= grid->cell_count) return;
    const uint64_t end = first + cells < grid->cell_count ? first + cells : grid->cell_count;
    uint32_t *ends = grid->cell_begin + 1; /* of each cell */
    const uint32_t from = grid->range_begin[range], to = grid->range_begin[range + 1];
    memset(ends + first, 0, (end - first) * sizeof *ends);
    for (uint32_t k = from; k < to; k++) ends[entry_at(grid, k, bytes)->cell]++;
    begin_cells(ends + first, (uint32_t)(end - first), from);
    for (uint32_t k = from; k < to; k++) {
        const grid_entry *entry = entry_at(grid, k, bytes);
        const uint32_t place = ends[entry->cell]++;
        grid->points[place] = entry->point;
        if (bytes) memcpy(b->sorted + place * bytes, entry + 1, bytes);
    }
}

static int sort(weft_job_context *job, void *argument, uint32_t first, uint32_t last)
{
    (void)job;
    const build *b = argument;
    for (uint32_t range = first; range < last; range++) BY_BYTES(b, sort_range, b, range)
    return 0;
}

/* Puts the points to the places where their cells begin, which move on. */
__attribute__((always_inline)) static inline void put_points(const build *b, uint32_t *begins,
                                                             size_t bytes)
{
    const weft_grid *grid = b->grid;
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t place = begins[grid->cell_of[i]]++;
        grid->points[place] = i;
        if (bytes) memcpy(b->sorted + place * bytes, b->positions + i * b->stride, bytes);
    }
}

static void sort_alone(const build *b)
{
    const weft_grid *grid = b->grid;
    uint32_t *ends = grid->cell_begin + 1;
    number_any(b, 0, b->count);
    for (uint32_t i = 0; i < b->count; i++) ends[grid->cell_of[i]]++;
    begin_cells(ends, grid->cell_count, 0);
    BY_BYTES(b, put_points, b, ends)
}

/* ---- build ---- */

static void grid_points_free(weft_grid *grid)
{
    weft__memory *memory = &grid->memory;
    weft__free(memory, WEFT__MEMORY_OTHER, grid->points, grid->capacity, sizeof *grid->points, 64);
    weft__free(memory, WEFT__MEMORY_OTHER, grid->cell_of, grid->capacity, sizeof *grid->cell_of,
               64);
    weft__free(memory, WEFT__MEMORY_OTHER, grid->entries, grid->capacity, grid->entry_bytes, 64);
    grid->points = grid->cell_of = NULL;
    grid->entries = NULL;
    grid->capacity = grid->count = grid->entry_bytes = 0;
}

/* Room for so many points, and for entries of `entry_bytes`, 0: none are needed. */
static bool points_reserve(weft_grid *grid, uint32_t count, uint32_t entry_bytes)
{
    if (count <= grid->capacity && entry_bytes <= grid->entry_bytes) return true;
    grid_points_free(grid);
    uint64_t room = (uint64_t)count + count / 4;
    if (room > UINT32_MAX) room = UINT32_MAX;
    weft__memory *memory = &grid->memory;
    grid->capacity = (uint32_t)room;
    grid->entry_bytes = entry_bytes;
    grid->points = weft__alloc(memory, WEFT__MEMORY_OTHER, room, sizeof *grid->points, 64);
    grid->cell_of = weft__alloc(memory, WEFT__MEMORY_OTHER, room, sizeof *grid->cell_of, 64);
    if (entry_bytes) grid->entries = weft__alloc(memory, WEFT__MEMORY_OTHER, room, entry_bytes, 64);
    if (grid->points && grid->cell_of && (grid->entries || !entry_bytes)) return true;
    grid_points_free(grid);
    return false;
}

/* A grid without points. */
static void clear(weft_grid *grid)
{
    grid->count = 0;
    memset(grid->cell_begin, 0, ((size_t)grid->cell_count + 1) * sizeof *grid->cell_begin);
}

/* A loop over `count` parts: with a job by the pool, else here. */
static weft_result loop(weft_job_context *job, weft_job_for_fn fn, void *argument, uint32_t count,
                        weft_job_cost *cost)
{
    if (!job) {
        fn(NULL, argument, 0, count);
        return WEFT_OK;
    }
    return weft_job_for(job,
                        &(weft_job_for_desc){.fn = fn,
                                             .argument = argument,
                                             .count = count,
                                             .grain = 1,
                                             .cost = cost,
                                             .name = "grid"},
                        NULL);
}

static weft_result build_run(build *b, weft_job_context *job)
{
    weft_grid *grid = b->grid;
    weft_result result = loop(job, number, b, b->blocks, &grid->costs[0]);
    if (result != WEFT_OK) return result;
    place(b);
    result = loop(job, spread, b, b->blocks, &grid->costs[1]);
    if (result != WEFT_OK) return result;
    return loop(job, sort, b, GRID_RANGES, &grid->costs[2]);
}

weft_result weft_grid_build(weft_grid *grid, weft_job_context *job, const weft_grid_points *points)
{
    if (!grid || !points || (!points->positions && points->count)) return WEFT_INVALID_ARGUMENT;
    clear(grid);
    if (points->count == 0) return WEFT_OK;
    const bool is_alone = !job || weft_job_pool_worker_count(weft_job_context_pool(job)) == 1;
    const uint32_t number_bytes = points->is_double ? sizeof(double) : sizeof(float);
    const uint32_t bytes = points->sorted ? grid->dimensions * number_bytes : 0;
    const uint32_t entry_bytes = is_alone ? 0 : (uint32_t)sizeof(grid_entry) + bytes;
    if (!points_reserve(grid, points->count, entry_bytes)) return WEFT_OUT_OF_MEMORY;
    uint32_t block = points->count / GRID_MAX_BLOCKS + 1;
    if (block < GRID_BLOCK) block = GRID_BLOCK;
    build b = {.grid = grid,
               .positions = points->positions,
               .stride = points->stride,
               .sorted = points->sorted,
               .is_double = points->is_double,
               .count = points->count,
               .block = block,
               .blocks = (points->count + block - 1) / block,
               .bytes = bytes};
    weft_result result = WEFT_OK;
    if (is_alone)
        sort_alone(&b);
    else
        result = build_run(&b, job);
    if (result == WEFT_OK)
        grid->count = points->count;
    else
        clear(grid);
    return result;
}
