/* SPDX-License-Identifier: MIT */
/* segment_run.h: running the graph of a segment, and deciding whether to.
 *
 * See segment_run.c. Owner. */
#ifndef WEFT_SEGMENT_RUN_H
#define WEFT_SEGMENT_RUN_H

#include "scheduler_state.h"

/* What to do with a segment that may overlap in this frame. */
typedef enum weft__segment_way {
    WEFT__SEGMENT_STAGES,   /* stage after stage */
    WEFT__SEGMENT_MEASURED, /* the same, and tell weft__segment_learn how long it took */
    WEFT__SEGMENT_GRAPH,    /* weft__segment_run */
} weft__segment_way;

weft__segment_way weft__segment_choose(weft__scheduler *scheduler, weft__segment *segment);
void weft__segment_learn(weft__segment *segment, uint64_t stages_ns);
/* Runs the tasks of a segment whose entries are current. */
void weft__segment_run(weft__scheduler *scheduler, weft__segment *segment);

#endif
