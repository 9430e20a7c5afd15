/* SPDX-License-Identifier: MIT */
/* playback_runs.h: commands that are never folded, in order of effect: many of one kind in a row go
 * through one operation on an array, the others one by one. */
#ifndef WEFT_PLAYBACK_RUNS_H
#define WEFT_PLAYBACK_RUNS_H

#include "playback_state.h"

/* Plays the segments [first, end). Owner. The error names the first command of the run that failed;
 * what came before the run has taken effect, of the run itself maybe a part. */
weft_result weft__playback_runs(weft__playback *playback, uint32_t first, uint32_t end);

#endif
