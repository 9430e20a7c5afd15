/* SPDX-License-Identifier: MIT */
/* stream_leave.h: a section leaves the world at once; the crew ends its rows, and gives their
 * memory back, meanwhile.
 *
 * Owner, world idle. */
#ifndef WEFT_STREAM_LEAVE_H
#define WEFT_STREAM_LEAVE_H

#include "stream_state.h"

/* Takes a section out. Chunks that are as they came are handed to the crew, with their entity
 * blocks; entities in others end here. Errors set: OUT_OF_MEMORY, LIMIT: when it is LEAVING then,
 * weft__leave_end ends the rest. */
weft_result weft__leave_begin(weft_stream *stream, uint32_t section);
/* The crew has ended it: blocks and memory are the world's again. Errors set: OUT_OF_MEMORY, LIMIT:
 * some rows are still there; call it again. */
weft_result weft__leave_end(weft__leave *leave);

/* ---- for loads that are given up ---- */

/* An empty one with room for so many chunks and blocks; NULL: no memory. */
weft__leave *weft__leave_make(weft_stream *stream, uint32_t section, uint32_t chunks,
                              uint32_t blocks);
/* Hands it to the crew: the section is LEAVING. The books of what is lent count it already. */
void weft__leave_push(weft__leave *leave);

#endif
