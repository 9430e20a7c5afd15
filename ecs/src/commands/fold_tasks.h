/* SPDX-License-Identifier: MIT */
/* fold_tasks.h: the parallel parts of a playback as loops on the pool: what collecting, folding,
 * moving and instances have in common. Within a loop each part writes what is its own; the next one
 * reads it after the barrier. See fold_state.h. */
#ifndef WEFT_FOLD_TASKS_H
#define WEFT_FOLD_TASKS_H

#include "fold_state.h"

/* Runs a part over [0, count). False: it said that the commands cannot be played this way. Owner.
 */
bool weft__playback_for(const weft__playback *playback, weft__playback_step step,
                        weft_job_for_fn fn, void *argument, uint32_t count);
/* What a step has cost so far; NULL: unknown. */
weft_job_cost *weft__playback_cost(const weft__playback *playback, weft__playback_step step);

/* The same with a fold as its argument. */
static inline bool weft__fold_for(weft__fold *fold, weft__playback_step step, weft_job_for_fn fn,
                                  uint32_t count)
{
    return weft__playback_for(fold->playback, step, fn, fold, count);
}

#endif
