/* SPDX-License-Identifier: MIT */
/* chain.h: what the last step waited for, segment by segment.
 *
 * See chain.c. Owner, between steps. */
#ifndef WEFT_CHAIN_H
#define WEFT_CHAIN_H

#include "scheduler_state.h"
#include "text.h"

/* What a system waited for in the last step: the longest chain of tasks that ends with its own, or
 * the stages of its segment before it. */
void weft__waits_add(weft__text *t, const weft__scheduler *scheduler, const weft__system *system);
/* The segments as JSON objects, without brackets around them. */
void weft__segments_json(weft__text *t, const weft__scheduler *scheduler);

#endif
