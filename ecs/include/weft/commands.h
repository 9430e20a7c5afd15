/* SPDX-License-Identifier: MIT */
/* commands.h: structural changes recorded now and played back at the next sync point.
 *
 * Public. Inside systems weft_slice_recorder gives the recorder of the slice; commands take
 * effect in the order (system, slice, sequence), for any number of workers. Outside systems
 * weft_recorder_create makes a recorder, which weft_recorder_play plays. Values are copied when
 * recorded. The recorder owns a value with a destruct hook until an entity takes it, and
 * destructs it when its command is skipped or dropped. Threads: the thread that runs the slice
 * (or owns the recorder).
 *
 * Errors: recording refuses what it can see without looking at entities: OUT_OF_MEMORY,
 * BAD_HANDLE, TYPE_MISMATCH, INVALID_ARGUMENT, STALE_ENTITY (null and foreign deferred handles);
 * checked builds also entities of another world (BAD_HANDLE), which other builds skip at
 * playback. Playback reports a refused call again, with the command and its recorder (NULL and a
 * count of 0 for weft_recorder_create_rows are only returned), and finds all other errors. A
 * command on an entity that has died is skipped and counted, and so is a copy of a residue;
 * destroying twice is not counted. */
#ifndef WEFT_COMMANDS_H
#define WEFT_COMMANDS_H

#include <weft/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a recorder for use outside systems. The caller owns *out and destroys it before the
 * world. Threads: owner to create, destroy and play, while no systems run; one thread at a time
 * to record, which need not be the owner. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, WRONG_PHASE
 * (systems run). */
WEFT_API weft_result weft_recorder_create(weft_world *world, weft_recorder **out);
/* Destroys a recorder and drops its unplayed commands. Ignored: NULL, recorders of systems, and
 * calls while systems run (WRONG_PHASE in the world's error). */
WEFT_API void weft_recorder_destroy(weft_recorder *commands);
/* Plays all commands, then empties the recorder, which can be used again. An empty recorder
 * changes nothing. Errors: the first one; its text names the command, its entity and what to do.
 * Calls refused while recording are reported after the others were played. A command that fails
 * at playback drops those after it. WRONG_PHASE (also for recorders of systems, which the step
 * plays) plays and drops nothing. Threads: owner, world idle. */
WEFT_API weft_result weft_recorder_play(weft_recorder *commands);

/* Creates an entity and returns a deferred handle: a target of later commands of the same
 * recorder (in systems: of the same slice), and a value of ENTITY fields that are described.
 * Playback replaces it by the real handle in these; after that it is refused. Null on failure. */
WEFT_API weft_entity weft_recorder_create_entity(weft_recorder *commands, weft_archetype archetype);

/* What rows to make in place. */
typedef struct weft_rows_desc {
    weft_archetype archetype;
    uint32_t count; /* one call gives at most the rows of one chunk */
    /* Gives real ids immediately, in rows->entities; which ids depends on timing. Without it
     * playback gives ids in deterministic order (weft_recorder_row_entity). */
    bool is_unordered;
    const weft_values *shared; /* SHARED components of the archetype, each with one value; copied.
                                  Those that are not listed have their default */
    uint32_t shared_count;
} weft_rows_desc;

/* Entities of an archetype, filled in place. `rows` gets columns, which stay valid until
 * playback; values begin zeroed. A term of `rows` is the position of the component in
 * weft_archetype_components; tags and shared components have no column (NULL). rows->count may
 * be less than `count`: call again for the rest. Playback puts the rows into the world before
 * the first command, without another copy.
 *
 * These functions accept `rows`: columns, weft_slice_write_buffers, weft_slice_enable,
 * weft_slice_read_shared, weft_slice_recorder; all rows count as changed, with version 0. Any
 * other use gives NULL or does nothing, and playback reports UNDECLARED_ACCESS, for another C
 * type TYPE_MISMATCH (checked builds). A refused call leaves nothing behind, but an unordered
 * one may use up versions of free indices. Errors: BAD_HANDLE, TYPE_MISMATCH (not SHARED),
 * INVALID_ARGUMENT (NULL, 0, a component that the archetype lacks), OUT_OF_MEMORY, LIMIT. */
WEFT_API weft_result weft_recorder_create_rows_with(weft_recorder *commands,
                                                    const weft_rows_desc *desc, weft_slice *rows);
/* As weft_recorder_create_rows_with, without shared values; ids are given at playback. */
WEFT_API weft_result weft_recorder_create_rows(weft_recorder *commands, weft_archetype archetype,
                                               uint32_t count, weft_slice *rows);
/* As weft_recorder_create_rows, with real ids immediately, in rows->entities; which ids depends
 * on timing. */
WEFT_API weft_result weft_recorder_create_rows_unordered(weft_recorder *commands,
                                                         weft_archetype archetype, uint32_t count,
                                                         weft_slice *rows);
/* The handle of a row of these calls: deferred, as that of weft_recorder_create_entity, or real
 * when the row has an id. A target of commands and a value of ENTITY fields, also of the rows.
 * Null on failure: NOT_FOUND (no such row), STALE_ENTITY (rows of another recorder, or played
 * already). Cost: once a handle was requested, 8 bytes for each row of the recorder at playback. */
WEFT_API weft_entity weft_recorder_row_entity(weft_recorder *commands, const weft_slice *rows,
                                              uint32_t row);
/* Copies `source` as it is at playback (weft_entity_instantiate). Returns a deferred handle;
 * null on failure. */
WEFT_API weft_entity weft_recorder_instantiate(weft_recorder *commands, weft_entity source);
/* As weft_entity_destroy, add and remove. */
WEFT_API weft_result weft_recorder_destroy_entity(weft_recorder *commands, weft_entity entity);
WEFT_API weft_result weft_recorder_add(weft_recorder *commands, weft_entity entity,
                                       weft_component component);
WEFT_API weft_result weft_recorder_remove(weft_recorder *commands, weft_entity entity,
                                          weft_component component);
/* Sets a value, adding the component when absent. */
WEFT_API weft_result weft_recorder_set(weft_recorder *commands, weft_entity entity,
                                       weft_component component, const void *value, size_t size);
/* As weft_entity_set_shared and weft_entity_enable. */
WEFT_API weft_result weft_recorder_set_shared(weft_recorder *commands, weft_entity entity,
                                              weft_component component, const void *value);
WEFT_API weft_result weft_recorder_enable(weft_recorder *commands, weft_entity entity,
                                          weft_component component, bool enabled);
/* Sets the name as weft_entity_set_name does; NULL and "" remove it. The text is copied. */
WEFT_API weft_result weft_recorder_set_name(weft_recorder *commands, weft_entity entity,
                                            const char *name);
/* Appends `count` elements to a dynamic buffer (adding the component when absent). */
WEFT_API weft_result weft_recorder_append(weft_recorder *commands, weft_entity entity,
                                          weft_component component, const void *elements,
                                          uint32_t count);
/* Replaces the elements of a dynamic buffer (adding the component when absent). */
WEFT_API weft_result weft_recorder_set_buffer(weft_recorder *commands, weft_entity entity,
                                              weft_component component, const void *elements,
                                              uint32_t count);

/* ---- for all rows of a query ---- As weft_query_add, _remove, _set_shared, _enable and
 * _destroy_entities. The query is evaluated when the command is played, with the rows that
 * earlier commands made, and with filters and enable bits as they are then. A change filter uses
 * its own `since`, not the last run of the system. A query that was destroyed before playback is
 * BAD_HANDLE. */
WEFT_API weft_result weft_recorder_query_add(weft_recorder *commands, weft_query query,
                                             weft_component component);
WEFT_API weft_result weft_recorder_query_remove(weft_recorder *commands, weft_query query,
                                                weft_component component);
WEFT_API weft_result weft_recorder_query_set_shared(weft_recorder *commands, weft_query query,
                                                    weft_component component, const void *value);
WEFT_API weft_result weft_recorder_query_enable(weft_recorder *commands, weft_query query,
                                                weft_component component, bool enabled);
WEFT_API weft_result weft_recorder_query_destroy_entities(weft_recorder *commands,
                                                          weft_query query);

#ifdef __cplusplus
}
#endif
#endif
