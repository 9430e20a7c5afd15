/* SPDX-License-Identifier: MIT */
/* segment_run.h: running the graph of a segment, and deciding whether to.
 *
 * See segment_run.c. Owner. */
#ifndef WEFT_SEGMENT_RUN_H
#define WEFT_SEGMENT_RUN_H

#include "scheduler_state.h"

/* Whether the graph runs a segment that may overlap in this frame: weft__segment_run. Else its
 * stages run one after the other, and weft__segment_learn gets the time of that. */
bool weft__segment_choose(weft__scheduler *scheduler, weft__segment *segment);
void weft__segment_learn(weft__segment *segment, uint64_t stages_ns);
/* Runs the tasks of a segment whose entries are current. */
void weft__segment_run(weft__scheduler *scheduler, weft__segment *segment);

#endif
