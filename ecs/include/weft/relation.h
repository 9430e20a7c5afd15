/* SPDX-License-Identifier: MIT */
/* relation.h: relations: a component whose value is the handle of another entity, looked up in both
 * directions; parents and children; levels of a hierarchy.
 *
 * Public. The component of the *source* holds the *target* (a child holds its parent), and that
 * field is the truth: it is read, set, recorded, copied, saved and restored as any other value.
 * Declaring the component a relation adds what follows from the fields:
 *   - the sources of a target, in O(1) (weft_relation_sources);
 *   - what becomes of the sources when their target dies;
 *   - for hierarchies: no cycles, and a depth by which systems run level after level.
 *
 * All of it is brought up to date ("settled") when a step begins, at its sync points, and by
 * weft_relation_settle. Between those it is as it was: after a snapshot was restored, too, and
 * empty after a load. Only slices whose change versions are new are looked at. A world without
 * relations pays nothing.
 *
 * Arguments stand in the order source, relation, target, as in "wheel, parent, car"; questions
 * about what settling found out (sources, depth) name the relation first.
 *
 *   weft_component parent = weft_component_parent(world);
 *   weft_relation_set(world, wheel, parent, car);
 *   weft_relation_settle(world);
 *   uint32_t count;
 *   const weft_entity *wheels = weft_relation_sources(world, parent, car, &count);
 */
#ifndef WEFT_RELATION_H
#define WEFT_RELATION_H

#include <weft/entity.h>
#include <weft/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- declaration ---- */

/* What becomes of a source whose target died. */
typedef enum weft_target_death {
    WEFT_ON_TARGET_CLEAR = 0, /* its field becomes null; it keeps the component */
    WEFT_ON_TARGET_DESTROY,   /* it is destroyed, too, and its own sources after it */
    WEFT_ON_TARGET_KEEP,      /* nothing: its field holds a handle that is not alive */
} weft_target_death;

/* Describes a relation. Zero means default. */
typedef struct weft_relation_desc {
    /* A plain component (no kinds but NOT_HASHED) with exactly one described ENTITY field. */
    weft_component component;
    weft_target_death on_target_death;
    bool is_acyclic; /* an edge that closes a cycle is cut: its field becomes null */
    /* Sources have a SHARED component with their depth (weft_relation_depth_component): the rows of
     * one depth share chunks, and systems may run level after level (weft_system_desc.by_depth).
     * Implies is_acyclic. */
    bool by_depth;
} weft_relation_desc;

/* Makes a component a relation, for as long as the world lives. Declaring it again the same way
 * does nothing. Errors: INVALID_ARGUMENT, BAD_HANDLE, TYPE_MISMATCH (the kind or the fields of the
 * component), ALREADY_EXISTS (declared otherwise), LIMIT (component types), OUT_OF_MEMORY,
 * WRONG_PHASE. Threads: owner, world idle. */
WEFT_API weft_result weft_relation_declare(weft_world *world, const weft_relation_desc *desc);

/* The value of the components Parent and InstanceOf. */
typedef struct weft_target {
    weft_entity entity;
} weft_target;

/* The component Parent (value: weft_target): children are destroyed with their parent, cycles are
 * refused, systems may run by depth. Registered and declared by the first call. Null on failure:
 * errors of weft_component_create and weft_relation_declare. Threads: owner; until it exists world
 * idle. */
WEFT_API weft_component weft_component_parent(weft_world *world);

/* The component InstanceOf (value: weft_target): the prefab that an instance was made from; null
 * once that is dead. Once it is registered, weft_entity_instantiate gives it to the roots of
 * copies of prefabs; weft_relation_sources of a prefab are its instances. Otherwise as
 * weft_component_parent. Threads: owner; until it exists world idle. */
WEFT_API weft_component weft_component_instance_of(weft_world *world);

/* ---- questions ---- */

/* The sources of a target, ascending by the index of their handles, as of the last time that the
 * relation was settled. NULL and *count 0 when there are none, and for a bad handle; NULL without
 * `count`. The array belongs to the world and is valid until the next settling. NULL with
 * UNSUPPORTED for a sharded target (<weft/shard.h>): its sources are on all ranks. Threads: owner
 * or system. Cost: O(1). */
WEFT_API const weft_entity *weft_relation_sources(const weft_world *world, weft_component relation,
                                                  weft_entity target, uint32_t *count);

/* The target in the field of a source, now; null when it has none or lacks the component. Threads:
 * owner or system. Cost: a look-up. */
WEFT_API weft_entity weft_relation_target(const weft_world *world, weft_entity source,
                                          weft_component relation);

/* The depth of an entity in a relation by depth: 0 without a target, else one more than that of its
 * target, as of the last settling; sources that got the component by weft_relation_set_many have
 * one more than their target at once. Threads: owner or system. Cost: a look-up. */
WEFT_API uint32_t weft_relation_depth(const weft_world *world, weft_component relation,
                                      weft_entity entity);

/* The SHARED component (uint32_t) that holds the depth of the sources of a relation by depth:
 * for filters; only settling and weft_relation_set_many change it. Entities that never had a
 * target lack it. Null for another component. Threads: any while unchanged. */
WEFT_API weft_component weft_relation_depth_component(const weft_world *world,
                                                      weft_component relation);

/* ---- changes ---- */

/* Gives a source its target: adds the component, or sets its field; a null target clears the
 * field. Errors: STALE_ENTITY (either is dead), BAD_HANDLE, TYPE_MISMATCH (no relation), CYCLE (an
 * acyclic relation would get one; nothing changed), OUT_OF_MEMORY, WRONG_PHASE. Threads: owner,
 * world idle. Cost: one change of an entity; acyclic: and O(depth of the target). */
WEFT_API weft_result weft_relation_set(weft_world *world, weft_entity source,
                                       weft_component relation, weft_entity target);

/* The same for `count` sources at once, all or none. Threads: owner, world idle. Cost: rows that
 * move do so together. */
WEFT_API weft_result weft_relation_set_many(weft_world *world, const weft_entity *sources,
                                            uint32_t count, weft_component relation,
                                            weft_entity target);

/* Brings all relations up to date: finds what changed, does what is to be done about dead targets,
 * cuts cycles, moves sources to the chunks of their depth. A step does so when it begins and at its
 * sync points; call it for changes between steps whose effect is needed at once. Errors: CYCLE
 * (cycles were cut, the rest is done; the text names one), OUT_OF_MEMORY (it begins again with the
 * next call), WRONG_PHASE. Threads: owner, world idle. Cost: O(slices of the relations), and per
 * source in changed slices. */
WEFT_API weft_result weft_relation_settle(weft_world *world);

/* ---- statistics ---- */

/* Counts and memory of a relation. */
typedef struct weft_relation_stats {
    uint64_t sources;  /* with a living target */
    uint64_t bytes;    /* of the index */
    uint64_t scanned;  /* rows compared by the last settling */
    uint64_t changed;  /* edges that came or went by it */
    uint64_t rebuilds; /* times that the index was built from nothing */
} weft_relation_stats;

/* Fills *out. `out_bytes`: sizeof *out. Errors: BAD_HANDLE, INVALID_ARGUMENT. Threads: owner. */
WEFT_API weft_result weft_relation_stats_get(const weft_world *world, weft_component relation,
                                             weft_relation_stats *out, size_t out_bytes);

#ifdef __cplusplus
}
#endif
#endif
