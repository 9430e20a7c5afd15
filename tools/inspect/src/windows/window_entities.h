/* SPDX-License-Identifier: MIT */
/* window_entities.h: the Entities window: lists by query, by name, by relation. Owner of the
 * world; reading stamps nothing. */
#ifndef WEFT_INSPECT_WINDOW_ENTITIES_H
#define WEFT_INSPECT_WINDOW_ENTITIES_H

#include "session.h"

/* {"query": "A, !B", "from": 0, "count": 50}: rows with the values of the query's components. */
uint32_t weft__entities_window(weft__session *session, const weft__request *request,
                               weft__wire *out);
/* {"part": "sun"}: entities whose name has that part. */
uint32_t weft__search_window(weft__session *session, const weft__request *request, weft__wire *out);
/* {"relation": "Parent", "entity": "12:3"}: its sources; without an entity the roots, from entity
 * number "from" on. */
uint32_t weft__tree_window(weft__session *session, const weft__request *request, weft__wire *out);
/* The relations of the world. */
uint32_t weft__relations_window(weft__session *session, const weft__request *request,
                                weft__wire *out);

/* Brings session->relations up to date. */
void weft__relations_find(weft__session *session);

#endif
