/* SPDX-License-Identifier: MIT */
/* query_read.h: a walk over the rows of a handle, and the checks of those who copy values.
 *
 * Threads: as the public functions that walk (weft/query.h). */
#pragma once

#include "query_cursor.h"

/* A walk of the owner over all rows of a handle; must not move in memory. */
typedef struct weft__row_walk {
    weft__query_handle *handle;
    weft_slice_context context;
    weft__source source;
} weft__row_walk;

/* Starts a walk: go on with weft__source_next(&walk->source). Errors (set): BAD_HANDLE,
 * OUT_OF_MEMORY, WRONG_PHASE (structure has changed while systems run). */
weft_result weft__row_walk_begin(weft__row_walk *walk, const weft_world *world, weft_query query);
