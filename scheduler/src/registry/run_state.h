/* SPDX-License-Identifier: MIT */
/* run_state.h: what a snapshot keeps of the systems and groups of a world: what their filters
 * compare with, and how far their rates and timers are. Hooks of the scheduler's weft__extension
 * (world_state.h); `data` is the weft__scheduler.
 *
 * Threads: owner, between steps. */
#ifndef WEFT_RUN_STATE_H
#define WEFT_RUN_STATE_H

#include <stdbool.h>

/* False: out of memory. */
bool weft__run_state_keep(const void *data, void **state);
/* Systems that are younger than the state, and all of them with NULL, are as if they had never run.
 */
void weft__run_state_put(void *data, const void *state);
void weft__run_state_drop(const void *data, void *state);

#endif
