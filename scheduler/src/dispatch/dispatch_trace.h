/* SPDX-License-Identifier: MIT */
/* dispatch_trace.h: running items while a trace is kept.
 *
 * See dispatch_trace.c. Any worker. */
#ifndef WEFT_DISPATCH_TRACE_H
#define WEFT_DISPATCH_TRACE_H

#include "dispatch_time.h"

/* Runs items [begin, end) of an entry by `run`, with spans around systems. Any worker. */
void weft__dispatch_traced(weft__worker *worker, const weft__entry *entry, uint32_t begin,
                           uint32_t end, weft__run_entry_fn run);

#endif
