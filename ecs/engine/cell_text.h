/* SPDX-License-Identifier: MIT */
/* cell_text.h: one component of one row as text, for the state log of the scheduler: by its
 * description, or as its bytes.
 *
 * Text is cut to a line. Threads: those that may read the row. */
#ifndef WEFT_CELL_TEXT_H
#define WEFT_CELL_TEXT_H

#include "chunk_state.h"
#include "world_front.h"

#define WEFT__CELL_TEXT_BYTES 96

/* The component at `position` among the types of the chunk's archetype. A longer text is cut. */
void weft__cell_text(const weft_world *world, const weft__chunk *chunk, uint32_t row,
                     uint32_t position, char text[WEFT__CELL_TEXT_BYTES]);
/* A handle without the tag of its world. */
weft_entity weft__entity_plain(const weft_world *world, weft_entity entity);

#endif
