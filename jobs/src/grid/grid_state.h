/* SPDX-License-Identifier: MIT */
/* grid_state.h: what a grid consists of, and the cell of a coordinate.
 *
 * Sorting is in grid_build.c, everything else in grid.c. Loops over a grid share it between workers
 * without atomics: each part of a loop writes entries of its own. */
#ifndef WEFT_GRID_STATE_H
#define WEFT_GRID_STATE_H

#include <math.h>
#include <weft/grid.h>

#include "heap.h"

enum {
    GRID_BLOCK = 8192,     /* points of a block: a part of the first step */
    GRID_MAX_BLOCKS = 512, /* blocks grow beyond 4 M points */
    GRID_RANGES = 256      /* ranges of cells: parts of the second step */
};

/* A point on its way to its cell. */
typedef struct weft__grid_entry {
    uint32_t cell, point;
} weft__grid_entry;

/* Owner: the creator. Always: cell_count = cells[0] * cells[1] * cells[2]; after a build
 * cell_begin[cell_count] = count, and cell_of[points[k]] = c for cell_begin[c] <= k <
 * cell_begin[c + 1]. */
struct weft_grid {
    /* constant after create */
    weft_allocator allocator;
    weft__memory memory;
    uint32_t dimensions, cell_count, range_shift; /* cell >> range_shift: its range */
    uint32_t cells[3];
    double least[3], per_cell[3], cell_size[3];
    bool is_periodic[3];
    /* owner only */
    uint32_t count, capacity;
    uint32_t *points, *cell_of;         /* [capacity] */
    uint32_t *cell_begin;               /* [cell_count + 1] */
    weft__grid_entry *entries;          /* [capacity], by range */
    uint32_t (*range_end)[GRID_RANGES]; /* [GRID_MAX_BLOCKS]: of a block: counts, then places */
    uint32_t range_begin[GRID_RANGES + 1];
    weft_job_cost costs[4]; /* of the loops: number, spread, sort, gather */
};

/* The cell along one axis of a coordinate. */
static inline uint32_t weft__grid_axis(const weft_grid *grid, int axis, double coordinate)
{
    double at = (coordinate - grid->least[axis]) * grid->per_cell[axis];
    const double cells = grid->cells[axis];
    if (at >= 0 && at < cells) return (uint32_t)at;
    if (grid->is_periodic[axis]) {
        at -= cells * floor(at / cells);
        if (at >= 0 && at < cells)
            return (uint32_t)at; /* not for infinities, nor when rounded to cells */
        return 0;
    }
    return at >= cells ? grid->cells[axis] - 1 : 0;
}

#endif
