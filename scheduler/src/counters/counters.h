/* SPDX-License-Identifier: MIT */
/* counters.h: event counters per system: what the processor and the kernel counted while it ran.
 *
 * An optional part: the rest of the scheduler knows these functions and the pointer
 * weft__scheduler.counters, which is NULL until a step counts; without them it runs as it does
 * when they are off. Off unless weft_schedule_desc.counts_events or the environment
 * (WEFT_COUNTERS) asks. Every worker opens a group of its own for its thread when it first runs
 * a slice, and reads it when a part begins and after each call of a system: the difference is
 * the system's. So the dispatch in front of a slice, some ten nanoseconds, counts for the system
 * it prepares. The groups: counters_state.h. */
#ifndef WEFT_COUNTERS_H
#define WEFT_COUNTERS_H

#include "scheduler_state.h"
#include "text.h"

/* ---- while systems run: counters.c */

/* What the environment asks for (WEFT_COUNTERS): scheduler->counter_wish. */
weft__counter_wish weft__counters_asked(void);
/* Before a step: whether to count, with room for every system; false also when out of memory. */
bool weft__counters_prepare(weft__scheduler *scheduler);
/* A part begins on a worker: what was counted since the last one belongs to no system. */
void weft__counters_begin(weft__scheduler *scheduler, uint32_t worker);
/* After a call of a system. */
void weft__counters_take(weft__scheduler *scheduler, uint32_t worker, const weft__system *system);
/* Closes everything, after the table went to the world's log, or to stderr, if the environment
 * asked. Owner, the world ends. */
void weft__counters_free(weft__scheduler *scheduler);

/* ---- what was counted: counters_report.c. World at rest */

/* The rung with its reason, then a line per system. */
void weft__counters_text(const weft__scheduler *scheduler, weft__text *t);
/* The columns of a system as a JSON object. */
void weft__counters_json(const weft__scheduler *scheduler, const weft__system *system,
                         weft__text *t);
/* What the frame added, as counters of the trace. Owner. */
void weft__counters_trace(weft__scheduler *scheduler);

#endif
