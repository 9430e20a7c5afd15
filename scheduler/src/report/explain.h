/* SPDX-License-Identifier: MIT */
/* explain.h: what orders two systems of a compiled schedule, for the texts that report it.
 *
 * See explain.c. Nothing here is kept: every question goes through the nodes of the plan again. */
#ifndef WEFT_EXPLAIN_H
#define WEFT_EXPLAIN_H

#include "scheduler_state.h"
#include "text.h"

#define WEFT__NO_SYSTEMS "no systems"

/* The scheduler, compiled; NULL when there is none or it cannot be: `problem` is the reason then.
 * The text is empty. Owner thread, between steps. */
weft__scheduler *weft__report_open(weft_world *world, weft__text *t, const char **problem);
/* The same; the problem is the text, a line. */
weft__scheduler *weft__report_begin(weft_world *world, weft__text *t);

/* What orders two systems without the help of others. */
typedef enum weft__system_edge_kind {
    WEFT__EDGE_NONE,
    WEFT__EDGE_ACCESS, /* they collide over a component */
    WEFT__EDGE_NAME,   /* one names the other; they do not collide */
} weft__system_edge_kind;

/* The reason of the order of two systems. A value.
 *   kind != ACCESS: all else is 0 or WEFT__NONE */
typedef struct weft__system_edge {
    weft__system_edge_kind kind;
    uint32_t component;    /* that needs the strongest order, the first of those */
    bool is_first_written; /* by the first system; is_second_written: by the second */
    bool is_second_written;
    bool is_resource;
    uint32_t archetype; /* number of one in which they meet; WEFT__NONE: none is needed */
} weft__system_edge;

/* Of the systems at two positions, from < to. */
weft__system_edge weft__schedule_edge(const weft__scheduler *scheduler, uint32_t from, uint32_t to);
/* The next component, after `component`, over which two systems collide; ascending. WEFT__NONE as
 * `component` begins, as the result it ends. */
uint32_t weft__schedule_edge_next(const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                                  uint32_t component);
/* The name of a component of an edge, or "by name or group". */
const char *weft__system_edge_label(const weft__scheduler *scheduler,
                                    const weft__system_edge *edge);

/* ---- the longest chain ---- */

/* What the last step waited for, segment by segment.
 *
 * Owner, between steps. */

/* The segments as JSON objects, without brackets around them. */
void weft__segments_json(weft__text *t, const weft__scheduler *scheduler);

/* ---- why a sync point is there ---- */

/* Why a sync point lies before its observer.
 *
 * Owner, between steps. */

/* "'b' could see commands of 'a', which adds or sets c, e.g. in archetype 3 (c d)" */
void weft__sync_reason_add(weft__text *t, const weft__scheduler *scheduler,
                           const weft__sync_point *point);
/* In quotes, for an edge of a drawing: "adds or sets c"; "any command": one of the two is
 * exclusive. */
void weft__sync_reason_label(weft__text *t, const weft__scheduler *scheduler,
                             const weft__sync_point *point);
/* The members effect, effects, component and archetype of a JSON object. */
void weft__sync_reason_json(weft__text *t, const weft__scheduler *scheduler,
                            const weft__sync_point *point);

#endif
