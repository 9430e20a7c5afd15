/* SPDX-License-Identifier: MIT */
/* counters.h: event counters per system: what the processor and the kernel counted while it ran.
 *
 * An optional part: the rest of the scheduler knows the functions of this header and the pointer
 * weft__scheduler.counters, which is NULL until a step counts. With the CMake option
 * WEFT_COUNTERS off, counters_absent.c stands in for counters_group.c, and no step ever counts.
 * Off unless weft_schedule_desc.counts_events or the environment (WEFT_COUNTERS) asks. Every
 * worker opens a group of its own for its thread when it first runs a slice, and reads it when a
 * part begins and after each call of a system: the difference is the system's. So the dispatch
 * in front of a slice, some ten nanoseconds, counts for the system it prepares, unless frames are
 * sampled (WEFT_COUNTERS_SHARE): then it is read before each call, too. What the owner does
 * between is in rows of their own, "(playback)" and the like, "(engine)" for the rest. The
 * groups: counters_group.c. */
#pragma once

#include "scheduler_state.h"

/* What the environment asks for (WEFT_COUNTERS): scheduler->counter_wish; *percent: of the time
 * that counting may take (WEFT_COUNTERS_SHARE), 0: any. */
weft__counter_wish weft__counters_asked(const weft_log *log, uint32_t *percent);
/* The table goes to the world's log, or to stderr, if the environment asked. */
void weft__counters_print(const weft__scheduler *scheduler);

/* ---- while systems run ---- */

/* Room for every system; false: out of memory, or there are no counters. Owner, before a step. */
bool weft__counters_reserve(weft__scheduler *scheduler);
/* Before a step: whether to count. Nothing is called where it was not asked for, for the sake of
 * short frames. */
static inline bool weft__counters_prepare(weft__scheduler *scheduler)
{
    bool is_asked =
        scheduler->counter_wish != WEFT__COUNTER_WISH_NONE || scheduler->options.counts_events;
    return __builtin_expect(is_asked, 0) && weft__counters_reserve(scheduler);
}
/* A frame that is counted begins, or ends. Owner. */
void weft__counters_frame(weft__scheduler *scheduler, bool is_begin);
/* A part begins on a worker: what was counted since the last one belongs to no system: on the owner
 * to the engine. */
void weft__counters_begin(weft__scheduler *scheduler, uint32_t worker);
/* After a call of a system; NULL: after other work, which has a row of its own. */
void weft__counters_take(weft__scheduler *scheduler, uint32_t worker, const weft__system *system,
                         weft__work work);
/* Prints what was counted and closes everything. Owner, the world ends. */
void weft__counters_free(weft__scheduler *scheduler);

/* ---- what was counted; owner, world at rest ---- */

/* Sums over workers, scaled when the group took turns. */
void weft__counters_sum(const weft__scheduler *scheduler, const weft__system *system,
                        weft_system_counters *out);
/* The rung with its reason, then a line per system. */
void weft__counters_text(const weft__scheduler *scheduler, weft__text *t);
/* The columns of a system, or with NULL of other work, as a member of its JSON object; nothing when
 * no step counted. */
void weft__counters_json(const weft__scheduler *scheduler, const weft__system *system,
                         weft__work work, weft__text *t);
/* What the frame added, as counters of the trace. */
void weft__counters_trace(weft__scheduler *scheduler);
