/* SPDX-License-Identifier: MIT */
/* playback_error.h: the error of a command that failed, in words: which command, on what,
 * recorded by whom, and why. Owner only. */
#ifndef WEFT_PLAYBACK_ERROR_H
#define WEFT_PLAYBACK_ERROR_H

#include "playback_state.h"

/* What a refusal while recording means; found without the world, so that workers can refuse. */
const char *weft__playback_refusal(const weft_world *world, const weft__command_failure *failure);

/* Sets the world's error: the command, its recorder and the reason that stands there now. */
weft_result weft__playback_error(const weft__playback *playback, uint64_t key, uint32_t op,
                                 weft_entity entity, uint32_t component, weft_result code);

#endif
