/* SPDX-License-Identifier: MIT */
/* window_list.h: lists of entities that stay as they were when they were asked for: handles of a
 * query or of a part of a name, filtered and sorted then, read by number. A list of a million rows
 * costs 8 MB and one walk; what is shown of it is read again each time. Owner of the world. */
#ifndef WEFT_INSPECT_WINDOW_LIST_H
#define WEFT_INSPECT_WINDOW_LIST_H

#include "session.h"

/* {"query": "A, !B", "sort": "A.x", "down": true, "where": "A.x > 3 km, name ~ sun"}: makes a list;
 * {"part": "sun"} instead of a query: by name; {"of": 3, "left": true}: those of list 3 that are
 * dead or that its query selects no more; {"query": "A", "lost": true}: what the query's archetypes
 * lost since the frame of the answer (past.h). Answers {"list", "total", "frame"}. The 16 last
 * lists are kept. */
uint32_t weft__list_make(weft__session *session, const weft__request *request, weft__wire *out);
/* {"list": 3, "from": 0, "count": 50, "columns": ["A"]}: rows of a list. */
uint32_t weft__list_window(weft__session *session, const weft__request *request, weft__wire *out);
void weft__lists_free(weft__session *session);

#endif
