/* SPDX-License-Identifier: MIT */
/* explain.h: what orders two systems of a compiled schedule, for the texts that report it.
 *
 * See explain.c. Nothing here is kept: every question goes through the nodes of the plan again. */
#ifndef WEFT_EXPLAIN_H
#define WEFT_EXPLAIN_H

#include "scheduler_state.h"

#include "text.h"

/* The scheduler, compiled; NULL, with the reason as text, when there is none or it cannot be. Owner
 * thread, between steps. */
weft__scheduler *weft__report_begin(weft_world *world, weft__text *t);

/* What orders the systems at two positions, from < to, without the help of others: the component
 * over which they collide, or "by name"; NULL: nothing. */
const char *weft__schedule_edge(const weft__scheduler *scheduler, uint32_t from, uint32_t to);

#endif
