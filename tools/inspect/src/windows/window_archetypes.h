/* SPDX-License-Identifier: MIT */
/* window_archetypes.h: the Archetypes window: how entities fill their chunks, what is wasted,
 * what lies outside of chunks, and advice. Owner of the world. */
#ifndef WEFT_INSPECT_WINDOW_ARCHETYPES_H
#define WEFT_INSPECT_WINDOW_ARCHETYPES_H

#include "session.h"

/* {"sort": "bytes", "up": false, "part": "Pos", "from": 0, "count": 100}: the archetypes by that
 * figure, the largest first, those with a component that has the part in its name; "matched" is how
 * many there are. */
uint32_t weft__archetypes_window(weft__session *session, const weft__request *request,
                                 weft__wire *out);
/* {"archetype": 3}: components with bytes and kinds, occupancy of chunks in ten bands. */
uint32_t weft__archetype_window(weft__session *session, const weft__request *request,
                                weft__wire *out);

#endif
