/* SPDX-License-Identifier: MIT */
/* playback_patch.h: deferred handles in recorded values become those of the entities they mean.
 * Recorded references only: rows of the world are never looked at. */
#ifndef WEFT_PLAYBACK_PATCH_H
#define WEFT_PLAYBACK_PATCH_H

#include "playback_state.h"

/* Replaces deferred handles in `count` recorded values of a type, or elements for a buffer. Any
 * worker, own commands. */
void weft__playback_patch(const weft__playback *playback, const weft__command_segment *segment,
                          const weft__type *type, void *elements, uint32_t count);

/* The same in values of rows, with the elements of their buffers. Any worker, own rows. */
void weft__playback_patch_rows(const weft__playback *playback, const weft__command_segment *segment,
                               const weft__type *type, void *values, uint32_t count);

#endif
