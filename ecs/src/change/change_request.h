/* SPDX-License-Identifier: MIT */
/* change_request.h: one component added to, removed from or given a shared value in all selected
 * rows.
 *
 * What the changes by query and those of arrays have in common. Owner, world idle. */
#ifndef WEFT_CHANGE_REQUEST_H
#define WEFT_CHANGE_REQUEST_H

#include "query_change.h"

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
/* Gives every part a destination. */
weft_result weft__change_route_all(weft__change *change, const weft__change_request *request);
/* Does a change whose rows are selected (or could not be: `result`), and frees it. */
weft_result weft__change_selected(weft__change *change, weft_result result,
                                  const weft__change_request *request);

#endif
