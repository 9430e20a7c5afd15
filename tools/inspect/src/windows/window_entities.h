/* SPDX-License-Identifier: MIT */
/* window_entities.h: the Entities window: lists by query, by name, by relation. Owner of the
 * world; reading stamps nothing. */
#ifndef WEFT_INSPECT_WINDOW_ENTITIES_H
#define WEFT_INSPECT_WINDOW_ENTITIES_H

#include "session.h"

enum { WEFT__PAGE_MAX = 200, WEFT__COLUMNS_MAX = 48 };

/* Components whose values rows show. Owner: one call. */
typedef struct weft__columns {
    weft_component at[WEFT__COLUMNS_MAX];
    uint32_t count, left_out; /* those beyond the most */
} weft__columns;

/* Adds those of the request: {"columns": ["A", "B"]}. */
void weft__columns_add(const weft__session *session, const weft__request *request,
                       weft__columns *columns);
/* Adds "columns", and "fields": by which fields of each a list can be sorted. */
void weft__columns_write(const weft__session *session, const weft__columns *columns,
                         weft__wire *out);
/* One row of a list; without columns what the entity has. `lost`: what became of it, or NULL. */
void weft__row_write(weft__session *session, weft_entity entity, const weft__columns *columns,
                     const char *lost, weft__wire *out);

/* {"query": "A, !B", "from": 0, "count": 50, "columns": ["C"]}: rows with the values of the query's
 * components, and of others. */
uint32_t weft__entities_window(weft__session *session, const weft__request *request,
                               weft__wire *out);
/* {"part": "sun"}: entities whose name has that part. */
uint32_t weft__search_window(weft__session *session, const weft__request *request, weft__wire *out);
/* What was found, which holds for 400 times as long as the search took. */
void weft__search_free(weft__session *session);
/* {"relation": "Parent", "entity": "12:3"}: its sources; without an entity the roots, from entity
 * number "from" on. */
uint32_t weft__tree_window(weft__session *session, const weft__request *request, weft__wire *out);
/* The relations of the world. */
uint32_t weft__relations_window(weft__session *session, const weft__request *request,
                                weft__wire *out);

/* Brings session->relations up to date. */
void weft__relations_find(weft__session *session);

#endif
