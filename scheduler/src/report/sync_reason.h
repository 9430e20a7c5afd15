/* SPDX-License-Identifier: MIT */
/* sync_reason.h: why a sync point lies before its observer.
 *
 * See sync_reason.c. Owner, between steps. */
#ifndef WEFT_SYNC_REASON_H
#define WEFT_SYNC_REASON_H

#include "scheduler_state.h"
#include "text.h"

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
