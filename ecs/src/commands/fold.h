/* SPDX-License-Identifier: MIT */
/* fold.h: playback of long runs of commands: all steps of a fold. What stops a run from being
 * folded and the steps themselves are in fold_rows.h. */
#pragma once

#include "fold_rows.h"

/* Plays segments without commands that must go alone. WEFT_OK with *is_played false: nothing
 * happened, play them one by one. */
weft_result weft__fold_play(weft__playback *playback, const weft__command_segment *segments,
                            uint32_t count, bool *is_played);
