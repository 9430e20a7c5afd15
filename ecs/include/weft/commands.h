/* SPDX-License-Identifier: MIT */
/* commands.h: changes that are recorded now and played back later, at the next sync point of a
 * step.
 *
 * Public. Inside systems weft_slice_recorder gives the recorder of the slice; commands take effect
 * in the order (system, slice, sequence), for any number of workers. Outside systems
 * weft_recorder_create makes a recorder and weft_recorder_play plays it. Values are copied when
 * recorded; the recorder destructs those of commands that are skipped or dropped. SHARED values
 * with a release hook that no entity took are released, equal ones once; if memory for that is
 * refused, one may stay unreleased. Threads: holder, unless a function says otherwise; of a
 * slice's recorder the thread that has the slice.
 *
 * Errors: recording refuses what is wrong whatever the entities are: OUT_OF_MEMORY, BAD_HANDLE,
 * TYPE_MISMATCH, INVALID_ARGUMENT, STALE_ENTITY (a null handle, a deferred one of another
 * recorder). Playback reports refused calls again, with the command and its recorder, and all
 * other errors. What a call refuses because of what the entity has become is skipped and counted
 * (weft_frame_stats.commands_skipped): commands on the dead, but for those that a residue accepts
 * (entity.h), and switching a component that the entity lacks; destroying twice is not counted.
 * Entities of another world are refused by checked builds (BAD_HANDLE) and skipped by others. */
#ifndef WEFT_COMMANDS_H
#define WEFT_COMMANDS_H

#include <weft/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- recorders ---- */

/* Creates a recorder for use outside systems. The caller owns *out and destroys it before the
 * world. Any thread may record, one at a time, also while the owner uses the world. Errors:
 * INVALID_ARGUMENT, OUT_OF_MEMORY, WRONG_PHASE (systems run). Threads: owner. */
WEFT_API weft_result weft_recorder_create(weft_world *world, weft_recorder **out);

/* Destroys a recorder and drops its unplayed commands. Ignored: NULL, recorders of systems, calls
 * while systems run (WRONG_PHASE in the world's error). Without memory the `shared_release` of
 * their values is not called. Threads: owner. */
WEFT_API void weft_recorder_destroy(weft_recorder *recorder);

/* Plays all commands and empties the recorder, which can be used again. Errors: the first one; its
 * text names the command, its entity and what to do. A command that fails drops those after it
 * (ids of entities that they were to create are used up); calls that were refused while
 * recording are reported after the others were played. WRONG_PHASE (also for recorders of
 * systems, which the step plays) plays and drops nothing. Threads: owner, world idle. */
WEFT_API weft_result weft_recorder_play(weft_recorder *recorder);

/* ---- create ---- */

/* Records the creation of an entity. Returns a deferred handle: a target of later commands of
 * the same recorder (in systems: of the same slice), and a value of described ENTITY fields of
 * any kind of component, in which playback replaces it by the real handle. After playback it is
 * refused. Null on failure. */
WEFT_API weft_entity weft_recorder_create_entity(weft_recorder *recorder, weft_archetype archetype);

/* Records a copy of `source` and its linked group, as they are at playback
 * (weft_entity_instantiate). Returns a deferred handle of the copy, as weft_recorder_create_entity;
 * that of a copy that is skipped becomes a dead one. Null on failure. */
WEFT_API weft_entity weft_recorder_instantiate(weft_recorder *recorder, weft_entity source);

/* ---- rows filled in place ---- */

/* Which rows to make. */
typedef struct weft_rows_desc {
    weft_archetype archetype;
    uint32_t count; /* one call gives at most the rows of one chunk */
    /* Gives real ids immediately, in rows->entities, which are alive from playback on; which ids
     * depends on timing. Without it playback gives ids in deterministic order
     * (weft_recorder_row_entity). */
    bool is_unordered;
    const weft_values *shared; /* SHARED components of the archetype, each with one value; copied.
                                  Those that are not listed have their default. They do not refer
                                  to rows that have no id yet (INVALID_ARGUMENT) */
    uint32_t shared_count;
} weft_rows_desc;

/* Creates entities of an archetype whose values the caller fills in place. `rows` gets columns of
 * zeroed values, valid until playback; playback puts the rows into the world before the first
 * command, without another copy. A term of `rows` is the position of the component in
 * weft_archetype_components; tags and shared components have no column (NULL). rows->count may be
 * less than `count`: call again for the rest.
 *
 * `rows` may be used for columns, weft_slice_write_buffers, weft_slice_enable,
 * weft_slice_read_shared and weft_slice_recorder; all rows count as changed, with version 0. Any
 * other use gives NULL (checked builds: memory that stands in) or does nothing, and playback
 * reports UNDECLARED_ACCESS, for another C type TYPE_MISMATCH (checked builds). After playback
 * every function that takes `rows`, and growing buffers that were opened from it, does the same,
 * and the next playback of the recorder reports STALE_ENTITY. Not found are pointers kept past
 * playback: columns, rows->entities, elements of buffers; nor is any use after the recorder was
 * destroyed. A refused call leaves nothing behind, except that an unordered one of a system may
 * use up versions of free indices.
 * Rows that were not played are in no file, hash or snapshot; a snapshot is not restored, and no
 * world loaded, while a recorder of weft_recorder_create has unordered ones. Errors:
 * BAD_HANDLE, TYPE_MISMATCH (not SHARED), INVALID_ARGUMENT (NULL, 0, a component that the
 * archetype lacks), OUT_OF_MEMORY, LIMIT. */
WEFT_API weft_result weft_recorder_create_rows_with(weft_recorder *recorder,
                                                    const weft_rows_desc *desc, weft_slice *rows);

/* As weft_recorder_create_rows_with, without shared values; ids are given at playback. */
WEFT_API weft_result weft_recorder_create_rows(weft_recorder *recorder, weft_archetype archetype,
                                               uint32_t count, weft_slice *rows);

/* As weft_recorder_create_rows, with real ids immediately, in rows->entities; which ids depends
 * on timing. */
WEFT_API weft_result weft_recorder_create_rows_unordered(weft_recorder *recorder,
                                                         weft_archetype archetype, uint32_t count,
                                                         weft_slice *rows);

/* The handle of one of the rows: deferred, as that of weft_recorder_create_entity, or real when the
 * rows have ids. A target of commands and a value of ENTITY fields, also of the rows themselves.
 * Null on failure: NOT_FOUND (no such row), STALE_ENTITY (rows of another recorder, or played
 * already). Cost: after the first request 8 bytes at playback for each row of the recorder. */
WEFT_API weft_entity weft_recorder_row_entity(weft_recorder *recorder, const weft_slice *rows,
                                              uint32_t row);

/* ---- change one entity ---- */

/* Records weft_entity_destroy. */
WEFT_API weft_result weft_recorder_destroy_entity(weft_recorder *recorder, weft_entity entity);

/* Records weft_entity_add. */
WEFT_API weft_result weft_recorder_add(weft_recorder *recorder, weft_entity entity,
                                       weft_component component);

/* Records weft_entity_remove. */
WEFT_API weft_result weft_recorder_remove(weft_recorder *recorder, weft_entity entity,
                                          weft_component component);

/* Records weft_entity_set: sets a value and adds the component when absent. */
WEFT_API weft_result weft_recorder_set(weft_recorder *recorder, weft_entity entity,
                                       weft_component component, const void *value, size_t size);

/* Records weft_entity_set_shared. */
WEFT_API weft_result weft_recorder_set_shared(weft_recorder *recorder, weft_entity entity,
                                              weft_component component, const void *value);

/* Records weft_entity_enable. Where the call is NOT_FOUND, because the entity lacks the
 * component, the command is skipped and counted. */
WEFT_API weft_result weft_recorder_enable(weft_recorder *recorder, weft_entity entity,
                                          weft_component component, bool enabled);

/* Records weft_entity_set_name: NULL and "" remove the name. Errors: INVALID_ARGUMENT (it is not
 * UTF-8). */
WEFT_API weft_result weft_recorder_set_name(weft_recorder *recorder, weft_entity entity,
                                            const char *name);

/* Records the appending of `count` elements to a dynamic buffer; adds the component when absent. */
WEFT_API weft_result weft_recorder_append(weft_recorder *recorder, weft_entity entity,
                                          weft_component component, const void *elements,
                                          uint32_t count);

/* Records the replacement of all elements of a dynamic buffer; adds the component when absent. */
WEFT_API weft_result weft_recorder_set_buffer(weft_recorder *recorder, weft_entity entity,
                                              weft_component component, const void *elements,
                                              uint32_t count);

/* ---- change all rows of a query ----
 *
 * The query is evaluated when the command is played, with the rows that earlier commands made, and
 * with filters and enable bits as they are then. A change filter uses its own `since`, not the last
 * run of the system. A query that was destroyed before playback is BAD_HANDLE. */

/* Records weft_query_add. */
WEFT_API weft_result weft_recorder_query_add(weft_recorder *recorder, weft_query query,
                                             weft_component component);

/* Records weft_query_remove. */
WEFT_API weft_result weft_recorder_query_remove(weft_recorder *recorder, weft_query query,
                                                weft_component component);

/* Records weft_query_set_shared. */
WEFT_API weft_result weft_recorder_query_set_shared(weft_recorder *recorder, weft_query query,
                                                    weft_component component, const void *value);

/* Records weft_query_enable. */
WEFT_API weft_result weft_recorder_query_enable(weft_recorder *recorder, weft_query query,
                                                weft_component component, bool enabled);

/* Records weft_query_destroy_entities. */
WEFT_API weft_result weft_recorder_query_destroy_entities(weft_recorder *recorder,
                                                          weft_query query);

#ifdef __cplusplus
}
#endif
#endif
