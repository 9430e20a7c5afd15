/* SPDX-License-Identifier: MIT */
/* window_timeline.h: the Timeline and Jobs windows: what the workers did.
 *
 * Owner of the world. Both need the events of the pool (WEFT__NEED_EVENTS). */
#ifndef WEFT_INSPECT_WINDOW_TIMELINE_H
#define WEFT_INSPECT_WINDOW_TIMELINE_H

#include "session.h"

/* {"from": ns, "to": ns, "pixels": 1200}; without "to" the last "span" ns; {"frame": true}: the
 * last whole frame. */
uint32_t weft__timeline_window(weft__session *session, const weft__request *request,
                               weft__wire *out);
/* {}: everything there is, as Trace Event JSON. */
uint32_t weft__export_window(weft__session *session, const weft__request *request, weft__wire *out);
/* {}: counts of the pool and of each worker, how busy they are. */
uint32_t weft__jobs_window(weft__session *session, const weft__request *request, weft__wire *out);

#endif
