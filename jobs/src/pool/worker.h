/* SPDX-License-Identifier: MIT */
/* worker.h: looking for work: what a worker does at depth 0, and how it serves until an event.
 *
 * Workers serve until the pool stops, lent threads until they are recalled, the owner until the job
 * that it waits for has ended. */
#pragma once

#include "pool_state.h"

typedef enum weft__scope {
    WEFT__SCOPE_WORKER, /* everything */
    WEFT__SCOPE_WAIT,   /* no background work while others could do it */
    WEFT__SCOPE_DRAIN,  /* everything, background without limit */
    WEFT__SCOPE_LOOPS   /* loops and graphs, but for background ones; never counted as searching:
                           it would keep others asleep for work that it leaves alone */
} weft__scope;

/* Finds and runs one piece of work; false when there was none. Depth 0 only. */
bool weft__worker_run_one(weft_job_context *worker, weft__scope scope);
/* After run_one: runs the worker's own normal jobs, as run_one would, until the next look at the
 * injection lists is due, or something that comes first is there. Depth 0 only. */
void weft__worker_run_own(weft_job_context *worker);
/* Looks for work until `is_over(argument)`, sleeping when there is none. The caller makes sure that
 * the worker is woken when is_over becomes true. */
void weft__worker_serve(weft_job_context *worker, weft__scope scope, bool (*is_over)(void *),
                        void *argument);

/* ---- graphs ---- */

/* Graphs on workers.
 *
 * The opener of a graph runs nodes too; this is what it and the workers that join have in common.
 * The protocol is in graph.h. */
