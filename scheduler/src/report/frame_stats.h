/* SPDX-License-Identifier: MIT */
/* frame_stats.h: the critical path of a step.
 *
 * See frame_stats.c. World at rest. */
#ifndef WEFT_FRAME_STATS_H
#define WEFT_FRAME_STATS_H

#include "scheduler_state.h"

/* Shortest time the stages of the last frame could have taken; 0 when not measured. */
uint64_t weft__schedule_critical_path(const weft__scheduler *scheduler);

#endif
