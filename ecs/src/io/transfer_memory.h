/* SPDX-License-Identifier: MIT */
/* transfer_memory.h: memory that goes over with its chunks.
 *
 * Owner of both worlds, during one transfer. */
#ifndef WEFT_TRANSFER_MEMORY_H
#define WEFT_TRANSFER_MEMORY_H

#include "transfer_state.h"

/* Hands reservations over of which every unit moves. Before rows are reserved. Their free units are
 * given away by the commit at the earliest: an undo gives all back. */
weft_result weft__transfer_memory_take(weft__transfer *t);
/* The run of a chunk whose memory was handed over; false: it stays, and is to be copied. */
bool weft__transfer_memory_run(const weft__transfer *t, const weft__chunk *chunk, weft__run *run);
/* What was handed over is the destination's. */
void weft__transfer_memory_keep(weft__transfer *t);
/* Gives everything back. */
void weft__transfer_memory_return(weft__transfer *t);
void weft__transfer_memory_fini(weft__transfer *t);

#endif
