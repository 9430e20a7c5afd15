/* SPDX-License-Identifier: MIT */
/* grid.h: which points are near each other: points sorted into the cells of a uniform grid.
 *
 * Public, optional: needs the job system only, no world. Each step a program builds the grid
 * from the positions as they are; nothing is kept up to date. Cells are at least as wide as the
 * reach, so the points nearer than the reach to a point of a cell are in that cell and in those
 * beside it: weft_grid_runs lists them, as runs of places. Within a cell points are in the order
 * of their indices, and cells and runs have a fixed order, so sums over neighbours are the same
 * for any number of workers.
 *
 *     weft_grid_build(grid, job, &(weft_grid_points){positions, sizeof *positions, count});
 *     weft_grid_view_get(grid, &view, sizeof view);
 *     for each cell: n = weft_grid_runs(grid, cell, runs);
 *         for each place k from view.cell_begin[cell] to view.cell_begin[cell + 1] - 1:
 *             for each of the n runs: for each place j from run.begin to run.end - 1:
 *                 compare points view.points[k] and view.points[j]
 *
 * The method is a counting sort in two steps, as in Green (Particle Simulation using CUDA, 2010)
 * with the first step by ranges of cells, so that the second one works in cache and workers need
 * no atomics. */
#ifndef WEFT_GRID_H
#define WEFT_GRID_H

#include <weft/jobs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- grids ---- */

/* A grid. Opaque; owned by who created it. */
typedef struct weft_grid weft_grid;

/* Describes a grid. Zero means default. */
typedef struct weft_grid_desc {
    uint32_t dimensions;      /* 2 or 3; 0: 3. In two dimensions the third entries are ignored */
    double least[3], most[3]; /* the box: finite; sides of at least DBL_MIN */
    double reach;             /* finite, at least DBL_MIN: points nearer than this are neighbours */
    bool is_periodic[3];      /* what leaves the box on one side comes in on the other */
    weft_allocator allocator; /* zero: malloc and free */
} weft_grid_desc;

/* Makes a grid without points. Cells fill the box; along each axis as many as are wider than the
 * reach, at least 1: a box of ten reaches has nine. Errors: INVALID_ARGUMENT; LIMIT: more than
 * 2^28 cells: make the reach larger or the box smaller; OUT_OF_MEMORY. Threads: any. Cost:
 * O(cells): 4 bytes a cell. */
WEFT_API weft_result weft_grid_create(const weft_grid_desc *desc, weft_grid **out);

/* Frees the grid. NULL is ignored. Threads: holder. */
WEFT_API void weft_grid_destroy(weft_grid *grid);

/* ---- points ---- */

/* Positions of points: `dimensions` numbers each, every `stride` bytes. Read during the call
 * only. */
typedef struct weft_grid_points {
    const void *positions;
    size_t stride; /* bytes from one point to the next: sizeof(Position) */
    uint32_t count;
    bool is_double; /* numbers are double; else float */
    void *sorted;   /* NULL, or room for the positions in the order of places, packed: passes over
                       neighbours are several times faster over these */
} weft_grid_points;

/* Sorts the points into cells; replaces what the grid held. Outside of the box a point belongs
 * to the nearest cell, along a periodic axis to the cell it comes to when it is wrapped; a NaN
 * counts as the least. `job` (the owner's context, a job's, a guest's, weft_slice_job) shares
 * the work with workers; NULL: this thread alone. The result is the same. Errors:
 * INVALID_ARGUMENT; OUT_OF_MEMORY: the grid is empty then; those of weft_job_for. Threads: holder.
 * Cost: O(count + cells), about 10 ns a point; 10 to 50 bytes a point are kept. */
WEFT_API weft_result weft_grid_build(weft_grid *grid, weft_job_context *job,
                                     const weft_grid_points *points);

/* What was built, as arrays of the grid: valid until the next build. A place is an index into
 * points. Cell (x, y, z) has the number (z * cells[1] + y) * cells[0] + x. */
typedef struct weft_grid_view {
    const uint32_t *points;     /* [count]: indices of points by cell, ascending within a cell */
    const uint32_t *cell_begin; /* [cell_count + 1]: place of the first point of each cell */
    const uint32_t *cell_of;    /* [count]: the cell of each point, by index */
    uint32_t count, cell_count;
    uint32_t cells[3]; /* along each axis; cells[2] is 1 in two dimensions */
    double cell_size[3];
} weft_grid_view;

/* Fills in `out`; `bytes` is sizeof *out. Threads: any while unchanged. */
WEFT_API void weft_grid_view_get(const weft_grid *grid, weft_grid_view *out, size_t bytes);

/* The cell that weft_grid_build puts a position (`dimensions` numbers) into: outside, the nearest;
 * a NaN counts as the least. Threads: any. */
WEFT_API uint32_t weft_grid_cell_at(const weft_grid *grid, const double *position);

/* ---- neighbours ---- */

/* Places begin..end-1 hold points of cells that lie side by side. Across a periodic border add
 * shift[a] * (most[a] - least[a]) to the positions of these points to get them beside the cell:
 * to positions within [least, most). One outside is sorted as if it were wrapped, not moved. */
typedef struct weft_grid_run {
    uint32_t begin, end;
    int8_t shift[3];
} weft_grid_run;

/* The most runs of a cell. */
#define WEFT_GRID_MAX_RUNS 27

/* Lists the runs of a cell and of those beside it, by z, y, x; empty ones are left out. Each
 * pair of points is met from both sides, and each point meets itself (shift 0). Along a periodic
 * axis of one or two cells a point is met once for each image of it. Returns the number of runs;
 * 0 for a cell that does not exist. Threads: any while unchanged. Cost: 20 ns. */
WEFT_API uint32_t weft_grid_runs(const weft_grid *grid, uint32_t cell,
                                 weft_grid_run runs[WEFT_GRID_MAX_RUNS]);

/* The same for half of the neighbours, so that each pair is met once: the cells beside this one
 * that come after it in the order of z, y, x. Pairs within the cell are left to the caller: each
 * place with those after it. Threads: any while unchanged. */
WEFT_API uint32_t weft_grid_runs_half(const weft_grid *grid, uint32_t cell,
                                      weft_grid_run runs[WEFT_GRID_MAX_RUNS]);

#ifdef __cplusplus
}
#endif
#endif
