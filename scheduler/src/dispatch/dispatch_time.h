/* SPDX-License-Identifier: MIT */
/* dispatch_time.h: running items while times of systems are taken: the schedule is measured, or
 * a trace is kept.
 *
 * See dispatch_time.c. Any worker. */
#ifndef WEFT_DISPATCH_TIME_H
#define WEFT_DISPATCH_TIME_H

#include "scheduler_state.h"

#define WEFT__TIMED_MAX 64u /* systems of a fused stage; more are left out of the shares */

typedef void (*weft__run_entry_fn)(weft__worker *worker, const weft__entry *entry, uint32_t begin,
                                   uint32_t end);

/* Whether the systems of the entry alternate from slice to slice. */
static inline bool weft__entry_is_fused(const weft__entry *entry)
{
    return entry->kind == WEFT__ENTRY_CHUNK && entry->binding_count > 1;
}

/* The system of an entry, or the first of its systems. */
static inline const weft__system *weft__entry_first(const weft__entry *entry)
{
    return entry->kind == WEFT__ENTRY_CHUNK ? entry->bindings[0].system : entry->system;
}

/* Runs items [begin, end) of an entry by `run`, and counts their time where the schedule is
 * measured. `shares`: ns of each binding of a fused entry in the slices that were sampled, added to
 * what is there; NULL: not asked for. */
void weft__dispatch_timed(weft__worker *worker, const weft__entry *entry, uint32_t begin,
                          uint32_t end, weft__run_entry_fn run, uint64_t *shares);

#endif
