/* SPDX-License-Identifier: MIT */
/* grid_state.h: what a grid consists of, and the cell of a coordinate.
 *
 * Sorting is in grid_build.c, everything else in grid.c. Loops over a grid share it between workers
 * without atomics: each part of a loop writes entries of its own. */
#ifndef WEFT_GRID_STATE_H
#define WEFT_GRID_STATE_H

#include <weft/grid.h>

#include "heap.h"

enum {
    GRID_BLOCK = 8192,     /* points of a block: a part of the first step */
    GRID_MAX_BLOCKS = 512, /* blocks grow beyond 4 M points */
    GRID_RANGES = 256      /* ranges of cells: parts of the second step */
};

/* A point on its way to its cell; its position may follow. */
typedef struct weft__grid_entry {
    uint32_t cell, point;
} weft__grid_entry;

/* What the cells along an axis are. A value. */
typedef struct weft__grid_axis {
    double least, most, per_cell;
    double cells; /* an integer */
    bool is_periodic;
} weft__grid_axis;

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
    weft__grid_axis axes[3];
    /* owner only */
    uint32_t count, capacity, entry_bytes;
    uint32_t *points, *cell_of;         /* [capacity] */
    uint32_t *cell_begin;               /* [cell_count + 1] */
    unsigned char *entries;             /* [capacity][entry_bytes], by range; or NULL */
    uint32_t (*range_end)[GRID_RANGES]; /* [GRID_MAX_BLOCKS]: of a block: counts, then places */
    uint32_t range_begin[GRID_RANGES + 1];
    uint32_t *first_half;   /* [cell_count]: counts, then places, of the first half; or NULL */
    weft_job_cost costs[5]; /* of the loops: number, spread, sort, halves: number, put */
};

#endif
