/* commands.h: structural changes recorded now and played back at the next sync point.
 *
 * Public. Inside systems weft_slice_recorder gives the recorder of the slice; the order of effect
 * is (system, slice, sequence), whatever the number of workers. Outside systems
 * weft_recorder_create makes a recorder of one's own, played back by weft_recorder_play. Values
 * are copied when recorded; one with a destruct hook is the recorder's until an entity takes it,
 * and is destructed when that never happens (its command is skipped or dropped). Threads: the
 * thread that runs the slice (or owns the recorder). Recording refuses what can be seen without
 * looking at entities (OUT_OF_MEMORY, BAD_HANDLE, TYPE_MISMATCH, INVALID_ARGUMENT, STALE_ENTITY
 * for null and foreign deferred handles; in checked builds BAD_HANDLE for entities of another
 * world, which others skip at playback as dead ones); playback says it again, with the command and
 * its recorder, and finds the rest (NULL and a count of 0 for weft_recorder_create_rows are only
 * returned). Playing a command on an entity that died meanwhile is skipped and counted, except
 * that destroying twice is fine; so is a copy of one that was destroyed and is a residue. */
#ifndef WEFT_COMMANDS_H
#define WEFT_COMMANDS_H

#include <weft/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A recorder outside systems; *out is the caller's, to be destroyed before the world. Threads:
 * owner to create, destroy and play, while no systems run; one thread at a time to record, which
 * need not be the owner. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, WRONG_PHASE (systems run). */
WEFT_API weft_result weft_recorder_create(weft_world *world, weft_recorder **out);
/* Drops what was not played. NULL, recorders of systems, and calls while systems run (WRONG_PHASE
 * in the world's error) are ignored. */
WEFT_API void weft_recorder_destroy(weft_recorder *commands);
/* Plays everything recorded, then empties the recorder, so that it can be used again; an empty
 * one changes nothing. Errors: the first one, which names the command, whom it is about and what to
 * do. Commands refused when recorded are reported after the others were played; one that fails at
 * playback drops those after it; WRONG_PHASE (also for recorders of systems: the step plays them)
 * plays and drops nothing. Threads: owner, world idle. */
WEFT_API weft_result weft_recorder_play(weft_recorder *commands);

/* Creates an entity. The handle returned is deferred: usable as a target of later commands of
 * the same recorder (in systems: of the same slice) and as a value inside components whose
 * ENTITY fields are described; it becomes a real one at playback, and the handle is refused from
 * then on. Null on failure. */
WEFT_API weft_entity weft_recorder_create_entity(weft_recorder *commands, weft_archetype archetype);

/* What rows to make in place. */
typedef struct weft_rows_desc {
    weft_archetype archetype;
    uint32_t count; /* at most the rows of one chunk are given at once */
    /* Real ids at once, in rows->entities. Which ids depends on timing. Otherwise ids are given at
     * playback, in deterministic order (weft_recorder_row_entity). */
    bool unordered;
    uint32_t shared_count;            /* 0: shared components have their default */
    const weft_component *shared;     /* SHARED components of the archetype */
    const void *const *shared_values; /* [i]: the value of shared[i]; copied */
} weft_rows_desc;

/* Entities of an archetype, written in place: `rows` gets columns (indexed by the position of
 * the component in weft_archetype_components; NULL for tags and shared components) that stay
 * valid until playback; values start zeroed. Of the functions of slices those of columns,
 * weft_slice_write_buffers, weft_slice_enable and weft_slice_read_shared are for `rows`, with
 * such a position as term; weft_slice_recorder is the recorder, everything counts as changed,
 * and its version is 0 until playback. Any other use, and one that the component has not, gives
 * NULL or does nothing and is UNDECLARED_ACCESS at playback, of another C type TYPE_MISMATCH
 * (checked builds). rows->count may be less than `count`; call again for the rest. No later copy
 * is made. They are in the world before the first command is played, and count from then on. A
 * refused call leaves nothing behind, except that an unordered one may use up versions of free
 * indices. Errors: BAD_HANDLE, TYPE_MISMATCH (not SHARED), INVALID_ARGUMENT (NULL, 0, a
 * component that the archetype lacks), OUT_OF_MEMORY, LIMIT. */
WEFT_API weft_result weft_recorder_create_rows_with(weft_recorder *commands,
                                                    const weft_rows_desc *desc, weft_slice *rows);
/* The same without shared values: ids at playback, */
WEFT_API weft_result weft_recorder_create_rows(weft_recorder *commands, weft_archetype archetype,
                                               uint32_t count, weft_slice *rows);
/* or at once, in rows->entities. Which ids depends on timing. */
WEFT_API weft_result weft_recorder_create_rows_unordered(weft_recorder *commands,
                                                         weft_archetype archetype, uint32_t count,
                                                         weft_slice *rows);
/* The handle of a row of one of these calls, as that of weft_recorder_create_entity: deferred (or
 * real, when it has an id), usable as a target and in ENTITY fields, also of the rows. Null on
 * failure: NOT_FOUND (no such row), STALE_ENTITY (of another recorder, or played already). Cost:
 * none for rows that are not asked for; else 8 bytes a row of the recorder at playback. */
WEFT_API weft_entity weft_recorder_row_entity(weft_recorder *commands, const weft_slice *rows,
                                              uint32_t row);
/* A copy of `source` as it is at playback (weft_entity_instantiate). The handle is deferred,
 * too. Null on failure. */
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
/* Gives a dynamic buffer these elements (adding the component when absent); those it had end. */
WEFT_API weft_result weft_recorder_set_buffer(weft_recorder *commands, weft_entity entity,
                                              weft_component component, const void *elements,
                                              uint32_t count);

/* ---- for all rows of a query ----
 * As weft_query_add, remove, set_shared, enable and destroy_entities. What the query matches is
 * asked when the command is played: rows that earlier commands brought there count, and so do
 * filters and enable bits as they are then; a change filter looks back to its own `since`, not to
 * the last run of the system. A query destroyed by then is BAD_HANDLE. */
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
