/* SPDX-License-Identifier: MIT */
/* counters_group.h: counting while systems run: a group of events per worker. What a group is and
 * who may touch it: counters_state.h. */
#ifndef WEFT_COUNTERS_GROUP_H
#define WEFT_COUNTERS_GROUP_H

#include "scheduler_state.h"

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
/* A part begins on a worker: what was counted since the last one belongs to no system. */
void weft__counters_begin(weft__scheduler *scheduler, uint32_t worker);
/* After a call of a system. */
void weft__counters_take(weft__scheduler *scheduler, uint32_t worker, const weft__system *system);
/* Prints what was counted and closes everything. Owner, the world ends. */
void weft__counters_free(weft__scheduler *scheduler);

#endif
