/* SPDX-License-Identifier: MIT */
/* playback_one.h: commands that are not folded, by the immediate operations, and what a command
 * does to a buffer, folded or not. */
#pragma once

#include "playback.h"

/* Appends the elements of a command to a buffer, or replaces what it holds. Any worker, own rows;
 * when memory ends the buffer is as it was. */
weft_result weft__playback_elements(weft_world *world, const weft__command *command,
                                    weft_buffer *buffer);

/* Plays the segments [first, end) in order of effect. Owner. The error names the first command of
 * the run that failed; what came before the run has taken effect, of the run itself maybe a part.
 */
weft_result weft__playback_runs(weft__playback *playback, uint32_t first, uint32_t end);

/* What a refusal while recording means; found without the world, so that workers can refuse. */
const char *weft__playback_refusal(const weft_world *world, const weft__command_failure *failure);

/* Sets the world's error: the command, its recorder and the reason that stands there now. */
weft_result weft__playback_error(const weft__playback *playback, uint64_t key, uint32_t op,
                                 weft_entity entity, uint32_t component, weft_result code);

/* Plays the INSTANTIATE commands of segments [first, end) before all others of them, when that
 * can show in nothing but the order of ids, and marks them (WEFT__INSTANCE_IS_MADE). *played: how
 * many; 0: none was, they must be played where they stand. Errors: of weft_entity_instantiate; out
 * of memory before anything was made: *played is 0, without error. */
weft_result weft__playback_instances(weft__playback *playback, uint32_t first, uint32_t end,
                                     uint64_t *played);
