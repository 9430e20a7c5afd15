/* SPDX-License-Identifier: MIT */
/* query_change.h: which rows a change is of: those of a query, of entities, or all of the world,
 * one part per chunk, whole or a list of rows, in query order; and one component added to, removed
 * from or given a shared value in all of them. Owner, world idle. */
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
/* What a change of selected rows asks for. Owner: one call; the value is held meanwhile. */
typedef struct weft__change_request {
    uint32_t component;
    bool is_remove; /* then has_value is false */
    bool has_value; /* shared value to set */
    uint32_t value; /* its index */
} weft__change_request;

/* OK for a component of this world of none of the kinds in `refused` (component flags). */
weft_result weft__component_check(weft_world *world, weft_component component, uint32_t refused,
                                  const char *what);
/* Stamps a component's change version in the slices of rows [first, first + count). */
void weft__component_stamp(const weft_world *world, const weft__chunk *chunk, uint32_t component,
                           uint32_t first, uint32_t count);
/* Asks for a shared value, which is held: it cannot go while rows move. Release it afterwards. */
weft_result weft__change_request_shared(weft_world *world, weft_component component,
                                        const void *value, const char *what,
                                        weft__change_request *request);
/* Does a change whose rows are selected (or could not be: `result`), and frees it. */
weft_result weft__change_selected(weft__change *change, weft_result result,
                                  const weft__change_request *request);
/* Ends all rows of a linked chunk, as weft_query_destroy_entities would: those with CLEANUP
 * components become residues. Errors: OUT_OF_MEMORY, LIMIT (error set; nothing changed). */
weft_result weft__chunk_destroy_rows(weft_world *world, weft__chunk *chunk);

#endif
