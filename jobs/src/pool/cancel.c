/* SPDX-License-Identifier: MIT */
/* cancel.c: cancelling submitted jobs, and asking whether one is cancelled.
 *
 * A cancelled job that has not begun is skipped; one that runs may ask. Its successors are
 * cancelled when it ends (worker_job.c). */
#include "pool_state.h"

weft_result weft_job_cancel(weft_job_pool *pool, weft_job_handle handle)
{
    if (pool == NULL) return WEFT_INVALID_ARGUMENT;
    if (!weft__job_is_valid(&pool->table, handle)) return WEFT_BAD_HANDLE;
    weft__job_flag(&pool->table, handle, WEFT__JOB_CANCELLED);
    return WEFT_OK;
}

bool weft_job_is_cancelled(const weft_job_context *job)
{
    if (job == NULL || job->job >= WEFT__JOB_HOSTED) return false; /* no job */
    const weft__job *slot = &job->pool->table.jobs[job->job];
    return (weft__job_flags(slot) & WEFT__JOB_CANCELLED) != 0 &&
           (slot->traits & WEFT__JOB_RUN_ON_ERROR) == 0;
}
