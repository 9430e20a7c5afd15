/* SPDX-License-Identifier: MIT */
/* slice_job.h: systems whose callbacks start jobs.
 *
 * See slice_job.c. The thread of the slice. */
#ifndef WEFT_SLICE_JOB_H
#define WEFT_SLICE_JOB_H

#include "scheduler_state.h"

/* `run` of a system with WEFT_SYSTEM_JOBS: its body as a job, with its children joined. */
void weft__slice_job_run(weft_slice *slice, void *user);

#endif
