/* SPDX-License-Identifier: MIT */
/* grid_build.h: the memory that a grid has for its points.
 *
 * Points are sorted by the public weft_grid_build; this header has what the end of a grid needs
 * of it. */
#ifndef WEFT_GRID_BUILD_H
#define WEFT_GRID_BUILD_H

#include "grid_state.h"

/* Frees it; the grid has no points then, its cells stay. */
void weft__grid_points_free(weft_grid *grid);

#endif
