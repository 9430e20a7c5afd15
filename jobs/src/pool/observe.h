/* SPDX-License-Identifier: MIT */
/* observe.h: what a pool reports of its contexts besides weft__note (jobs_engine.h). All of it is
 * behind one flag per context (head.is_observed): one predicted branch when it is off. */
#ifndef WEFT_OBSERVE_H
#define WEFT_OBSERVE_H

#include "pool_state.h"

/* Two hooks without an event: there would be too many. Call when is_observed. */
void weft__observe_spawned(weft_job_context *worker, const char *name);
void weft__observe_inlined(weft_job_context *worker, const char *name);

/* Counts what was not split; `name` may be NULL. */
static inline void weft__note_inlined(weft_job_context *worker, weft_a64 *counter, const char *name)
{
    weft__stat_add(counter, 1);
    if (__builtin_expect(worker->head.is_observed, 0)) weft__observe_inlined(worker, name);
}

#endif
