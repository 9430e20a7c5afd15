/* SPDX-License-Identifier: MIT */
/* query_registry.h: the queries of a world, and under which components they are filed.
 *
 * A new query walks the shortest list of the component index that can hold its matches
 * (component_index.h); a new archetype asks only the queries filed under one of its components.
 * Archetypes and queries that have nothing to do with each other never meet.
 *
 * The number of an archetype is its place in the order (archetype_order.c), which calls the queries
 * through world->matching. */
#ifndef WEFT_QUERY_REGISTRY_H
#define WEFT_QUERY_REGISTRY_H

#include <weft/query.h>

#include "list.h"
#include "world_front.h"

typedef struct weft__query weft__query;
typedef struct weft__query_handle weft__query_handle;

/* The loops (query_cursor.h) of one thread, in use or not. Owner: weft__queries,
 * or a worker of the scheduler; the thread of the pool. */
typedef struct weft__query_loops {
    struct weft__query_loop *free; /* by next_free */
    struct weft__query_loop *all;  /* by next */
    weft__memory *memory;          /* constant */
} weft__query_loops;

/* Owner: weft__queries. */
typedef WEFT__LIST(weft__query *) weft__query_list;

/* Owned by the world; changed by the owner while the world is idle, read by workers between.
 * Always:
 *   query_count = queries in the buckets <= bucket_count;
 *   handle_count = handles with a query = sum of the queries' references;
 *   handle_count + retired_count + handles on the free list = handles.count - 1. */
typedef struct weft__queries {
    WEFT__LIST(weft__query_list)
    keyed;                                    /* [component id]: those that can match (by one
                                           description) only where the component is */
    weft__query_list unkeyed;                 /* queries that any archetype may match */
    weft__query **buckets;                    /* by content hash, chained */
    uint32_t bucket_count;                    /* 0 or a power of two */
    uint32_t query_count;                     /* distinct queries */
    WEFT__LIST(weft__query_handle *) handles; /* [handle index]; [0] is none */
    uint32_t free_handle;                     /* head of the list of free handles, 0 = none */
    uint32_t handle_count;                    /* alive */
    uint32_t retired_count;  /* indices whose handles are used up: none ever comes back */
    uint64_t match_version;  /* +1 whenever a query gains a match */
    weft__query_loops loops; /* of the owner */
} weft__queries;

/* The queries filed under a component; the list is made when it is new. NULL: no memory. */
weft__query_list *weft__queries_keyed(weft_world *world, uint32_t component);
/* Takes a query out of the lists it is filed under. */
void weft__query_unfile(weft__query *query);

/* Whether the books of all queries are right: handles, matches, valid lists of chunks. False: the
 * text names the first wrong one. Cost: O(handles, matches and listed chunks). */
bool weft__queries_check(const weft_world *world, char *text, size_t text_bytes);
/* Visits the references that filters hold on shared values. For the invariant checker. */
void weft__queries_shared_visit(const weft_world *world,
                                void (*visit)(void *user, uint32_t component, uint32_t index),
                                void *user);

#endif
