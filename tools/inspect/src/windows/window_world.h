/* SPDX-License-Identifier: MIT */
/* window_world.h: what concerns the world as a whole: its state in the head of the page, memory by
 * category. Owner of the world. */
#ifndef WEFT_INSPECT_WINDOW_WORLD_H
#define WEFT_INSPECT_WINDOW_WORLD_H

#include "session.h"

/* {}: frame, time, entities, pace, whether it is paused. */
uint32_t weft__status_window(weft__session *session, const weft__request *request, weft__wire *out);
/* {}: bytes of every category. */
uint32_t weft__memory_window(weft__session *session, const weft__request *request, weft__wire *out);
/* {}: the components of the world with their kinds, for completion of queries. */
uint32_t weft__types_window(weft__session *session, const weft__request *request, weft__wire *out);

#endif
