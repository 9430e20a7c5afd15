/* SPDX-License-Identifier: MIT */
/* move.h: whole moves of rows and of chunks between tuples and archetypes, made of the steps of
 * structure.h. All or none. Rows that need nothing but bytes copied go by entity_change.c instead.
 * Threads: owner, world idle. */
#ifndef WEFT_MOVE_H
#define WEFT_MOVE_H

#include "archetype_state.h"

/* Moves a row to another tuple, which may be of another archetype; `plan` leads from its archetype
 * to that of `to`. */
weft_result weft__row_move(weft_world *world, weft__chunk *from, uint32_t row, weft__tuple *to);
weft_result weft__row_move_by(weft_world *world, const weft__plan *plan, weft__chunk *from,
                              uint32_t row, weft__tuple *to);
/* Whole chunks change: chunks[i] to tuple to[i], of an archetype with the same format
 * (plan->is_in_place) or of its own: no row moves. Tags and chunk components that go are dropped,
 * new ones are zero and stamped. All or none. */
weft_result weft__chunks_retarget(weft_world *world, weft__chunk *const *chunks,
                                  weft__tuple *const *to, uint32_t count);

#endif
