/* SPDX-License-Identifier: MIT */
/* stream_room.h: entity blocks for the sections that come next, mapped by the crew.
 *
 * While the crew maps and clears memory, the owner's own mmap would wait for a thread that may have
 * lost its processor: frames of up to 24 ms on a busy machine. So a section begins when there are
 * blocks for it, and the crew makes those of the next ones meanwhile. Not under lockstep, where
 * sections begin when they are asked for. Owner, world idle. */
#ifndef WEFT_STREAM_ROOM_H
#define WEFT_STREAM_ROOM_H

#include "stream_state.h"

/* Whether a section of so many rows can begin without the owner mapping blocks, or has to: no
 * thread is at work, or there is no memory for more. False: they are being made. */
bool weft__room_has(weft__streams *streams, uint32_t rows);
/* Blocks that were made become the directory's. */
void weft__room_go_on(weft__streams *streams);
/* Nothing is made any more. */
void weft__room_end(weft__streams *streams);

#endif
