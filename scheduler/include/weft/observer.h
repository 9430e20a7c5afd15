/* SPDX-License-Identifier: MIT */
/* observer.h: observers: functions that are called with the entities that got or lost a component,
 * or whose value changed, at the sync points of a step.
 *
 * Public. Observers compare the world with what they saw the last time. So every way of changing
 * counts (immediate calls, commands, writes of systems, restored snapshots), what was done and
 * undone in between does not, and a world without observers pays nothing. They run
 *   - at each sync point of a step, after commands were played and relations settled;
 *   - at the end of the step, which is one, and of weft_system_run;
 *   - in weft_observers_run.
 * One run has rounds: all observers are called, in their order, with what changed; what they record
 * is played; then what that changed is the next round. If there is news after 8 rounds, the run
 * ends with WEFT_CYCLE, and that news is not told. Batches list entities in the order of storage,
 * which is the same for any number of workers. Prefabs are not observed: an entity that becomes one
 * is told as REMOVED, without a component as DESTROYED, and one that is no prefab any more as new.
 *
 *   static void died(const weft_observation *o, void *user)
 *   {
 *       const Cargo *cargo = o->values;           the last values
 *       for (uint32_t i = 0; i < o->count; i++) drop(o->commands, &cargo[i]);
 *   }
 *   weft_observer_create(world, &(weft_observer_desc){
 *       .name = "drop cargo", .on = WEFT_ON_REMOVED, .component = cargo, .run = died}); */
#ifndef WEFT_OBSERVER_H
#define WEFT_OBSERVER_H

#include <weft/commands.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what an observer sees ---- */

/* What is observed of a component. Each since the last run. */
typedef enum weft_observer_event {
    WEFT_ON_ADDED = 1, /* has it, and had not; new entities, too */
    WEFT_ON_REMOVED,   /* had it, and has not; dead entities, too */
    WEFT_ON_CHANGED,   /* had and has it, with other bytes */
    WEFT_ON_CREATED,   /* ADDED, and the entity is new. Without a component: any entity */
    /* REMOVED, and the entity is dead: of a CLEANUP component when the residue loses it, which is
     * later than the destruction. Without a component: any entity, when it is destroyed */
    WEFT_ON_DESTROYED,
} weft_observer_event;

/* What an observer gets. Valid during the call. */
typedef struct weft_observation {
    weft_world *world;        /* for reading: weft_entity_read; queries unless is_parallel */
    weft_recorder *commands;  /* played before the next round */
    weft_component component; /* of the observer */
    uint32_t event;           /* weft_observer_event */
    uint32_t count;           /* entities, not 0 */
    const weft_entity *entities;
    /* [count] values of `component` as they were: REMOVED, DESTROYED and CHANGED; else NULL, also
     * for tags. */
    const void *values;
} weft_observation;

/* ---- observers ---- */

/* Describes an observer. Zero means default. Everything is copied. */
typedef struct weft_observer_desc {
    const char *name; /* 1..63 bytes of UTF-8, unique among the observers of the world */
    uint32_t on;      /* weft_observer_event */
    /* Not RESOURCE, SHARED, BUFFER, CHUNK or SPARSE; of REMOVED, DESTROYED and CHANGED no destruct
     * hook, for their values are copied aside as bytes. */
    weft_component component;
    void (*run)(const weft_observation *observation, void *user);
    void *user; /* the caller's; must outlive the observer */
    /* Runs before this observer, which exists; NULL: after all others. */
    const char *before;
    /* Called with batches of at most 4,096 entities, by several workers at once; what they record
     * is played in the order of the batches. What they call does not set weft_world_error. */
    bool is_parallel;
} weft_observer_desc;

/* Handle of an observer; null is zero. */
typedef struct weft_observer {
    uint32_t id;
    uint32_t world;
} weft_observer;

/* Registers an observer. It sees what changes from now on, and what has changed since the last run
 * where another one observes the same component. Old values are then those of now, and zero of an
 * entity that has none now, if it is the first of the component to see old values. Null on failure:
 * INVALID_ARGUMENT, BAD_HANDLE, TYPE_MISMATCH, ALREADY_EXISTS, NOT_FOUND (`before`), OUT_OF_MEMORY,
 * WRONG_PHASE. Threads: owner, between steps. Cost: O(entities with the component). */
WEFT_API weft_observer weft_observer_create(weft_world *world, const weft_observer_desc *desc);

/* Removes an observer. Errors: BAD_HANDLE, WRONG_PHASE. Threads: owner, between steps. */
WEFT_API weft_result weft_observer_destroy(weft_world *world, weft_observer observer);

/* Runs the observers now, with what changed since they last ran; relations are settled first.
 * Errors: CYCLE (of rounds, see above: the text names who recorded; or of relations, which does not
 * keep observers from running), the first error of a command (the rest of that round's commands is
 * dropped), OUT_OF_MEMORY (what was found is told by the next run), WRONG_PHASE, BUSY. Threads:
 * owner, between steps. Cost: O(chunks that have an observed component + rows of those whose rows
 * came, went or were written). */
WEFT_API weft_result weft_observers_run(weft_world *world);

#ifdef __cplusplus
}
#endif
#endif
