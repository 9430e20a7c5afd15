/* SPDX-License-Identifier: MIT */
/* playback_instances.h: instances of many segments at once, before the other commands of these
 * segments, so that what is recorded for the instances can be folded. See the source for when that
 * is allowed. */
#ifndef WEFT_PLAYBACK_INSTANCES_H
#define WEFT_PLAYBACK_INSTANCES_H

#include "playback_state.h"

/* Plays the INSTANTIATE commands of segments [first, end) before all others of them, when that
 * can show in nothing but the order of ids, and marks them (WEFT__INSTANCE_IS_MADE). *played: how
 * many; 0: none was, they must be played where they stand. Errors: of weft_entity_instantiate; out
 * of memory before anything was made: *played is 0, without error. */
weft_result weft__playback_instances(weft__playback *playback, uint32_t first, uint32_t end,
                                     uint64_t *played);

#endif
