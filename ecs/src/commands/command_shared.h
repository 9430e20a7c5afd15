/* SPDX-License-Identifier: MIT */
/* command_shared.h: recorded SHARED values, made ready before they are set: deferred handles in
 * them become real, and those with a release hook are held.
 *
 * Playback, and the end of a recorder, first take a reference in the store for every value with
 * a release hook, and let go of all of them last. So one that no entity took (its command was
 * skipped, overwritten, dropped, or never played) is released, equal ones once, and one in use
 * is not. Recording takes none: jobs cannot write to the store. Values of rows are ready before
 * the rows are linked, the others after it, when the rows have ids. Owner, world idle. */
#pragma once

#include "playback.h"

/* Makes the values of the commands of a segment ready (`are_rows`: of rows only) that are not.
 * `playback`: it resolves handles; NULL: they stay. OUT_OF_MEMORY: the values that have no
 * reference stay the caller's. */
weft_result weft__command_ready_shared(weft_world *world, const weft__playback *playback,
                                       const weft__command_segment *segment, bool are_rows);
/* Gives the references back. */
void weft__command_let_go_shared(weft_world *world, const weft__command_segment *segment);

/* ---- deferred handles in recorded values ---- */

/* Replaces deferred handles in `count` recorded values of a type, or elements for a buffer. Any
 * worker, own commands. */
void weft__playback_patch(const weft__playback *playback, const weft__command_segment *segment,
                          const weft__type *type, void *elements, uint32_t count);

/* The same in values of rows, with the elements of their buffers. Any worker, own rows. */
void weft__playback_patch_rows(const weft__playback *playback, const weft__command_segment *segment,
                               const weft__type *type, void *values, uint32_t count);
