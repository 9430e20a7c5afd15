/* SPDX-License-Identifier: MIT */
/* chain.h: what the last step waited for, segment by segment.
 *
 * See chain.c. Owner, between steps. */
#ifndef WEFT_CHAIN_H
#define WEFT_CHAIN_H

#include "scheduler_state.h"
#include "text.h"

/* Ns of the longest chain of tasks of the last run of its graph; 0: there was none. */
uint64_t weft__segment_longest(const weft__scheduler *scheduler, const weft__segment *segment);
/* The segments as JSON objects, without brackets around them. */
void weft__segments_json(weft__text *t, const weft__scheduler *scheduler);

#endif
