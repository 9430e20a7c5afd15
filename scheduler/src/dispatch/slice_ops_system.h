/* SPDX-License-Identifier: MIT */
/* slice_ops_system.h: what a slice of a system can reach beyond its columns.
 *
 * See slice_ops_system.c. Slices of other makers have other operations: a slice belongs to a
 * system if context->ops points here. */
#pragma once

#include "scheduler_state.h"

extern const weft__slice_ops weft__slice_ops_system;

/* `run` of a system with WEFT_SYSTEM_JOBS: its body as a job, with its children joined. */
void weft__slice_job_run(weft_slice *slice, void *user);
