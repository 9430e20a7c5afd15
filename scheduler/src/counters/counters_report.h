/* SPDX-License-Identifier: MIT */
/* counters_report.h: what was counted, as sums, text, JSON and counters of a trace. Owner, world at
 * rest. */
#ifndef WEFT_COUNTERS_REPORT_H
#define WEFT_COUNTERS_REPORT_H

#include "scheduler_state.h"
#include "text.h"

/* Sums over workers, scaled when the group took turns. */
void weft__counters_sum(const weft__scheduler *scheduler, const weft__system *system,
                        weft_system_counters *out);
/* The rung with its reason, then a line per system. */
void weft__counters_text(const weft__scheduler *scheduler, weft__text *t);
/* The columns of a system as a member of its JSON object; nothing when no step counted. */
void weft__counters_json(const weft__scheduler *scheduler, const weft__system *system,
                         weft__text *t);
/* What the frame added, as counters of the trace. */
void weft__counters_trace(weft__scheduler *scheduler);

#endif
