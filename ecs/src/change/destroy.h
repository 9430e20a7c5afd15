/* SPDX-License-Identifier: MIT */
/* destroy.h: death of rows, and which rows the handles of an array mean.
 *
 * Residues and linked groups are for the functions on entities (destroy.c). Owner, world idle. */
#pragma once

#include "row_moves.h"

/* Rows end for good, cleanup components or not: ids, destructors, holes. Cannot fail. */
weft_result weft__rows_die(weft_world *world, weft__chunk *chunk, const uint32_t *rows,
                           uint32_t first, uint32_t count);
/* The rows of the entities become the parts of a change without parts, by ascending chunk id, each
 * row once. `what`: the operation, for errors (a stale handle, memory). */
weft_result weft__batch_select(weft__change *change, const weft_entity *entities, uint32_t count,
                               const char *what);
