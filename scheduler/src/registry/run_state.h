/* SPDX-License-Identifier: MIT */
/* run_state.h: what a snapshot keeps of the systems and groups of a world: what their filters
 * compare with, and how far their rates and timers are; and what of it world files keep. Hooks of
 * the scheduler's weft__extension (world_front.h); `data` is the weft__scheduler.
 *
 * Threads: owner, between steps. */
#ifndef WEFT_RUN_STATE_H
#define WEFT_RUN_STATE_H

#include "scheduler_state.h"
#include "version_renewal.h"

#include <stdbool.h>

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

#endif
