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
/* The id of an archetype on which the systems at two positions collide; WEFT__NONE: none is needed,
 * or they do not. */
uint32_t weft__schedule_edge_archetype(const weft__scheduler *scheduler, uint32_t from,
                                       uint32_t to);

/* Why a sync point lies before its observer. A value. */
typedef struct weft__sync_reason {
    const char *effect;    /* of the recorder's commands: "creates", "destroys", "changes", "any" */
    const char *component; /* that names what it could see; NULL: anything */
    uint32_t archetype;    /* id of one that the observer runs over; WEFT__NONE: none exists yet */
} weft__sync_reason;
weft__sync_reason weft__sync_reason_of(const weft__scheduler *scheduler,
                                       const weft__sync_point *point);
/* "'b' could see commands of 'a', which creates rows with c (e.g. in archetype 3 (c d))" */
void weft__sync_reason_add(weft__text *t, const weft__scheduler *scheduler,
                           const weft__sync_point *point);

#endif
