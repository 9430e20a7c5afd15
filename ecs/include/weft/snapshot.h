/* SPDX-License-Identifier: MIT */
/* snapshot.h: snapshots: copies of the state of a world in memory, to go back to.
 *
 * Public. A snapshot shares what did not change with the one before it: one per frame costs what
 * the frame changed. To keep a world longer than the process: world_file.h. Threads: owner,
 * between steps, unless a function says otherwise. */
#ifndef WEFT_SNAPSHOT_H
#define WEFT_SNAPSHOT_H

#include <weft/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- snapshots ---- */

/* The state of one world at one time. */
typedef struct weft_snapshot weft_snapshot;

/* Takes a snapshot. With `previous` (of the same world, may be NULL) only slices that changed
 * since are copied, the rest is shared with it; either may be destroyed first. The caller owns
 * *out and destroys it before the world. Values are copied by their copy hooks. Errors, with
 * *out NULL: INVALID_ARGUMENT, WRONG_PHASE, BUSY (sections of streams come or leave), UNSUPPORTED
 * (a type in use has a destruct hook and no copy hook: the text names it), OUT_OF_MEMORY. Cost:
 * O(metadata + bytes of the slices that changed since `previous`); metadata are a version per type
 * and slice, a word per 64 indices, and the indices that are dead. */
WEFT_API weft_result weft_snapshot_take(weft_world *world, const weft_snapshot *previous,
                                        weft_snapshot **out);

/* Puts the world back, as often as wanted: the same ids and layout, and the same future: the same
 * calls lead to the same world, whatever happened in between to what is part of it.
 *
 * Part of a snapshot: values, ids, the order of archetypes, chunks and rows, the number and time
 * of the step (weft_world_frame), what systems have seen as changed, the state of rates and
 * timers, names of entities. Systems younger than the snapshot start again, with no timer set. Not
 * part of it: component types, handles of archetypes, systems and groups and whether they are
 * enabled, queries, recorders, requests to streams by calls (stream.h). What settling finds
 * (relation.h: sources, depths) is that of the last settle until the next one. Archetypes
 * made later keep their handles, but come last and match queries only once they are used or
 * requested again; after a change of the order the next step compiles the schedule.
 *
 * Errors: INVALID_ARGUMENT, WRONG_PHASE (also while a recorder has rows of
 * weft_recorder_create_rows_unordered that were not played), BUSY (sections of streams come or
 * leave), LIMIT (megachunk_limit: no memory for chunks that are made again; destroy entities, or
 * allow more), UNSUPPORTED (since it was taken sections of streams came or left, or a shard
 * stepped), OUT_OF_MEMORY, with the world as it was. A thread that asks for such rows meanwhile
 * waits. Cost: O(metadata + bytes of the slices that differ); in chunks where rows came, went or
 * moved handles are compared, too. A slice counts as different when it was written after the two
 * states parted, on the way to either of them. */
WEFT_API weft_result weft_snapshot_restore(weft_world *world, const weft_snapshot *snapshot);

/* Frees a snapshot. Ignored: NULL, and calls while systems run (WRONG_PHASE in the world's error).
 * Threads: owner. */
WEFT_API void weft_snapshot_destroy(weft_snapshot *snapshot);

/* ---- what lives beside a world ---- */

/* Marks the state that the world has now: a number from 1 on, never given twice; 0 while systems
 * run (WRONG_PHASE). For what keeps
 * handles of entities beside the world: it takes one after each change of what it knows, and asks
 * weft_world_has_moment before it uses what it knows. Threads: owner. Cost: O(1). */
WEFT_API uint64_t weft_world_moment(weft_world *world);

/* Whether a moment is in the past of the world: false once a snapshot that was taken before it
 * put the world back, true again once one that was taken after it does. Threads: owner. Cost: O(1),
 * and a look at 16 bytes for each restore that undid moments; each later snapshot keeps these
 * bytes, too. */
WEFT_API bool weft_world_has_moment(const weft_world *world, uint64_t moment);

#ifdef __cplusplus
}
#endif
#endif
