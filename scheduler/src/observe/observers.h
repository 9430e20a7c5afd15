/* SPDX-License-Identifier: MIT */
/* observers.h: the rounds of a world's observers.
 *
 * See observers.c. Owner, world idle. A world without observers has none of this: one comparison
 * per sync point. */
#pragma once

#include "scheduler_state.h"

#define WEFT__OBSERVER_ROUNDS 8u
#define WEFT__OBSERVER_BATCH 4096u

/* Runs all rounds. `scheduler->observers` is not NULL. Errors: as weft_observers_run. */
weft_result weft__observers_play(weft__scheduler *scheduler);
