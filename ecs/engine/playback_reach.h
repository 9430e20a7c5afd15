/* SPDX-License-Identifier: MIT */
/* playback_reach.h: whether recorded commands leave the rows of some queries alone, so that systems
 * that walk over these rows may go on while the commands are played. */
#ifndef WEFT_PLAYBACK_REACH_H
#define WEFT_PLAYBACK_REACH_H

#include "playback_state.h"
#include "query_state.h"

/* True: playing the commands changes no chunk and no value of the archetypes that the queries match
 * now. False: it does, it may, or finding out would take too long. Seals the recorders. Owner,
 * before weft__playback_run. Costs a look-up a command. */
bool weft__playback_spares(const weft__playback_desc *desc, const weft__query *const *queries,
                           uint32_t query_count);

#endif
