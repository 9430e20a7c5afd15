/* SPDX-License-Identifier: MIT */
/* registry.h: the scheduler of a world, its systems and its groups: by handle, by name, and room
 * for new ones; the figures of a system; the clock and the first error of a step. The lowest
 * functions that know a scheduler: every other folder may call them.
 *
 * Threads: the owner; weft__scheduler_of, weft__system_named and weft__group_named also workers
 * while systems run, because nothing they read changes then. */
#pragma once

#include "scheduler_state.h"

weft__scheduler *weft__scheduler_of(const weft_world *world); /* NULL when there is none */
/* NULL (error set) when the handle names no system. */
weft__system *weft__system_at(const weft_world *world, weft_system handle);
weft__system *weft__system_named(const weft__scheduler *scheduler, const char *name); /* or NULL */
/* Index in scheduler->groups, or WEFT__NONE. */
uint32_t weft__group_named(const weft__scheduler *scheduler, const char *name);

/* Figures of the last run, summed over workers. World at rest. */
void weft__system_tally_get(const weft__scheduler *scheduler, const weft__system *system,
                            weft__system_tally *out);
uint64_t weft__system_time(const weft__scheduler *scheduler, const weft__system *system);

/* Nanoseconds of the clock that the world was given. Any thread. */
uint64_t weft__scheduler_now(const weft__scheduler *scheduler);
#define WEFT__STAGE_TITLE "stage "
#define WEFT__TASK_TITLE "task "
/* The names of its systems. */
static inline const char *weft__stage_label(const weft__stage *stage)
{
    return stage->title + sizeof WEFT__STAGE_TITLE - 1;
}
static inline const char *weft__task_label(const weft__task *task)
{
    return task->title + sizeof WEFT__TASK_TITLE - 1;
}

/* In the last pass of the last step. */
static inline bool weft__segment_ran_as_graph(const weft__scheduler *scheduler,
                                              const weft__segment *segment)
{
    return segment->graph_pass != 0 && segment->graph_pass == scheduler->step_pass;
}

/* Keeps the world's error as that of the step, if it is the first one. */
void weft__scheduler_fail(weft__scheduler *scheduler, weft_result result);

/* Ends the loops of weft_query_begin that a callback left open, which is its WRONG_PHASE. */
weft_result weft__left_loops_end(weft__scheduler *scheduler, const char *whose, const char *name);

/* The index of the group, made when there is none of this name; WEFT__NONE: out of memory. */
uint32_t weft__group_obtain(weft__scheduler *scheduler, const char *name);
/* A slot for a system, free until scheduler->systems[slot] is set. Errors: LIMIT, OUT_OF_MEMORY. */
weft_result weft__slot_reserve(weft__scheduler *scheduler, uint32_t *slot);
/* The slot of a system that is about to be freed. The schedule is dirty after it. */
void weft__slot_free(weft__scheduler *scheduler, uint32_t slot);

/* ---- what snapshots and world files keep ----
 *
 * What filters of systems compare with, and how far rates and timers are. Hooks of the scheduler's
 * weft__extension (world_front.h); `data` is the weft__scheduler. Owner, between steps. */

/* False: out of memory. */
bool weft__run_state_keep(const void *data, void **state);
/* Systems that are younger than the state, and all of them with NULL, are as if they had never run.
 */
void weft__run_state_put(void *data, const void *state);
void weft__run_state_drop(const void *data, void *state);
/* What systems have seen, at a renewal of versions. */
void weft__run_state_renew(void *data, struct weft__renewal *renewal);

/* Systems and groups with a rate, and timers. */
void weft__runs_visit(const void *data, void (*visit)(void *user, const weft__kept_run *run),
                      void *user);
/* All systems and groups take theirs of the world's runs. */
void weft__runs_take(void *data);
/* The same for one that was created; a group, when it gets a rate. */
void weft__system_takes_run(weft__system *system);
void weft__group_takes_run(weft__group *group, weft_world *world);
