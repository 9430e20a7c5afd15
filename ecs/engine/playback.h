/* SPDX-License-Identifier: MIT */
/* playback.h: playback of recorded commands, in key order: the scheduler plays all its recorders at
 * a sync point, weft_recorder_play plays one. The steps are in playback.c. Owner. */
#ifndef WEFT_PLAYBACK_H
#define WEFT_PLAYBACK_H

#include "playback_state.h"

/* Plays the recorders' commands in key order and empties them. Owner, world idle (busy == 0). The
 * error names the command and its recorder; what came before it has taken effect, what comes after
 * it has not and is dropped. `out` may be NULL. */
weft_result weft__playback_run(const weft__playback_desc *desc, weft__playback_result *out);

#endif
