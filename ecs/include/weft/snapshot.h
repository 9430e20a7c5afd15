/* SPDX-License-Identifier: MIT */
/* snapshot.h: rollback: copies of the state of a world in memory.
 *
 * Public. A snapshot shares what did not change with the one before it: taking one per frame costs
 * what the frame changed. To keep a world longer than the process: world_file.h.
 * Threads: owner, world idle and between steps. */
#ifndef WEFT_SNAPSHOT_H
#define WEFT_SNAPSHOT_H

#include <weft/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_snapshot weft_snapshot;

/* Takes a snapshot; with `previous` (of the same world, may be NULL) only slices changed since
 * it are copied, the rest is shared with it (either may be destroyed first). The caller owns
 * *out and destroys it before the world. Values are copied by their copy hooks. Errors, with
 * *out NULL: INVALID_ARGUMENT, WRONG_PHASE (also while a recorder holds entities that have ids
 * but no place yet), UNSUPPORTED (a type in use has a destruct hook and no copy hook: the text
 * names it), OUT_OF_MEMORY. Cost: O(metadata + bytes of the slices that changed since
 * `previous`); metadata are a version per type and slice, a word per 64 indices, and the indices
 * that are dead. */
WEFT_API weft_result weft_snapshot_take(weft_world *world, const weft_snapshot *previous,
                                        weft_snapshot **out);
/* Puts the world back: same ids, same layout, same future: the same calls lead to the same world
 * again, whatever happened in between; as often as wanted. Component types, handles of archetypes,
 * systems, queries, recorders and entity names are not part of it; the order of archetypes is
 * (those made later keep their handles, and match queries again, last, when they are used or asked
 * for again; a step after a change of the order compiles the schedule), and the number and time of
 * the step
 * (weft_world_frame), what systems have seen as changed, and how far their rates and timers are
 * is (systems younger than the snapshot start again, with no timer set). Errors:
 * INVALID_ARGUMENT, WRONG_PHASE (as above), OUT_OF_MEMORY, with the world as it was; only when a
 * spilled buffer of the snapshot cannot be copied the world is put back and that buffer is empty
 * (the text says "a buffer"). Cost: O(metadata + bytes of the slices that differ); in chunks where
 * rows came, went or moved handles are compared, too. What was written after the ways of the
 * snapshot and of the world parted counts as different. */
WEFT_API weft_result weft_snapshot_restore(weft_world *world, const weft_snapshot *snapshot);
/* NULL is ignored. */
WEFT_API void weft_snapshot_destroy(weft_snapshot *snapshot);

#ifdef __cplusplus
}
#endif
#endif
