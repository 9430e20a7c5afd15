/* SPDX-License-Identifier: MIT */
/* stream_step.h: what the owner does for all streams of a world in one call, and how it waits for
 * the crew.
 *
 * Owner, world idle. */
#ifndef WEFT_STREAM_STEP_H
#define WEFT_STREAM_STEP_H

#include "stream_state.h"

/* Goes on until `deadline` (clock of the world's operating system; 0: no bound). *did: how many
 * sections came, left, were begun or ended. Errors set. */
weft_result weft__streams_go_on(weft__streams *streams, uint64_t deadline, uint32_t *did);
/* Sections that the crew has. */
uint32_t weft__streams_under_way(const weft__streams *streams);
/* Whether a section leaves when it is due: under lockstep, by further steps. */
bool weft__streams_have_leaving(const weft__streams *streams);
/* Waits until the crew has ended at least one job more, or has none. */
void weft__streams_wait(weft__streams *streams);

/* No entity blocks are made ahead any more. */
void weft__room_end(weft__streams *streams);

#endif
