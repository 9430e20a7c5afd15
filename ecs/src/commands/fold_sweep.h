/* SPDX-License-Identifier: MIT */
/* fold_sweep.h: commands of systems mostly come row after row, and the same for each row. Collected
 * as such runs they need no list per row: what becomes of the rows of a run is found out once, and
 * their values lie at fixed distances. A place whose runs ascend by rows is *swept*: then nothing
 * else concerns these rows, and order within each row is that of the run. Additions alone, removals
 * alone and deaths need no order within a row and are collected the same way, swept or not. See
 * fold_state.h. */
#ifndef WEFT_FOLD_SWEEP_H
#define WEFT_FOLD_SWEEP_H

#include "fold_state.h"

/* The commands of one row, in order. A value. */
typedef struct weft__fold_pattern {
    uint32_t width;
    weft__command *commands[WEFT__FOLD_WIDTH];
} weft__fold_pattern;

/* The commands of the first row of a run. */
weft__fold_pattern weft__fold_pattern_of(const weft__fold_run *run);
/* Collects a segment without chains. False: the immediate operations must do it, or fold->x_unswept
 * is set: chains are needed. The task of the segment. */
bool weft__fold_sweep_collect(weft__fold *fold, uint32_t segment);
/* Whether a place is swept. Any thread; without chains. */
bool weft__fold_is_swept(const weft__fold *fold, const weft__fold_touched *touched);

static inline uint32_t weft__fold_run_rows(const weft__fold_run *run)
{
    return run->width == 1 ? run->count : run->count / run->width;
}

#endif
