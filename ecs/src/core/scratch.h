/* SPDX-License-Identifier: MIT */
/* scratch.h: arrays that playback and changes of many rows use, kept from one to the next.
 *
 * Owned by the world; used by the owner, one operation at a time. */
#pragma once

#include "world_state.h"

/* Arrays that are kept. */
typedef enum weft__scratch_slot {
    WEFT__SCRATCH_SEGMENTS,
    WEFT__SCRATCH_PIECES,
    WEFT__SCRATCH_LINKS,
    WEFT__SCRATCH_NUMBERS,
    WEFT__SCRATCH_REFS,
    WEFT__SCRATCH_RUNS,
    WEFT__SCRATCH_CREATED,
    WEFT__SCRATCH_MAP,
    WEFT__SCRATCH_TOUCHED,
    WEFT__SCRATCH_STATES,
    WEFT__SCRATCH_HEADS,
    WEFT__SCRATCH_TAILS,
    WEFT__SCRATCH_NEXT,
    WEFT__SCRATCH_ROWS,
    WEFT__SCRATCH_GROUPS,
    WEFT__SCRATCH_PARTS,
    WEFT__SCRATCH_TASKS,
    WEFT__SCRATCH_VERSIONS,
    WEFT__SCRATCH_VALUES,
    WEFT__SCRATCH_VALUE_INDICES,
    WEFT__SCRATCH_VALUE_COUNTS,
    WEFT__SCRATCH_SPAWNS,
    WEFT__SCRATCH_COPIES,
    WEFT__SCRATCH_COUNT
} weft__scratch_slot;

/* An array of `count` elements, contents undefined; valid until the slot is taken again. NULL:
 * out of memory (no error set). Owner. */
void *weft__scratch_take(weft_world *world, weft__scratch_slot slot, size_t count, size_t size);
