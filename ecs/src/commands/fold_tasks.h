/* SPDX-License-Identifier: MIT */
/* fold_tasks.h: the parallel parts of a fold, as loops on the pool: what collecting, folding
 * and moving have in common. */
#ifndef WEFT_FOLD_TASKS_H
#define WEFT_FOLD_TASKS_H

#include "fold_state.h"

/* Runs fn over [0, count) on the pool, or inline when the playback is serial. False: a part failed
 * (returned not 0) or the pool refused. */
bool weft__fold_for(weft__fold *fold, weft_job_for_fn fn, uint32_t count, uint32_t grain);

#endif
