/* SPDX-License-Identifier: MIT */
/* entity.h: archetypes and entities: create, read, change and destroy them at once. Changes of all
 * entities of a query are in query.h, changes recorded by systems and jobs in commands.h.
 *
 * Public. Unless a function says otherwise: Threads: owner, world idle (no system runs, no query
 * is iterated), else WRONG_PHASE. A call that fails changes nothing, and weft_world_error says
 * what to do. Every function may return INVALID_ARGUMENT (NULL), BAD_HANDLE (a component or
 * archetype of another world; an entity with the tag of another world), STALE_ENTITY,
 * OUT_OF_MEMORY and LIMIT (of the world's descriptor). Arrays may have any length.
 *
 * Adding, removing and destroying move rows: pointers into columns are valid until then. A row
 * that moves keeps its values, enable bits and buffers.
 *
 * An entity is dead from the moment that it is destroyed: weft_entity_is_alive says so, its name is
 * free, relations count it as dead, observers are told. One with CLEANUP components leaves a
 * *residue*, which has only these. By the old handle they are read as of a living entity (also
 * shared values, buffers, change versions; weft_entity_is_enabled is true), set and removed;
 * queries find them, and the handle ends when the last is removed. To remove what it lacks is no
 * error. Whatever else is asked of a residue is refused as for any dead entity: STALE_ENTITY by
 * calls, skipped and counted as commands, left out by changes of a query. */
#ifndef WEFT_ENTITY_H
#define WEFT_ENTITY_H

#include <weft/component.h>

#ifdef __cplusplus
#include <initializer_list>
extern "C" {
#endif

/* ---- archetypes ---- */

/* The archetype of a set of components (any order, no duplicates), and of those that they require
 * (weft_component_desc.required). Null on failure: BAD_HANDLE,
 * INVALID_ARGUMENT, TYPE_MISMATCH (a RESOURCE), LIMIT, OUT_OF_MEMORY, WRONG_PHASE. Cost:
 * O(components) when it exists. */
WEFT_API weft_archetype weft_archetype_create(weft_world *world, const weft_component *components,
                                              uint32_t count);

/* Shorthand: the archetype of listed components: WEFT_ARCHETYPE(world, position, velocity). The
 * list is evaluated twice. */
#ifdef __cplusplus
#define WEFT_ARCHETYPE(world, ...)                                                                 \
    weft_archetype_create(                                                                         \
        (world), std::initializer_list<weft_component>{__VA_ARGS__}.begin(),                       \
        static_cast<uint32_t>(std::initializer_list<weft_component>{__VA_ARGS__}.size()))
#else
#define WEFT_ARCHETYPE(world, ...)                                                                 \
    weft_archetype_create((world), (const weft_component[]){__VA_ARGS__},                          \
                          sizeof((const weft_component[]){__VA_ARGS__}) / sizeof(weft_component))
#endif

/* Components of an archetype: writes up to `capacity`, returns how many there are (0: bad handle).
 * Threads: owner. */
WEFT_API uint32_t weft_archetype_components(const weft_world *world, weft_archetype archetype,
                                            weft_component *out, uint32_t capacity);

/* The archetype at position `index`, below weft_world_stats.archetypes, in the order in which
 * queries visit archetypes; null beyond. That is the order of creation, or of the snapshot or file
 * that was restored last; archetypes that it lacks are absent until they are used or created
 * again. Threads: owner. */
WEFT_API weft_archetype weft_archetype_at(const weft_world *world, uint32_t index);

/* ---- create ---- */

/* Values of one component: an array with one value per entity. A list of these names each component
 * once, in any order. */
typedef struct weft_values {
    weft_component component;
    const void *values;
} weft_values;

/* Shorthand: a list of weft_values and its length, as two arguments: WEFT_VALUES({position, at},
 * {velocity, speeds}). */
#ifdef __cplusplus
#define WEFT_VALUES(...)                                                                           \
    std::initializer_list<weft_values>{__VA_ARGS__}.begin(),                                       \
        static_cast<uint32_t>(std::initializer_list<weft_values>{__VA_ARGS__}.size())
#else
#define WEFT_VALUES(...)                                                                           \
    (const weft_values[]){__VA_ARGS__},                                                            \
        sizeof((const weft_values[]){__VA_ARGS__}) / sizeof(weft_values)
#endif

/* Creates an entity with zeroed components; null on failure (weft_world_error; for a null archetype
 * the error that made it null). It gets the lowest index that is free now (of commands: when they
 * are played, docs/guide/commands.md): handles depend on the history of the world only. */
WEFT_API weft_entity weft_entity_create(weft_world *world, weft_archetype archetype);

/* Creates `count` entities with zeroed components, all or none. `out` (count handles) may be NULL.
 * Errors: for a null archetype the error that made it null, so WEFT_ARCHETYPE may stand in the
 * call. */
WEFT_API weft_result weft_entity_create_many(weft_world *world, weft_archetype archetype,
                                             uint32_t count, weft_entity *out);

/* Creates `count` entities with values: `filled` lists arrays of `count` values, which are copied.
 * Components that are not listed, or listed with NULL, are zeroed. All or none.
 *   weft_entity_create_filled(world, ships, WEFT_VALUES({position, at}), count, out);
 * Of a SHARED component `values` is one value, which all of them get. Errors: as
 * weft_entity_create_many; INVALID_ARGUMENT also for a component that is listed twice or that the
 * archetype lacks; TYPE_MISMATCH for values of a tag, BUFFER or CHUNK component. */
WEFT_API weft_result weft_entity_create_filled(weft_world *world, weft_archetype archetype,
                                               const weft_values *filled, uint32_t filled_count,
                                               uint32_t count, weft_entity *out);

/* Makes `count` copies of `source` and of its linked group, all or none. References inside the
 * group lead to the copy. Names are copied; the Prefab tag, CLEANUP and NOT_COPIED components are
 * not. In a world with weft_component_instance_of the roots of copies of a prefab have it, with
 * `source`. `out` gets the roots (undefined after an error); may be NULL. Errors: INVALID_ARGUMENT
 * also for a linked group whose element 0 is not `source`; UNSUPPORTED for a component with a
 * destruct hook and no copy hook, unless it is NOT_COPIED (both would own one thing). Cost: a
 * SHARED value that refers to a member is another one in every copy, in a chunk of its own. */
WEFT_API weft_result weft_entity_instantiate(weft_world *world, weft_entity source, uint32_t count,
                                             weft_entity *out);

/* ---- destroy ---- */

/* Destroys the entity and the members of its linked group. The last row of the chunk moves into the
 * gap. CLEANUP components stay, as a residue. Errors: STALE_ENTITY for a dead entity. */
WEFT_API weft_result weft_entity_destroy(weft_world *world, weft_entity entity);

/* Destroys the living entities of an array; duplicates and dead ones are skipped. Checked builds
 * refuse an array with entities of another world (BAD_HANDLE) and destroy none. */
WEFT_API weft_result weft_entity_destroy_many(weft_world *world, const weft_entity *entities,
                                              uint32_t count);

/* ---- questions ---- */

/* Whether the entity exists and was not destroyed: false for a residue. Threads: any while
 * unchanged. */
WEFT_API bool weft_entity_is_alive(const weft_world *world, weft_entity entity);

/* The archetype, of a residue, too; null where nothing is left. Threads: any while unchanged. */
WEFT_API weft_archetype weft_entity_archetype(const weft_world *world, weft_entity entity);

/* Whether the entity, or its residue, has the component. Threads: any while unchanged. */
WEFT_API bool weft_entity_has(const weft_world *world, weft_entity entity,
                              weft_component component);

/* ---- values ---- */

/* The value for reading. NULL when the entity, or its residue, lacks the component, when nothing
 * is left of it, or when there is no value of its own: a tag, SHARED or CHUNK (weft_world_error
 * says which). Valid until the next structural
 * change. Does not stamp versions. Threads: owner; in systems use weft_slice_read_entity. Cost:
 * inline with <weft/finder.h>, which <weft/ecs.h> includes. */
WEFT_API const void *weft_entity_read(const weft_world *world, weft_entity entity,
                                      weft_component component);

/* As weft_entity_read, for writing: stamps the change version of the slice. NULL also while
 * systems run (WRONG_PHASE). Threads: owner. Checked builds find a write behind the value only
 * while a loop over its chunk is open (docs/guide/queries.md, "Checked builds"), and never a write
 * through the pointer after structure changed. */
WEFT_API void *weft_entity_write(weft_world *world, weft_entity entity, weft_component component);

/* The change version of the slice that holds the value: the weft_world_change_version in which the
 * slice was last written. 0 when the entity, or its residue, lacks the component (weft_world_error
 * says why). Threads: owner. */
WEFT_API uint32_t weft_entity_change_version(const weft_world *world, weft_entity entity,
                                             weft_component component);

/* Writes a value of `size` bytes and adds the component when absent. The old value is destructed.
 * Threads: owner; where the component is absent world idle. Errors: TYPE_MISMATCH (wrong size, or a
 * BUFFER, SHARED, CHUNK or RESOURCE component: the text names the call that sets it). */
WEFT_API weft_result weft_entity_set(weft_world *world, weft_entity entity,
                                     weft_component component, const void *value, size_t size);

/* Writes the values of one component of `count` entities and adds it where absent: entities[i]
 * gets the `size` bytes at values + i * size. An entity listed twice keeps its last value. All
 * or none; rows that move do so together. `values` may be NULL for a tag. Errors: as
 * weft_entity_set. Threads: owner; where the component is absent world idle. */
WEFT_API weft_result weft_entity_set_many(weft_world *world, const weft_entity *entities,
                                          uint32_t count, weft_component component,
                                          const void *values, size_t size);

#ifdef __cplusplus
#define WEFT_LITERAL_(type, ...) &static_cast<const type &>(type __VA_ARGS__)
#else
#define WEFT_LITERAL_(type, ...) &(type)__VA_ARGS__
#endif

/* Private: what WEFT_SET calls; `type`: the name of the C type. */
WEFT_API weft_result weft_entity_set_as(weft_world *world, weft_entity entity,
                                        weft_component component, const void *value, size_t size,
                                        const char *type);

/* Shorthand: weft_entity_set with a typed value: WEFT_SET(world, e, position, Position, {1, 2,
 * 3}). Checked builds also compare the name of the type with that of a component registered with
 * WEFT_COMPONENT (TYPE_MISMATCH). */
#define WEFT_SET(world, entity, component, type, ...)                                              \
    weft_entity_set_as((world), (entity), (component), WEFT_LITERAL_(type, __VA_ARGS__),           \
                       sizeof(type), #type)

/* Copies the values of one component of many entities to `out` (count x size bytes). On an error
 * `out` is filled up to the entity that caused it. Errors: STALE_ENTITY, NOT_FOUND (the entity
 * lacks the component), TYPE_MISMATCH (no plain values: tag, BUFFER, SHARED, CHUNK, RESOURCE).
 * Threads: owner. Cost: overlaps cache misses; several times faster than single reads in random
 * order. */
WEFT_API weft_result weft_entity_read_many(const weft_world *world, const weft_entity *entities,
                                           uint32_t count, weft_component component, void *out);

/* ---- add and remove components ---- */

/* Adds a component, zeroed; one that is present stays as it is. Errors: TYPE_MISMATCH (RESOURCE).
 * Cost: moves the row. */
WEFT_API weft_result weft_entity_add(weft_world *world, weft_entity entity,
                                     weft_component component);

/* Removes a component; one that is absent is no error. A residue ends when its last component is
 * removed. Errors, Cost: as weft_entity_add. */
WEFT_API weft_result weft_entity_remove(weft_world *world, weft_entity entity,
                                        weft_component component);

/* What weft_entity_change_many adds and removes; zero means nothing. A component in both lists is
 * removed, and brings nothing that it requires. */
typedef struct weft_change_desc {
    const weft_component *add; /* zeroed values for entities that lack them */
    uint32_t add_count;
    const weft_component *remove;
    uint32_t remove_count;
} weft_change_desc;

/* Adds and removes sets of components of many entities, all or none. Each row moves at most
 * once. Errors: STALE_ENTITY, INVALID_ARGUMENT (also a component twice in one set),
 * TYPE_MISMATCH (RESOURCE). */
WEFT_API weft_result weft_entity_change_many(weft_world *world, const weft_entity *entities,
                                             uint32_t count, const weft_change_desc *desc);

/* Moves the entity to another archetype. Components of both keep their values, new ones are zero,
 * others are removed. Errors: INVALID_ARGUMENT also when a CLEANUP component would be removed; for
 * a null archetype the error that made it null. */
WEFT_API weft_result weft_entity_set_archetype(weft_world *world, weft_entity entity,
                                               weft_archetype archetype);

/* ---- enable bits ---- */

/* Sets the enable bit of a component; not a structural change. Errors: TYPE_MISMATCH (not
 * ENABLEABLE), NOT_FOUND (absent; the command weft_recorder_enable is skipped then). Threads:
 * owner; systems use weft_slice_enable. */
WEFT_API weft_result weft_entity_enable(weft_world *world, weft_entity entity,
                                        weft_component component, bool enabled);

/* Whether the entity, or its residue, has the component and it is not disabled. Threads: any while
 * unchanged. */
WEFT_API bool weft_entity_is_enabled(const weft_world *world, weft_entity entity,
                                     weft_component component);

/* ---- names ---- */

/* Names an entity: the text, UTF-8, is copied, up to 63 bytes of whole characters are kept; NULL
 * and "" remove the name. Several entities may have the same name; instances get the names of their
 * originals. Error texts show the name beside the handle. Snapshots put names back, hashes leave
 * them out. Threads: owner; systems use weft_recorder_set_name. Errors: INVALID_ARGUMENT (not
 * UTF-8), STALE_ENTITY, WRONG_PHASE, OUT_OF_MEMORY. */
WEFT_API weft_result weft_entity_set_name(weft_world *world, weft_entity entity, const char *name);

/* As weft_entity_set_name, for a name that no other living entity has. Errors: ALREADY_EXISTS
 * (weft_error.entity has the name). Threads: owner. Cost: as weft_entity_find. */
WEFT_API weft_result weft_entity_set_name_unique(weft_world *world, weft_entity entity,
                                                 const char *name);

/* The name; "" when it has none or is dead. Valid until the next name is set: instantiating a named
 * entity and playing commands set names, too. Threads: owner. */
WEFT_API const char *weft_entity_name(const weft_world *world, weft_entity entity);

/* The living entity with this name, of several the one with the lowest index; null with NOT_FOUND
 * when there is none. Threads: owner. Cost: O(living and recently dead entities with the name). */
WEFT_API weft_entity weft_entity_find(const weft_world *world, const char *name);

/* ---- shared values ---- */

/* Gives an entity a shared value and adds the component when absent. The row moves to a chunk with
 * these shared values. Equal values are stored once. Errors: TYPE_MISMATCH (not SHARED). */
WEFT_API weft_result weft_entity_set_shared(weft_world *world, weft_entity entity,
                                            weft_component component, const void *value);

/* As weft_entity_set_shared for `count` entities, all or none; duplicates are allowed. Each row
 * moves at most once; of a chunk whose rows are all in the array only the header changes. Errors:
 * STALE_ENTITY, TYPE_MISMATCH (not SHARED). */
WEFT_API weft_result weft_entity_set_shared_many(weft_world *world, const weft_entity *entities,
                                                 uint32_t count, weft_component component,
                                                 const void *value);

/* The shared value of an entity: all zero when it was never set; NULL when it, or its residue,
 * lacks the component. Checked builds name another kind of component (TYPE_MISMATCH, BAD_HANDLE):
 * the step for a system, which gets memory that nothing reads; weft_world_error for the owner.
 * Valid while an entity, filter or recorder uses the value. Threads: any while unchanged. */
WEFT_API const void *weft_entity_read_shared(const weft_world *world, weft_entity entity,
                                             weft_component component);

/* The values of a SHARED component that entities or filters use: the default first, the others in
 * the order of their bytes. Writes up to `capacity` pointers, returns how many there are. Threads:
 * owner. Cost: O(n log n). */
WEFT_API uint32_t weft_shared_values(const weft_world *world, weft_component component,
                                     const void **out, uint32_t capacity);

/* ---- built-in components ---- */

/* The tag Prefab: excludes an entity from queries that do not name it. Adding it to the root of
 * a linked group, or removing it, by any call, does the same to all living members. A member
 * that joins later gets the tag when it is added to the root again. Threads: owner.
 */
WEFT_API weft_component weft_component_prefab(const weft_world *world);

/* The tag Inactive: excludes one entity from queries that do not name it. To hide a group, add it
 * to all elements of the LinkedGroup (weft_entity_change_many). Threads: owner. */
WEFT_API weft_component weft_component_inactive(const weft_world *world);

/* The buffer LinkedGroup: elements are weft_entity, element 0 is the root. Destroy, instantiate and
 * the Prefab tag follow the group of the root, and the groups of its members. Threads: owner.
 */
WEFT_API weft_component weft_component_linked_group(const weft_world *world);

/* ---- where entities are stored, for tools ---- */

/* The place of an entity; the next structural change may move it. */
typedef struct weft_entity_place {
    weft_archetype archetype;
    uint32_t chunk;          /* position among the chunks of the archetype */
    uint32_t row;            /* in the chunk, below chunk_rows */
    uint32_t chunk_rows;     /* rows there are in the chunk */
    uint32_t chunk_capacity; /* rows that fit it */
} weft_entity_place;

/* Where an entity is stored now. `out_bytes`: sizeof *out. Errors (*out is zeroed):
 * INVALID_ARGUMENT, STALE_ENTITY. Threads: owner. */
WEFT_API weft_result weft_entity_place_get(const weft_world *world, weft_entity entity,
                                           weft_entity_place *out, size_t out_bytes);

/* Memory of an archetype, in bytes and rows. A row is the values and the handle of one entity,
 * with the inline elements of buffers. Invariant: bytes == bytes_used + bytes_wasted. */
typedef struct weft_archetype_stats {
    uint64_t entities;
    uint64_t capacity;       /* entities that fit its chunks */
    uint64_t bytes;          /* mapped for its chunks */
    uint64_t bytes_used;     /* by the rows of its entities */
    uint64_t bytes_wasted;   /* by rows that are free, padding and alignment of columns */
    uint64_t bytes_metadata; /* of its chunks: objects, versions, enable bits, chunk values */
    uint32_t chunks;
    uint32_t tuples;    /* combinations of shared values in its chunks; 1 without SHARED components;
                        0 without chunks */
    uint32_t row_bytes; /* per entity */
} weft_archetype_stats;

/* Memory of an archetype. `out_bytes`: sizeof *out. Errors (*out is zeroed): INVALID_ARGUMENT,
 * BAD_HANDLE. Threads: owner. Cost: O(chunks). */
WEFT_API weft_result weft_archetype_stats_get(const weft_world *world, weft_archetype archetype,
                                              weft_archetype_stats *out, size_t out_bytes);

/* How full the chunks of an archetype are: bands[i] gets the number of chunks whose rows take a
 * share of [i / count, (i + 1) / count) of their capacity; full ones are in the last. Returns the
 * number of chunks; 0 for a bad handle. Threads: owner. Cost: O(chunks). */
WEFT_API uint32_t weft_archetype_occupancy(const weft_world *world, weft_archetype archetype,
                                           uint32_t *bands, uint32_t count);

/* Living entities whose name contains `part`, whatever the case of ASCII letters: writes up to
 * `capacity`, in an order that stays as long as no name changes, returns how many there are. "":
 * all that have a name. Threads: owner. Cost: O(names). */
WEFT_API uint32_t weft_entity_search(const weft_world *world, const char *part, weft_entity *out,
                                     uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
