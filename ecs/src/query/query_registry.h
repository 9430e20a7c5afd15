/* query_registry.h: the queries of a world and the component index that matches them.
 *
 * The component index lists, per component, the archetypes that have it (ascending) and where; a
 * new query walks the shortest list that can hold its matches, and a new archetype asks only the
 * queries filed under one of its components. Archetypes and queries that have nothing to do with
 * each other never meet.
 *
 * The number of an archetype is its place in the order (archetype_order.c). */
#ifndef WEFT_QUERY_REGISTRY_H
#define WEFT_QUERY_REGISTRY_H

#include <weft/query.h>

#include "shared.h"

struct weft__archetype;
typedef struct weft__query weft__query;
typedef struct weft__query_handle weft__query_handle;

#define WEFT__NO_PLACE UINT16_MAX

/* Where a component is in an archetype; NO_PLACE: nowhere. */
typedef struct weft__place {
    uint16_t type;       /* position among the types: versions */
    uint16_t column;     /* of the format; NO_PLACE: no column */
    uint16_t enableable; /* position among the enableable types */
    uint16_t shared;     /* position in the tuple */
} weft__place;

/* One archetype that has the component. */
typedef struct weft__index_entry {
    uint32_t archetype; /* number */
    weft__place place;
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
    weft__query_list keyed; /* queries that can match (by one description) only where it is */
} weft__component_list;

/* Owned by the world; changed by the owner while the world is idle, read by workers between. */
typedef struct weft__queries {
    weft__component_list *lists; /* [component id] */
    uint32_t list_capacity;
    uint32_t archetype_count;     /* archetypes entered */
    weft__query_list unkeyed;     /* queries that any archetype may match */
    weft__query **buckets;        /* by content hash, chained */
    uint32_t bucket_count;        /* 0 or a power of two */
    uint32_t query_count;         /* distinct queries */
    weft__query_handle **handles; /* [handle index]; [0] is NULL */
    uint32_t handle_end;          /* indices below were used */
    uint32_t handle_capacity;
    uint32_t free_handle;   /* head of the list of free handles, 0 = none */
    uint32_t handle_count;  /* alive */
    uint64_t match_version; /* +1 whenever a query gains a match */
    void *gathers;          /* open ones (gather.c); owner */
} weft__queries;

/* Makes world->queries. Before the first archetype. Errors: OUT_OF_MEMORY. */
weft_result weft__queries_create(weft_world *world);
/* Frees all queries, handles and filters. Filters drop their shared values, so it comes before the
 * end of the shared store. */
void weft__queries_destroy(weft_world *world);

/* Enters the next archetype (number = archetypes entered so far) into the index and into every
 * query that matches it. Two steps: reserve may fail with
 * OUT_OF_MEMORY and changes nothing that can be seen; commit, after it and before anything else,
 * cannot fail. Owner. Cost: O(its components + queries filed under one of them). */
weft_result weft__query_archetype_reserve(weft_world *world,
                                          const struct weft__archetype *archetype);
void weft__query_archetype_commit(weft_world *world, struct weft__archetype *archetype);
/* Takes the archetypes from number `count` on out again; lists keep their capacity, so entering as
 * many of the same cannot fail. Owner. Cost: O(component types + queries + entries). */
void weft__query_archetypes_cut(weft_world *world, uint32_t count);

/* The list of a component; an empty one when no archetype has had it. */
const weft__component_list *weft__component_list_at(const weft__queries *queries,
                                                    uint32_t component);

/* Visits the references that filters hold on shared values. For the invariant checker. */
void weft__queries_shared_visit(const weft_world *world, weft__shared_visit_fn visit, void *user);
/* Distinct queries alive. */
uint32_t weft__queries_count(const weft_world *world);

#endif
