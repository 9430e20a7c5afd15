/* SPDX-License-Identifier: MIT */
/* stage_run.h: running the stages of a pass: on the owner, on the pool, or in the background.
 *
 * See stage_run.c. Owner. */
#ifndef WEFT_STAGE_RUN_H
#define WEFT_STAGE_RUN_H

#include "scheduler_state.h"

/* Runs a stage whose entries are current: loop, background, owner's systems. Owner. */
void weft__stage_run(weft__scheduler *scheduler, weft__stage *stage);
/* Calls the owner's systems of main entries [first, last). Owner. */
void weft__stage_run_main(weft__scheduler *scheduler, weft__stage *stage, uint32_t first,
                          uint32_t last);
/* Runs the items of a task, or calls the owner's system. Any worker; the owner for its own. */
weft_result weft__task_run(weft_job_context *job, weft__task *task);
/* Waits for background loops that must have ended before stage `number`. Owner. */
void weft__stage_join(weft__scheduler *scheduler, uint32_t number);

#endif
