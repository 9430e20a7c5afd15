/* SPDX-License-Identifier: MIT */
/* playback_one.h: commands that are not folded, by the immediate operations, and what a command
 * does to a buffer, folded or not. */
#ifndef WEFT_PLAYBACK_ONE_H
#define WEFT_PLAYBACK_ONE_H

#include "playback_state.h"

/* Appends the elements of a command to a buffer, or replaces what it holds. Any worker, own rows;
 * when memory ends the buffer is as it was. */
weft_result weft__playback_elements(weft_world *world, const weft__command *command,
                                    weft_buffer *buffer);

/* Plays the segments [first, end) in order of effect. Owner. The error names the first command of
 * the run that failed; what came before the run has taken effect, of the run itself maybe a part.
 */
weft_result weft__playback_runs(weft__playback *playback, uint32_t first, uint32_t end);

#endif
