/* SPDX-License-Identifier: MIT */
/* timeline_store.h: the last seconds of the pool's trace as spans: what the Timeline, the frame
 * of the Systems window and the utilisation of the Jobs window are made of. Filled while one of
 * them is open. Owner of the world, between steps. */
#ifndef WEFT_INSPECT_TIMELINE_STORE_H
#define WEFT_INSPECT_TIMELINE_STORE_H

#include "session.h"

/* A part of the time that is shown. */
typedef struct weft__period {
    uint64_t from_ns, to_ns;
    uint32_t pixels; /* spans narrower than one are drawn together */
} weft__period;

/* Takes the events out of the rings; makes the store when there is none. */
void weft__timeline_take(weft__session *session);
/* Forgets events that came in while it was not open. */
void weft__timeline_skip(weft__session *session);
void weft__timeline_free(weft__session *session);

/* Whether the rings of the pool have ever given an event. */
bool weft__timeline_has_events(const weft__session *session);
/* When the last event was; and the last whole frame. */
uint64_t weft__timeline_end(const weft__session *session);
bool weft__timeline_frame(const weft__session *session, weft__period *out);
/* The slowest one since a window looks at the timeline; its spans are kept. */
bool weft__timeline_slowest(const weft__session *session, weft__period *out);
/* Adds "names" and "lanes" of a period. */
void weft__timeline_write(const weft__session *session, const weft__period *period,
                          weft__wire *out);
/* All that is there as a JSON array of Trace Event objects, which Perfetto and chrome://tracing
 * open. */
void weft__timeline_export(const weft__session *session, weft__wire *out);
/* How much of the last second a worker has worked, 0 to 1; negative: not known. */
double weft__timeline_busy(const weft__session *session, uint32_t worker);

#endif
