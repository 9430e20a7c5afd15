/* SPDX-License-Identifier: MIT */
/* commands_playback.h: what the files of playback share. See commands_play.c for the steps.
 *
 * Private to commands_*.c. Everything here lives during one playback, on the owner's stack or in
 * scratch memory of the world that is kept between playbacks. */
#ifndef WEFT_COMMANDS_PLAYBACK_H
#define WEFT_COMMANDS_PLAYBACK_H

#include "commands_state.h"

/* Arrays kept between playbacks. */
typedef enum weft__scratch_slot {
    WEFT__SCRATCH_SEGMENTS,
    WEFT__SCRATCH_CHUNKS,
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
    WEFT__SCRATCH_REMOVED,
    WEFT__SCRATCH_GROUPS,
    WEFT__SCRATCH_TARGETS,
    WEFT__SCRATCH_TASKS,
    WEFT__SCRATCH_TRANSITIONS,
    WEFT__SCRATCH_TRANSITION_FIRST,
    WEFT__SCRATCH_TRANSITION_SECOND,
    WEFT__SCRATCH_COUNT
} weft__scratch_slot;

/* An array of `count` elements, contents undefined; valid until the slot is taken again. NULL:
 * out of memory (no error set). Owner. */
void *weft__scratch_take(weft_world *world, weft__scratch_slot slot, size_t count, size_t size);
/* A block that keeps its contents; zero when new. NULL: out of memory. */
void *weft__scratch_kept(weft_world *world, weft__scratch_slot slot, size_t bytes);

/* One playback. */
typedef struct weft__playback {
    weft_world *world;
    weft_job_context *job; /* NULL: serial */
    weft_recorder *const *recorders;
    uint32_t recorder_count;
    weft__recorder_name_fn name;
    const void *user;
    weft__command_segment *segments; /* all, in key order */
    uint32_t segment_count;
    bool is_named; /* created entities have ids, and no rows yet */
    weft__playback_result result;
} weft__playback;

/* The entity a handle means: itself, or what a deferred one became; null when that failed. */
static inline weft_entity weft__playback_resolve(const weft__playback *playback,
                                                 const weft__command_segment *segment,
                                                 weft_entity entity)
{
    if (!weft__entity_is_deferred(entity)) return entity;
    const weft_recorder *recorder = playback->recorders[segment->recorder];
    if (entity.version != recorder->epoch) return WEFT__NO_ENTITY;
    if ((entity.index & WEFT__ROW_HANDLE) != 0) {
        uint32_t row = entity.index & ~WEFT__ROW_HANDLE;
        return row < recorder->rows && recorder->rows_asked ? recorder->row_entities[row]
                                                            : WEFT__NO_ENTITY;
    }
    if (entity.index >= recorder->created) return WEFT__NO_ENTITY;
    return recorder->resolved[entity.index];
}

/* Puts the rows made in place into the world (commands_link.c). Owner. */
weft_result weft__playback_link(weft__playback *playback);

/* Appends the elements of a command to a buffer, or replaces what it holds. Any worker, own rows;
 * when memory ends the buffer is as it was. */
weft_result weft__playback_elements(weft_world *world, const weft__command *command,
                                    weft_buffer *buffer);

/* Plays one command by the immediate operations. Owner. */
weft_result weft__playback_one(weft__playback *playback, const weft__command_segment *segment,
                               weft__command *command);

#endif
