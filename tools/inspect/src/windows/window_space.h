/* SPDX-License-Identifier: MIT */
/* window_space.h: the Space window: positions of the rows of a query as points, and what is nearest
 * to one of them. Owner of the world; reading stamps nothing. */
#ifndef WEFT_INSPECT_WINDOW_SPACE_H
#define WEFT_INSPECT_WINDOW_SPACE_H

#include "session.h"

/* {}: what may be a position: {"component": "Position", "x": "x", "y": "y", "z": "z"}, the
 * likeliest first; and the numbers that points may be coloured by. */
uint32_t weft__places_window(weft__session *session, const weft__request *request, weft__wire *out);
/* {"query": "Ship", "component": "Position", "x": "x", "y": "y", "z": "z", "value_of": "Shield",
 * "value": "strength", "count": 5000}: at most so many of the rows, evenly drawn. */
uint32_t weft__points_window(weft__session *session, const weft__request *request, weft__wire *out);
/* The same with "entity": the ten rows that are nearest to it. */
uint32_t weft__nearest_window(weft__session *session, const weft__request *request,
                              weft__wire *out);

#endif
