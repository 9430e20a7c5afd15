/* SPDX-License-Identifier: MIT */
/* transfer_world.h: what the parts of a transfer share.
 *
 * Owner of both worlds, during one transfer. */
#ifndef WEFT_TRANSFER_WORLD_H
#define WEFT_TRANSFER_WORLD_H

#include "transfer_state.h"

/* Copies the last error of the source to the destination, where the caller looks. */
weft_result weft__transfer_failed(weft__transfer *t, weft_result result);
/* The destination's type of a source type. 0: error set. */
uint32_t weft__transfer_type(weft__transfer *t, uint32_t component);
/* Destination rows of a part: calls `visit` for every span with the number of its first row among
 * the rows of the part; ends when it returns false. */
bool weft__transfer_spans(weft__transfer *t, uint32_t part,
                          bool (*visit)(weft__transfer *t, uint32_t part, weft__span span,
                                        uint32_t done));
/* The destination's archetype of a source archetype. NULL: error set. */
weft__archetype *weft__transfer_target(weft__transfer *t, const weft__archetype *from);
/* Whether the chunk goes over as a chunk: all of it, in the same shape, and, where rows may
 * join others, neither small nor mostly air. */
bool weft__transfer_keeps_chunk(const weft__change_part *part, const weft__archetype *to,
                                bool has_room);

#endif
