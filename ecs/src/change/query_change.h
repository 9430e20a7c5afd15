/* SPDX-License-Identifier: MIT */
/* query_change.h: which rows a change is of: those of a query, of entities, or all of the world.
 *
 * One part per chunk, whole or a list of rows, in query order. */
#ifndef WEFT_QUERY_CHANGE_H
#define WEFT_QUERY_CHANGE_H

#include "query_state.h"
#include "row_moves.h"

/* Collects the rows of a query. Errors: BAD_HANDLE, WRONG_PHASE, OUT_OF_MEMORY (error set). */
weft_result weft__change_select(weft__change *change, weft_query query, const char *what);
/* Collects every row of the world: a part per chunk. Errors: WRONG_PHASE, OUT_OF_MEMORY. */
weft_result weft__change_select_all(weft__change *change, const char *what);
/* Collects the rows of entities, each once, by ascending chunk id. Errors: WRONG_PHASE,
 * STALE_ENTITY, OUT_OF_MEMORY (error set). */
weft_result weft__change_select_entities(weft__change *change, const weft_entity *entities,
                                         uint32_t count, const char *what);
#endif
