/* SPDX-License-Identifier: MIT */
/* stream_late.h: references between sections: filled in when both are there, cleared when the
 * target leaves. A field that the run has changed meanwhile stays as it is. Owner, world idle. */
#ifndef WEFT_STREAM_LATE_H
#define WEFT_STREAM_LATE_H

#include "stream_state.h"

/* A section was published: its references, and those of others to it. */
void weft__lates_arrive(weft_stream *stream, uint32_t section);
/* A section is about to leave: references of others to it become null. */
void weft__lates_leave(weft_stream *stream, uint32_t section);
/* References of sections that are there, to ones that are not. */
uint64_t weft__lates_waiting(const weft_stream *stream);

#endif
