/* SPDX-License-Identifier: MIT */
/* playback_one.h: one command by the immediate operations, where commands are not folded, and what
 * a command does to a buffer, folded or not. */
#ifndef WEFT_PLAYBACK_ONE_H
#define WEFT_PLAYBACK_ONE_H

#include "playback_state.h"

/* Appends the elements of a command to a buffer, or replaces what it holds. Any worker, own rows;
 * when memory ends the buffer is as it was. */
weft_result weft__playback_elements(weft_world *world, const weft__command *command,
                                    weft_buffer *buffer);

/* Plays one command by the immediate operations. Owner. */
weft_result weft__playback_one(weft__playback *playback, const weft__command_segment *segment,
                               weft__command *command);

#endif
