/* SPDX-License-Identifier: MIT */
/* query_structure.h: changes of whole chunks, by the engine of query_change.h.
 *
 * Owner, world idle. */
#ifndef WEFT_QUERY_STRUCTURE_H
#define WEFT_QUERY_STRUCTURE_H

#include "world_state.h"

/* Ends all rows of a linked chunk, as weft_query_destroy_entities would: those with CLEANUP
 * components become residues. Errors: OUT_OF_MEMORY, LIMIT (error set; nothing changed). */
weft_result weft__chunk_destroy_rows(weft_world *world, weft__chunk *chunk);

#endif
