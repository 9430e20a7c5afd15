/* SPDX-License-Identifier: MIT */
/* world_hash.h: what weft_world_hash makes of one component of one row, for the state log of the
 * scheduler.
 *
 * Of the component only: its handle is not in it. */
#pragma once

#include "chunk_state.h"

/* Of the component at `position` among the types of the chunk's archetype, with its enable bit; no
 * handle in it has a tag. Threads: those that may read the row. */
uint64_t weft__cell_hash(const weft_world *world, const weft__chunk *chunk, uint32_t row,
                         uint32_t position);

/* Of rows [begin, end), where slices begin or rows end: a sum, so that of parts of a chunk adds to
 * that of all: values, enable bits; from row 0 on also the SHARED value and that of the chunk.
 * Threads: those that may read the rows. */
uint64_t weft__rows_sum(const weft_world *world, const weft__chunk *chunk, uint32_t position,
                        uint32_t begin, uint32_t end);
/* Which rows a chunk has, in order. Owner. */
uint64_t weft__rows_hash(const weft_world *world, const weft__chunk *chunk);
/* Of all handles that were given, alive or not. Owner. */
uint64_t weft__handles_hash(const weft_world *world);

/* Of a value that is in no row: of a RESOURCE, of a CHUNK component. */
uint64_t weft__value_hash(const weft_world *world, const weft__type *type, const void *value);
/* Of the names of all entities. Owner. */
uint64_t weft__names_hash(const weft_world *world);

#define WEFT__CELL_TEXT_BYTES 96

/* The component at `position` among the types of the chunk's archetype. A longer text is cut. */
void weft__cell_text(const weft_world *world, const weft__chunk *chunk, uint32_t row,
                     uint32_t position, char text[WEFT__CELL_TEXT_BYTES]);
void weft__value_text(const weft__type *type, const void *value, char text[WEFT__CELL_TEXT_BYTES]);
/* A handle without the tag of its world. */
weft_entity weft__entity_plain(const weft_world *world, weft_entity entity);
