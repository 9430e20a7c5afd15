/* SPDX-License-Identifier: MIT */
/* entity.h: entities and immediate structural changes: single, array. Query-wide forms are in
 * query.h, recorded forms (from jobs) in commands.h.
 *
 * Public. Unless a function says otherwise: Threads: owner, while the world is idle (no system
 * runs, no query is iterated), else WRONG_PHASE. A call that fails leaves the world unchanged;
 * the text of weft_world_error says what to do. Every function may return INVALID_ARGUMENT
 * (NULL), BAD_HANDLE (a component or archetype of another world; an entity with the tag of
 * another world, see WEFT_ENTITY_TAG_SHIFT), STALE_ENTITY, OUT_OF_MEMORY and LIMIT (of the
 * world's descriptor). Arrays of components may have any length. Adding, removing and destroying
 * move rows: pointers into columns are valid until then. A row that moves keeps its values,
 * enable bits and buffers. Adding a component that is present, or removing one that is absent,
 * does nothing. Destroying a dead entity is STALE_ENTITY. A destroyed entity with CLEANUP
 * components stays as a residue with only these, until they are removed. A residue may get
 * components again; a second destroy removes all but its CLEANUP components. */
#ifndef WEFT_ENTITY_H
#define WEFT_ENTITY_H

#include <weft/component.h>

#ifdef __cplusplus
#include <initializer_list>
extern "C" {
#endif

/* Built-in components of every world: Prefab and Inactive exclude an entity from queries that do
 * not name them; LinkedGroup is a buffer of weft_entity whose element 0 is the root. Destroy,
 * instantiate and the Prefab tag follow the group; groups of members are not followed further.
 * Adding Prefab to a root, or removing it, does the same to the living members of its group at
 * that moment, in every form: single, array, query-wide, set archetype, recorded. A later member
 * gets the tag when it is added to the root again. Inactive concerns one entity: to hide a
 * group, add it to all elements of its LinkedGroup (weft_entity_change_many).
 */
WEFT_API weft_component weft_component_prefab(const weft_world *world);
WEFT_API weft_component weft_component_inactive(const weft_world *world);
WEFT_API weft_component weft_component_linked_group(const weft_world *world);

/* The archetype of a set of components (any order, no duplicates). Null on failure: BAD_HANDLE,
 * INVALID_ARGUMENT, TYPE_MISMATCH (a RESOURCE), LIMIT, OUT_OF_MEMORY, WRONG_PHASE. Cost:
 * O(components) when it exists. */
WEFT_API weft_archetype weft_archetype_create(weft_world *world, const weft_component *components,
                                              uint32_t count);
/* The archetype of listed components: WEFT_ARCHETYPE(world, position, velocity). The list is
 * evaluated twice. */
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
/* Values of one component: an array with a value for each entity concerned. A list of these names
 * each component once, in any order. */
typedef struct weft_values {
    weft_component component;
    const void *values;
} weft_values;
/* A list and its length, as two arguments: WEFT_VALUES({position, at}, {velocity, speeds}). */
#ifdef __cplusplus
#define WEFT_VALUES(...)                                                                           \
    std::initializer_list<weft_values>{__VA_ARGS__}.begin(),                                       \
        static_cast<uint32_t>(std::initializer_list<weft_values>{__VA_ARGS__}.size())
#else
#define WEFT_VALUES(...)                                                                           \
    (const weft_values[]){__VA_ARGS__},                                                            \
        sizeof((const weft_values[]){__VA_ARGS__}) / sizeof(weft_values)
#endif
/* Writes up to `capacity` component types of an archetype; returns how many it has (0: bad handle).
 * Threads: owner. */
WEFT_API uint32_t weft_archetype_components(const weft_world *world, weft_archetype archetype,
                                            weft_component *out, uint32_t capacity);

/* One entity with zeroed components; null on failure (see weft_world_error). Its handle is that of
 * the lowest free index: handles depend on the history of the world only. */
WEFT_API weft_entity weft_entity_create(weft_world *world, weft_archetype archetype);
/* `count` entities, all or none. `out` (count handles) may be NULL. Values are zeroed. Errors:
 * BAD_HANDLE; for a null archetype the error that made it null, so WEFT_ARCHETYPE may stand in
 * the call. */
WEFT_API weft_result weft_entity_create_many(weft_world *world, weft_archetype archetype,
                                             uint32_t count, weft_entity *out);
/* `count` entities with data: `filled` lists arrays of `count` values, which are copied. Components
 * that it does not list, or lists with NULL, are zeroed. All or none.
 *   weft_entity_create_filled(world, ships, WEFT_VALUES({position, at}), count, out);
 * Errors: as weft_entity_create_many; INVALID_ARGUMENT also for a component that is listed twice or
 * that the archetype lacks; TYPE_MISMATCH for values of a tag, BUFFER, SHARED or CHUNK component.
 */
WEFT_API weft_result weft_entity_create_filled(weft_world *world, weft_archetype archetype,
                                               const weft_values *filled, uint32_t filled_count,
                                               uint32_t count, weft_entity *out);
/* `count` copies of `source` and of its linked group. References inside the group lead to the
 * copy. Names are copied; the Prefab tag and cleanup components are not. `out` gets the roots;
 * may be NULL. All or none. Errors: INVALID_ARGUMENT also for a residue, and for a linked group
 * whose element 0 is not `source`. */
WEFT_API weft_result weft_entity_instantiate(weft_world *world, weft_entity source, uint32_t count,
                                             weft_entity *out);

/* Destroys the entity, and the members of its linked group. The last row of its chunk moves into
 * the gap. */
WEFT_API weft_result weft_entity_destroy(weft_world *world, weft_entity entity);
/* Destroys the living entities of the array; duplicates and dead ones are skipped. Checked
 * builds refuse an array with entities of another world (BAD_HANDLE) and destroy none. */
WEFT_API weft_result weft_entity_destroy_many(weft_world *world, const weft_entity *entities,
                                              uint32_t count);

/* True while the entity exists (a cleanup residue exists). Threads: any while structure does not
 * change. */
WEFT_API bool weft_entity_is_alive(const weft_world *world, weft_entity entity);
/* The archetype, or null for a dead entity. Threads: as weft_entity_is_alive. */
WEFT_API weft_archetype weft_entity_archetype(const weft_world *world, weft_entity entity);
/* Where an entity is stored. For tools; the next structural change may move it. */
typedef struct weft_entity_place {
    weft_archetype archetype;
    uint32_t chunk;          /* position among the chunks of the archetype */
    uint32_t row;            /* in the chunk, below chunk_rows */
    uint32_t chunk_rows;     /* rows there are in the chunk */
    uint32_t chunk_capacity; /* rows that fit it */
} weft_entity_place;
/* Errors (*out is zeroed): INVALID_ARGUMENT, STALE_ENTITY. Threads: owner. */
WEFT_API weft_result weft_entity_place_get(const weft_world *world, weft_entity entity,
                                           weft_entity_place *out);

/* The archetypes of a world in the order in which queries visit them: 0 to
 * weft_world_stats.archetypes - 1; null beyond. That is the order of their creation, or of the
 * snapshot or file that was restored last; archetypes that it lacks are absent until they are
 * used or created again. Threads: owner. */
WEFT_API weft_archetype weft_archetype_at(const weft_world *world, uint32_t index);

/* Memory of an archetype. A row is the values and the handle of one entity, with the inline
 * elements of buffers. Invariant: bytes == bytes_used + bytes_wasted. */
typedef struct weft_archetype_stats {
    uint64_t entities;
    uint64_t capacity;       /* entities that fit its chunks */
    uint64_t bytes;          /* mapped for its chunks */
    uint64_t bytes_used;     /* by the rows of its entities */
    uint64_t bytes_wasted;   /* by rows that are free, padding and alignment of columns */
    uint64_t bytes_metadata; /* of its chunks, on the heap: versions, enable bits, chunk values */
    uint32_t chunks;
    uint32_t tuples;    /* combinations of shared values in its chunks; 1 without SHARED components;
                        0 without chunks */
    uint32_t row_bytes; /* per entity */
} weft_archetype_stats;
/* `out_bytes`: sizeof *out. Errors (*out is zeroed): INVALID_ARGUMENT, BAD_HANDLE. Threads: owner.
 * Cost: O(chunks). */
WEFT_API weft_result weft_archetype_stats_get(const weft_world *world, weft_archetype archetype,
                                              weft_archetype_stats *out, size_t out_bytes);
/* True when alive and with the component. Threads: as weft_entity_is_alive. */
WEFT_API bool weft_entity_has(const weft_world *world, weft_entity entity,
                              weft_component component);

/* The value for reading. NULL when the entity is dead, lacks the component, or has no value of
 * its own: a tag, SHARED or CHUNK (weft_world_error says which). Valid until the next structural
 * change. Does not stamp versions. Threads: owner; in systems use weft_slice_read_entity. Cost:
 * inline with <weft/finder.h>, which <weft/ecs.h> includes. */
WEFT_API const void *weft_entity_read(const weft_world *world, weft_entity entity,
                                      weft_component component);
/* As weft_entity_read, for writing: stamps the change version of its slice. NULL also while
 * systems run (WRONG_PHASE). */
WEFT_API void *weft_entity_write(weft_world *world, weft_entity entity, weft_component component);
/* The change version of the slice that holds the value; 0 when the entity is dead or lacks the
 * component (weft_world_error says which). Threads: as weft_entity_read. */
WEFT_API uint32_t weft_entity_change_version(const weft_world *world, weft_entity entity,
                                             weft_component component);
/* Writes a value of `size` bytes; adds the component when absent. The old value is destructed. A
 * component that is present may be set while iterating. Errors: TYPE_MISMATCH (wrong size, or a
 * BUFFER, SHARED, CHUNK or RESOURCE component: the text names the call that sets it). */
WEFT_API weft_result weft_entity_set(weft_world *world, weft_entity entity,
                                     weft_component component, const void *value, size_t size);
/* Sets the component of `count` entities, adding it where absent: entities[i] gets the `size`
 * bytes at values + i * size. An entity listed twice keeps its last value. All or none; rows
 * that move do so together. `values` may be NULL for a tag. Errors: as weft_entity_set. */
WEFT_API weft_result weft_entity_set_many(weft_world *world, const weft_entity *entities,
                                          uint32_t count, weft_component component,
                                          const void *values, size_t size);
#ifdef __cplusplus
#define WEFT_LITERAL_(type, ...) &static_cast<const type &>(type __VA_ARGS__)
#else
#define WEFT_LITERAL_(type, ...) &(type)__VA_ARGS__
#endif

/* Shorthand: weft_entity_set with a typed value: WEFT_SET(world, e, position, Position, {1, 2,
 * 3}). */
#define WEFT_SET(world, entity, component, type, ...)                                              \
    weft_entity_set((world), (entity), (component), WEFT_LITERAL_(type, __VA_ARGS__), sizeof(type))
/* Copies the values of many entities to `out` (count x size bytes). On an error `out` is filled
 * up to the entity that caused it. Errors: STALE_ENTITY, NOT_FOUND (the entity lacks the
 * component), TYPE_MISMATCH (no plain values: tag, BUFFER, SHARED, CHUNK, RESOURCE). Threads: as
 * weft_entity_read. Cost: overlaps cache misses; several times faster than single reads in
 * random order. */
WEFT_API weft_result weft_entity_read_many(const weft_world *world, const weft_entity *entities,
                                           uint32_t count, weft_component component, void *out);

/* Adds a component, zeroed. Errors: TYPE_MISMATCH (RESOURCE). Cost: moves the row. */
WEFT_API weft_result weft_entity_add(weft_world *world, weft_entity entity,
                                     weft_component component);
/* Removes a component. A residue ends with its last component; plain components keep it until it
 * is destroyed again. Errors and cost: as weft_entity_add. */
WEFT_API weft_result weft_entity_remove(weft_world *world, weft_entity entity,
                                        weft_component component);
/* What changes; zero means nothing. A component in both lists is removed. */
typedef struct weft_change_desc {
    const weft_component *add; /* zeroed values for entities that lack them */
    uint32_t add_count;
    const weft_component *remove;
    uint32_t remove_count;
} weft_change_desc;

/* Adds and removes sets of components of many entities, each row moved at most once. All or
 * none. Errors: STALE_ENTITY, INVALID_ARGUMENT (also a component twice in one set),
 * TYPE_MISMATCH (RESOURCE). */
WEFT_API weft_result weft_entity_change_many(weft_world *world, const weft_entity *entities,
                                             uint32_t count, const weft_change_desc *desc);
/* Moves the entity to an archetype: common components keep their values, others are zero or
 * removed. Cleanup components cannot be dropped this way (INVALID_ARGUMENT); a residue stays
 * one. */
WEFT_API weft_result weft_entity_set_archetype(weft_world *world, weft_entity entity,
                                               weft_archetype archetype);
/* Exchanges all component values and enable bits of two entities of the same archetype and the same
 * shared values; ids and names stay. Errors: TYPE_MISMATCH (they differ). */
WEFT_API weft_result weft_entity_swap(weft_world *world, weft_entity a, weft_entity b);

/* Sets the enable bit. TYPE_MISMATCH when not ENABLEABLE, NOT_FOUND when absent. Threads: owner,
 * also while iterating (not a structural change); systems that declared the write use
 * weft_slice_enable. */
WEFT_API weft_result weft_entity_enable(weft_world *world, weft_entity entity,
                                        weft_component component, bool enabled);
/* False when dead, absent or disabled. Threads: as weft_entity_is_alive. */
WEFT_API bool weft_entity_is_enabled(const weft_world *world, weft_entity entity,
                                     weft_component component);

/* Name of an entity (copied, up to 63 bytes kept); NULL and "" remove it. Several entities may
 * have the same name; instances get the names of their originals. Error texts show the name
 * beside the handle. Hashes and snapshots leave names out. WRONG_PHASE while systems run: use
 * weft_recorder_set_name. Threads: owner. */
WEFT_API weft_result weft_entity_set_name(weft_world *world, weft_entity entity, const char *name);
/* As weft_entity_set_name, for a name that no other living entity has now. Errors:
 * ALREADY_EXISTS (weft_error.entity has the name). Cost: as weft_entity_find. */
WEFT_API weft_result weft_entity_set_name_unique(weft_world *world, weft_entity entity,
                                                 const char *name);
/* The name; "" when it has none or is dead. Valid until the next name is set; instantiating a
 * named entity and playing commands set names, too. Threads: owner. */
WEFT_API const char *weft_entity_name(const weft_world *world, weft_entity entity);
/* The living entity with this name; of several the one with the lowest index; null with
 * NOT_FOUND when there is none. Threads: owner. Cost: O(entities that have the name, or had it
 * when they died, until the table of names grows). */
WEFT_API weft_entity weft_entity_find(const weft_world *world, const char *name);

/* ---- shared components ---- */

/* Gives an entity a shared value (adds the component when absent): the row moves to a chunk of the
 * new tuple of values. Values are de-duplicated by content. Errors: TYPE_MISMATCH (not SHARED). */
WEFT_API weft_result weft_entity_set_shared(weft_world *world, weft_entity entity,
                                            weft_component component, const void *value);
/* As weft_entity_set_shared for `count` entities, all or none; duplicates are fine. Each row
 * moves at most once; a chunk whose rows are all in the array changes by its header. Errors:
 * STALE_ENTITY, TYPE_MISMATCH (not SHARED). */
WEFT_API weft_result weft_entity_set_shared_many(weft_world *world, const weft_entity *entities,
                                                 uint32_t count, weft_component component,
                                                 const void *value);
/* The shared value of an entity (the default, all zero, if never set); NULL when dead or absent.
 * Valid while an entity, filter or recorder uses the value. Threads: as weft_entity_is_alive. */
WEFT_API const void *weft_entity_read_shared(const weft_world *world, weft_entity entity,
                                             weft_component component);
/* Values of a shared type that entities or filters use: the default first, the others in the
 * order of their bytes. Writes up to `capacity` pointers, returns how many there are. Threads:
 * owner. Cost: O(n log n). */
WEFT_API uint32_t weft_shared_values(const weft_world *world, weft_component component,
                                     const void **out, uint32_t capacity);
/* Order version of a shared value: changes when rows enter or leave chunks with this value. A
 * value that is not in use has that of the default; NULL is the default. 0 for a bad handle or a
 * component that is not SHARED. Threads: owner. */
WEFT_API uint32_t weft_shared_order_version(const weft_world *world, weft_component component,
                                            const void *value);

#ifdef __cplusplus
}
#endif
#endif
