/* query_registry.h: the queries of a world and the component index that matches them.
 *
 * The component index lists, per component, the archetypes that have it (ascending) and where in
 * their sorted type list; a new query walks the shortest list that can hold its matches, and a new
 * archetype asks only the queries filed under one of its components. Archetypes and queries that
 * have nothing to do with each other never meet. */
#ifndef WEFT_QUERY_REGISTRY_H
#define WEFT_QUERY_REGISTRY_H

#include <weft/query.h>

#include "heap.h"

typedef struct weft__query weft__query;
typedef struct weft__query_handle weft__query_handle;

/* One archetype that has the component, at `position` in its sorted list of types. */
typedef struct weft__index_entry {
    uint32_t archetype;
    uint32_t position;
} weft__index_entry;

/* A list of queries; grows only. */
typedef struct weft__query_list {
    weft__query **items;
    uint32_t count;
    uint32_t capacity;
} weft__query_list;

/* Of one component. Invariant: entries ascend by archetype. */
typedef struct weft__component_list {
    weft__index_entry *entries;
    uint32_t count;
    uint32_t capacity;
    weft__query_list keyed; /* queries of which every match (of one alternative) has it */
} weft__component_list;

/* Owned by the world; changed by the owner while the world is idle, read by workers between. */
typedef struct weft__query_registry {
    weft__memory *memory;
    weft__component_list *lists; /* [component id] */
    uint32_t list_capacity;
    uint32_t archetype_count;     /* archetypes added */
    weft__query_list unkeyed;     /* queries that any archetype may match */
    weft__query **buckets;        /* by content hash, chained */
    uint32_t bucket_count;        /* 0 or a power of two */
    uint32_t query_count;         /* distinct queries */
    weft__query_handle **handles; /* [handle index] */
    uint32_t handle_count;        /* slots made, free ones included; slot 0 is never used */
    uint32_t handle_capacity;
    uint32_t free_handle; /* head of the list of free slots, 0 = none */
    uint32_t handles_alive;
    uint64_t match_version; /* +1 whenever a query gains a match */
} weft__query_registry;

/* Writes an empty registry. Allocates nothing. */
void weft__query_registry_init(weft__query_registry *registry, weft__memory *memory);
/* Frees all queries, handles and filters. Filters drop their shared values, so it comes before the
 * end of the shared store. */
void weft__query_registry_fini(weft_world *world);

/* Enters archetype number `archetype` (= archetypes added so far) with its sorted component ids
 * into the index and into every query that matches it. Two steps: reserve may fail with
 * OUT_OF_MEMORY and changes nothing that can be seen; commit, after it and before anything else,
 * cannot fail. Owner. */
weft_result weft__query_archetype_reserve(weft_world *world, const uint32_t *components,
                                          uint32_t count);
void weft__query_archetype_commit(weft_world *world, struct weft__archetype *archetype,
                                  const uint32_t *components, uint32_t count);

/* The list of a component, or NULL when no archetype has had it. */
const weft__component_list *weft__component_list_find(const weft__query_registry *registry,
                                                      uint32_t component);

#endif
