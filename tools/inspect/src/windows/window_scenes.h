/* SPDX-License-Identifier: MIT */
/* window_scenes.h: where entities come from: baked documents, live links, streamed sections, and
 * what the program tells itself. Owner of the world. */
#ifndef WEFT_INSPECT_WINDOW_SCENES_H
#define WEFT_INSPECT_WINDOW_SCENES_H

#include "session.h"

/* {}: what the last bake did, what is wrong; live links with their mistakes and conflicts; streams
 * with their sections; sections and requests of the program's source. */
uint32_t weft__scenes_window(weft__session *session, const weft__request *request, weft__wire *out);
/* {"section": "north", "load": true}, of the program's source; with "stream": 1 the section "3" of
 * this stream. Needs is_writable. */
uint32_t weft__section_request(weft__session *session, const weft__request *request,
                               weft__wire *out);

#endif
