/* SPDX-License-Identifier: MIT */
/* counters_group.h: counting while systems run: a group of events per worker. What a group is and
 * who may touch it: counters_state.h. */
#ifndef WEFT_COUNTERS_GROUP_H
#define WEFT_COUNTERS_GROUP_H

#include "scheduler_state.h"

/* Before a step: whether to count, with room for every system; false also when out of memory. */
bool weft__counters_prepare(weft__scheduler *scheduler);
/* A part begins on a worker: what was counted since the last one belongs to no system. */
void weft__counters_begin(weft__scheduler *scheduler, uint32_t worker);
/* After a call of a system. */
void weft__counters_take(weft__scheduler *scheduler, uint32_t worker, const weft__system *system);
/* Prints what was counted and closes everything. Owner, the world ends. */
void weft__counters_free(weft__scheduler *scheduler);

#endif
