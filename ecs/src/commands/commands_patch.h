/* SPDX-License-Identifier: MIT */
/* commands_patch.h: deferred handles in recorded values become those of the entities they mean.
 * Recorded references only: rows of the world are never looked at. */
#ifndef WEFT_COMMANDS_PATCH_H
#define WEFT_COMMANDS_PATCH_H

#include "commands_playback.h"

/* Replaces deferred handles in `count` values of a type. Any worker, own rows. */
void weft__playback_patch(const weft__playback *playback, const weft__command_segment *segment,
                          const weft__type *type, void *values, uint32_t count);

/* The same for the elements of a buffer that are not in a buffer yet. */
void weft__playback_patch_elements(const weft__playback *playback,
                                   const weft__command_segment *segment, const weft__type *type,
                                   void *elements, uint32_t count);

#endif
