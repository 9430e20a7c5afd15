/* SPDX-License-Identifier: MIT */
/* counters.h: event counters per system: what the processor and the kernel counted while it ran.
 *
 * An optional part: the rest of the scheduler knows the functions of this header, of
 * counters_group.h and counters_report.h, and the pointer weft__scheduler.counters, which is NULL
 * until a step counts. With the CMake option
 * WEFT_COUNTERS off, counters_absent.c stands in for what counts, and no step ever does. Off
 * unless weft_schedule_desc.counts_events or the environment (WEFT_COUNTERS) asks. Every worker
 * opens a group of its own for its thread when it first runs a slice, and reads it when a part
 * begins and after each call of a system: the difference is the system's. So the dispatch in
 * front of a slice, some ten nanoseconds, counts for the system it prepares. The groups:
 * counters_state.h. */
#ifndef WEFT_COUNTERS_H
#define WEFT_COUNTERS_H

#include "scheduler_state.h"

/* What the environment asks for (WEFT_COUNTERS): scheduler->counter_wish. */
weft__counter_wish weft__counters_asked(const weft_log *log);
/* The table goes to the world's log, or to stderr, if the environment asked. */
void weft__counters_print(const weft__scheduler *scheduler);

#endif
