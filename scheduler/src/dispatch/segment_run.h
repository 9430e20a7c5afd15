/* SPDX-License-Identifier: MIT */
/* segment_run.h: running the graph of a segment, and deciding whether to.
 *
 * See segment_run.c. Owner. */
#ifndef WEFT_SEGMENT_RUN_H
#define WEFT_SEGMENT_RUN_H

#include "scheduler_state.h"

/* Whether the graph runs a segment that may overlap in this frame: weft__segment_run. Else its
 * stages run one after the other. */
bool weft__segment_choose(weft__scheduler *scheduler, weft__segment *segment);
/* After a run of it; choice.rest says when to ask again. weft__segment_run does it itself. */
void weft__segment_learn(weft__scheduler *scheduler, weft__segment *segment, weft__way way,
                         uint64_t ns);
/* Puts the tasks and the edges of a segment that may overlap into the trace, for weft simulate. */
void weft__segment_record(weft__scheduler *scheduler, weft__segment *segment);
/* Runs the tasks of a segment whose entries are current. */
void weft__segment_run(weft__scheduler *scheduler, weft__segment *segment);

#endif
