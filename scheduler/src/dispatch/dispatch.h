/* SPDX-License-Identifier: MIT */
/* dispatch.h: running items of a stage: slices, chunks, indices.
 *
 * See dispatch.c. Any worker, each with its own weft__worker. */
#pragma once

#include "scheduler_state.h"

/* The frame in stacks between the engine and a system. */
void weft__system_call(const weft__system *system, weft_slice *slice);
/* The same for the worker's sweep, of one system at least: all systems of a slice, then the next
 * slice. */
void weft__system_calls(weft__worker *worker, uint32_t member_count, uint32_t column_count,
                        uint32_t rows, uint32_t slice_rows);

/* ---- stages ---- */

/* Runs a stage whose entries are current: loop, background, owner's systems. Owner. */
void weft__stage_run(weft__scheduler *scheduler, weft__stage *stage);
/* Runs the items of a task, or calls the owner's system. Any worker; the owner for its own. */
weft_result weft__task_run(weft_job_context *job, weft__task *task);
/* After a stage, with a state log: as weft__hash_log_stage. Owner. */
void weft__stage_hash(weft__scheduler *scheduler, const weft__stage *stage, bool is_joined);
/* Waits for background loops that must have ended before stage `number`. Owner. */
void weft__stage_join(weft__scheduler *scheduler, uint32_t number);

/* An item of a stage whose entries are current (part_order.h), as a worker. */
void weft__part_run(weft__scheduler *scheduler, uint32_t worker, uint32_t stage, uint32_t item);

/* ---- what a step does beside calling systems ---- */

/* "playback" and the like: of spans, and in brackets of rows. */
const char *weft__work_name(weft__work work);
/* Around it: its row of times, counters and traces. Returns what _end is given. Owner. */
uint64_t weft__work_begin(weft__scheduler *scheduler, weft__work work);
void weft__work_end(weft__scheduler *scheduler, weft__work work, uint64_t begin_ns);
