/* SPDX-License-Identifier: MIT */
/* window_systems.h: the Systems and Queries windows: what runs, how long, over what, and why in
 * this order; switching systems on and off. Owner of the world. */
#ifndef WEFT_INSPECT_WINDOW_SYSTEMS_H
#define WEFT_INSPECT_WINDOW_SYSTEMS_H

#include "session.h"

/* {}: systems with times, rows, commands, access; of the frame its critical path. */
uint32_t weft__systems_window(weft__session *session, const weft__request *request,
                              weft__wire *out);
/* {}: edges with the component that makes them, sync points with their reasons, segments. */
uint32_t weft__schedule_window(weft__session *session, const weft__request *request,
                               weft__wire *out);
/* {"a": "move", "b": "draw"}: why one runs before the other. */
uint32_t weft__explain_window(weft__session *session, const weft__request *request,
                              weft__wire *out);
/* {"system": "move", "enabled": false}. Needs is_writable. */
uint32_t weft__system_switch(weft__session *session, const weft__request *request, weft__wire *out);
/* {"group": "effects", "enabled": false}; or {"system": "move"}, which runs it once. Need
 * is_writable. */
uint32_t weft__group_switch(weft__session *session, const weft__request *request, weft__wire *out);
uint32_t weft__system_once(weft__session *session, const weft__request *request, weft__wire *out);
/* {}: queries with terms, matches, rows, filters, and the systems that use them. */
uint32_t weft__queries_window(weft__session *session, const weft__request *request,
                              weft__wire *out);

#endif
