/* SPDX-License-Identifier: MIT */
/* worker_child.h: structured children on workers: frames of children around bodies, and children
 * taken from other workers. The protocol is in child.h. */
#pragma once

#include "pool_state.h"

/* Runs a child taken from `victim`'s stack. */
void weft__worker_run_taken(weft_job_context *worker, weft__child *child, uint32_t victim);

/* From here on the worker runs a piece of what `job` names; returns what it worked on before. */
static inline uint32_t weft__worker_begin_piece(weft_job_context *worker, uint32_t job)
{
    uint32_t before = worker->job;
    worker->job = job;
    if (__builtin_expect(job == WEFT__JOB_HOSTED, 0) && before != WEFT__JOB_HOSTED)
        weft__child_set_hosted_owner(&worker->children, true); /* C7 */
    return before;
}

static inline void weft__worker_end_piece(weft_job_context *worker, uint32_t before)
{
    if (__builtin_expect(worker->job == WEFT__JOB_HOSTED, 0) && before != WEFT__JOB_HOSTED)
        weft__child_set_hosted_owner(&worker->children, false); /* C7 */
    worker->job = before;
}

/* Runs a body on top of the stack with its own frame of children; joins them. */
static inline int weft__worker_call(weft_job_context *worker, weft_job_fn fn, void *argument)
{
    uint64_t base = worker->frame_base;
    weft__first_error error = worker->error;
    worker->frame_base = worker->children.bottom;
    worker->error.code = 0;
    int code = fn(worker, argument);
    if (worker->children.bottom != worker->frame_base || worker->error.code != 0) {
        int child_code = weft_job_children_wait(worker);
        if (code == 0) code = child_code;
    }
    worker->frame_base = base;
    worker->error = error;
    return code;
}
