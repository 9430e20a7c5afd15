/* SPDX-License-Identifier: MIT */
/* playback.h: playback of recorded commands, in key order: the scheduler plays all its recorders at
 * a sync point, weft_recorder_play plays one. The steps are in playback.c. Owner. */
#ifndef WEFT_PLAYBACK_H
#define WEFT_PLAYBACK_H

#include "playback_state.h"
#include "query_state.h"

/* Plays the recorders' commands in key order and empties them. Owner, world idle (busy == 0). The
 * error names the command and its recorder; what came before it has taken effect, what comes after
 * it has not and is dropped. `out` may be NULL. */
weft_result weft__playback_run(const weft__playback_desc *desc, weft__playback_result *out);

/* True: playing the commands changes no chunk and no value of the archetypes that the queries match
 * now. False: it does, it may, or finding out would take too long. Seals the recorders. Owner,
 * before weft__playback_run. Costs a look-up a command. */
bool weft__playback_spares(const weft__playback_desc *desc, const weft__query *const *queries,
                           uint32_t query_count);

#endif
