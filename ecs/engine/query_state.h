/* SPDX-License-Identifier: MIT */
/* query_state.h: what a query is inside: terms, matches, the flat list of chunks; and what a slice
 * reaches through its context; and the queries of a world.
 *
 * A query is shared by all handles with the same description; the filter belongs to the handle.
 * Matches are kept in ascending archetype number, which is the order of iteration. The flat list of
 * a query has all its chunks with prefix sums of slices and rows; it is made again when structure
 * has changed. Cursors, jobs and counts walk ranges of slice positions of it; nothing of that
 * allocates.
 *
 * A new query walks the shortest list of the component index that can hold its matches
 * (archetype_state.h); a new archetype asks only the queries filed under one of its components, as
 * the order of archetypes says (archetype.c) through world->matching. Archetypes and queries that
 * have nothing to do with each other never meet.
 *
 * Threads: the owner creates, matches, prepares; workers read between sync points. */
#pragma once

#include "error.h"
#include "filter.h"

#define WEFT__QUERY_ALIGNMENT ((size_t)16) /* of its arrays */
#define WEFT__ALTERNATIVE_LIMIT 64         /* descriptions of one query: bits of a word */
#define WEFT__MASK_WORDS WEFT_MASK_WORDS

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
 *   all.at[i]->place == i;
 *   handle_count = handles with a query = sum of the queries' references;
 *   handle_count + retired_count + handles on the free list = handles.count - 1. */
typedef struct weft__queries {
    WEFT__LIST(weft__query_list)
    keyed;                                    /* [component id]: those that can match (by one
                                           description) only where the component is */
    weft__query_list unkeyed;                 /* queries that any archetype may match */
    WEFT__LIST(weft__query *) all;            /* distinct queries, found by `numbers` */
    weft__table numbers;                      /* places in `all`, from 1, by content hash */
    WEFT__LIST(weft__query_handle *) handles; /* [handle index]; [0] is none */
    uint32_t free_handle;                     /* head of the list of free handles, 0 = none */
    uint32_t handle_count;                    /* alive */
    uint32_t retired_count;  /* indices whose handles are used up: none ever comes back */
    uint64_t match_version;  /* +1 whenever a query gains a match */
    weft__query_loops loops; /* of the owner */
} weft__queries;

/* A term as given, with what its component is. Owner: the query; constant after create.
 * is_masking: only if is_enableable and the query does not ignore enable bits. */
typedef struct weft__query_term {
    uint32_t component;
    uint8_t access;      /* weft_access */
    uint8_t match;       /* weft_match */
    uint8_t alternative; /* dense: bit number in weft__match.alternatives */
    bool is_shared;
    bool is_chunk_value;
    bool is_masking; /* its enable bits decide about rows (ENABLEABLE; ALL, ANY, NONE, DISABLED;
                          not ignored) */
    bool is_enableable;
    bool has_column; /* a column where the archetype has it */
    bool is_buffer;  /* whose rows only weft_buffers can tell apart */
    /* SPARSE: its type where rows of other archetypes are asked for it, one by one; NULL for the
     * term that names the query's own rows (sparse_rows) */
    bool is_sparse;
    const weft__type *sparse;
} weft__query_term;

/* One archetype that matches. Owner: the query. Always:
 *   number == archetype->number, alternatives != 0;
 *   sole_mask != WEFT__NONE: has_masks. */
typedef struct weft__match {
    weft__archetype *archetype;
    uint64_t alternatives; /* descriptions that match it; rows must satisfy one of them */
    uint32_t number;       /* of the archetype */
    uint32_t sole_mask;    /* the only term whose bits, or SPARSE rows, decide; WEFT__NONE:
                              several, or none */
    bool has_masks;        /* some term's enable bits decide about its rows */
} weft__match;

/* A chunk of the flat list: slice positions [first_slice, next entry's first_slice). It repeats
 * what a walk needs of the chunk (which cannot change while the list is valid), so that loops
 * without filters read one line per chunk, in order. Owner: the flat list. While it is valid:
 *   count == chunk->count == entry[1].first_row - first_row;
 *   entry[1].first_slice - first_slice == weft__chunk_slices(chunk). */
typedef struct weft__flat_entry {
    _Alignas(64) weft__chunk *chunk; /* NULL: the sentinel */
    char *base;
    const weft__layout *layout;
    weft_a32 *x_written;  /* versions of the first written term; NULL: none here */
    uint64_t first_row;   /* rows of the query before it */
    uint32_t first_slice; /* slices of the query before it */
    uint32_t match;       /* index in matches */
    uint32_t count;       /* rows */
} weft__flat_entry;

/* A chunk as a cursor shows it: pairs of fields in the order of weft_slice, copied two at a time.
 * The pointers to the columns are ready, so that a loop body has them as soon as its position is
 * known: with 20 rows a chunk, a body that waits for them costs as much again as the walk
 * (docs/design/storage.md, very small chunks).
 * Owner: the flat list. */
typedef struct weft__view {
    _Alignas(64) void *const *columns; /* [term]: first row, or NULL */
    const weft_entity *entities;
    uint64_t first; /* rows of the query before it */
    uint32_t index; /* slices of the query before it */
    uint32_t worker;
    weft__chunk *chunk;
    const weft__place *places;
    weft_a32 *x_written; /* version to stamp if there is one; else entry and terms tell */
    uint32_t count;
    uint32_t stamps; /* 0, 1: *x_written, 2: more */
} weft__view;

/* All chunks of a query in order. Owner: the query. Valid while version == structure_version of the
 * world: then count < capacity and entries[count] is a sentinel (chunk NULL) that holds the totals.
 * views[0, count) are valid while view_version == structure_version. */
typedef struct weft__query_flat {
    weft__flat_entry *entries;
    uint32_t count; /* without the sentinel */
    uint32_t capacity;
    uint64_t version; /* world->front.structure_version it was made for; 0 = never */
    /* Where the entities with a rare SPARSE component are: bit per location (directory.h), made
     * with the list; `rare` NULL: no required one is rare, or there was no memory. */
    const weft__type *rare;
    uint64_t *rare_words;
    uint32_t rare_capacity; /* words */
    /* for cursors without filter and masks */
    weft__view *views;      /* [entry], and columns behind: NULL until needed */
    uint32_t view_capacity; /* in entries */
    uint64_t view_version;  /* as `version` */
} weft__query_flat;

/* What equal descriptions share. Owner: world->front.queries; freed when references == 0. Always:
 *   matches ascend by number; match_count <= match_capacity and <= place_capacity;
 *   key_count <= alternative_count; stamp_count is write_count or 0. */
struct weft__query {
    /* constant after create */
    weft_world *world;
    weft__query_term *terms; /* [term_count] in the order of the description: index = column */
    uint32_t term_count;
    uint32_t alternative_count;
    uint64_t any_alternatives; /* descriptions that have ANY terms */
    uint64_t hash;
    bool with_prefabs, with_inactive, ignores_enabled, stamps_asked;
    bool has_masking_terms;
    bool has_buffers;       /* terms on BUFFER components */
    bool is_of_sparse_rows; /* all its terms are SPARSE: its rows are those of the first that every
                               row must have */
    bool has_sparse_terms;  /* some term's `sparse` is not NULL */
    bool has_static_masks;  /* has_masking_terms, when hidden_flags is 0 */
    uint32_t hidden_flags; /* is_of_sparse_rows: rows of entities whose archetypes have one of these
                               are left out; 0 while the world has none. With `flat` */
    uint32_t key_count;
    uint32_t *keys; /* component ids the query is filed under; none = unkeyed */
    uint32_t write_count;
    uint32_t *writes;     /* term indices with WRITE access */
    uint32_t stamp_count; /* of them, stamped when a slice is visited: all, or none */
    /* owner */
    uint32_t references; /* handles */
    uint32_t place;      /* in weft__queries.all */
    weft__match *matches;
    weft__place *places; /* [match * term_count + term] */
    uint32_t match_count;
    uint32_t match_capacity;
    uint32_t place_capacity; /* in matches */
    weft__query_flat flat;
};

/* The id of a weft_query is {generation, index}. */
#define WEFT__QUERY_INDEX_BITS 20
#define WEFT__QUERY_INDEX_MASK ((1u << WEFT__QUERY_INDEX_BITS) - 1)
#define WEFT__QUERY_GENERATION_LAST (UINT32_MAX >> WEFT__QUERY_INDEX_BITS)

/* What a weft_query names: a share of a query, and a filter. Owner: world->front.queries, at one
 * address until the world ends or its generations are used up. query == NULL: it is in the list of
 * free handles, and users == 0. */
struct weft__query_handle {
    weft__query *query; /* NULL = free slot */
    weft__filter filter;
    uint32_t generation;
    uint32_t next_free;
    uint32_t users; /* systems that hold it: destroying it is BUSY */
    /* What the last function given to weft_query_each_parallel costs a slice: a short loop stays
     * inline. */
    void (*each_run)(weft_slice *slice, void *user);
    weft_job_cost each_cost;
};

/* ---- contexts: weft_slice.context points to a weft_slice_context (slice.h), the first member of
 * whatever the dispatcher keeps per slice ---- */

/* What a slice can reach beyond its rows; one table per kind of dispatcher, a constant of its
 * source. */
typedef struct weft__slice_ops {
    void *(*get)(const weft_slice *slice, weft_entity entity, weft_component component);
    void *(*get_write)(const weft_slice *slice, weft_entity entity, weft_component component);
    /* whether values of other entities may be read; reports it if not */
    bool (*may_find)(const weft_slice *slice, weft_component component);
    void *(*resource)(const weft_slice *slice, weft_component component, weft_access access);
    weft_recorder *(*commands)(const weft_slice *slice); /* NULL: there is none */
    /* A broken declaration, found by checked builds: `term` may be beyond the terms. Or, of a term
     * that exists, `type`, not NULL, is another C type than it holds; or the slice has not so many
     * rows as `row`, unless that is WEFT__NONE. */
    void (*report)(const weft_slice *slice, uint32_t term, weft_access access, uint32_t row,
                   const char *type);
    /* whether change versions of the term can be asked for; reports it if not. NULL: they can */
    bool (*asks)(const weft_slice *slice, uint32_t term);
    const struct weft__new_row_ops *new_rows; /* not NULL where calls has WEFT_SLICE_ROWS */
} weft__slice_ops;

/* What rows that a recorder gave (WEFT_SLICE_ROWS) can reach of themselves: a term is a position in
 * the archetype, there is no query, and no place. What is wrong is noted in the recorder. One
 * constant table (recorder.c); all functions are set. */
typedef struct weft__new_row_ops {
    bool (*are_here)(const weft_slice *slice); /* false, and noted: they were played */
    void *(*column)(const weft_slice *slice, uint32_t term, weft_access access);
    void *(*column_as)(const weft_slice *slice, uint32_t term, weft_access access, size_t size,
                       const char *type);
    const void *(*shared)(const weft_slice *slice, uint32_t term);
    void (*enable)(const weft_slice *slice, uint32_t term, uint32_t row, bool enabled);
} weft__new_row_ops;

static inline const weft__slice_ops *weft__slice_ops_of(const weft_slice *slice)
{
    return ((const weft_slice_context *)slice->context)->ops;
}

static inline void weft__slice_report(const weft_slice *slice, uint32_t term, weft_access access)
{
    weft__slice_ops_of(slice)->report(slice, term, access, WEFT__NONE, NULL);
}

static inline const weft__query *weft__slice_query(const weft_slice *slice)
{
    return ((const weft_slice_context *)slice->context)->query;
}

/* ---- handles: owner changes them while the world is idle; look-up is for any thread ---- */

/* The handle's state, or NULL (and BAD_HANDLE set in the world's error by _checked). */
static inline weft__query_handle *weft__query_find(const weft_world *world, weft_query query)
{
    const weft__world_front *front = weft__front(world);
    const weft__queries *queries = front->queries;
    uint32_t index = query.id & WEFT__QUERY_INDEX_MASK;
    if (query.world != front->number || index == 0 || index >= queries->handles.count) return NULL;
    weft__query_handle *handle = queries->handles.at[index];
    bool is_alive =
        handle->query != NULL && handle->generation == query.id >> WEFT__QUERY_INDEX_BITS;
    return is_alive ? handle : NULL;
}
weft__query_handle *weft__query_find_checked(const weft_world *world, weft_query query);
/* A system holds / drops the handle. `query` is valid. */
void weft__query_acquire(weft_world *world, weft_query query);
void weft__query_release(weft_world *world, weft_query query);

/* The terms of a query's description. */
weft__given weft__query_terms_given(const weft_query_desc *desc);

/* ---- matches, and the list of chunks: owner, world idle; workers read them between ---- */

static inline const weft__place *weft__match_places(const weft__query *query, uint32_t match)
{
    return query->places + (size_t)match * query->term_count;
}
/* Index of the match of an archetype number, or WEFT__NONE. O(log matches). */
uint32_t weft__query_match_find(const weft__query *query, uint32_t number);
/* Index of the first term on this component that is not ABSENT, or WEFT__NONE. */
uint32_t weft__query_term_find(const weft__query *query, uint32_t component);

#define WEFT__FLAT_ALIGNMENT ((size_t)64) /* an entry is a line */

/* Makes the flat list current. Owner, world idle. Errors: OUT_OF_MEMORY. O(1) when nothing changed
 * structure since, else O(matches + chunks). */
weft_result weft__query_flat_prepare(weft__query *query);
/* Slices of the query: positions are [0, count). After prepare. */
static inline uint32_t weft__query_slice_count(const weft__query *query)
{
    return query->flat.entries == NULL ? 0 : query->flat.entries[query->flat.count].first_slice;
}
/* Rows of the query, filters and enable bits not counted. After prepare. */
static inline uint64_t weft__query_row_count(const weft__query *query)
{
    return query->flat.entries == NULL ? 0 : query->flat.entries[query->flat.count].first_row;
}
/* The entry that holds slice position `slice` (< slice count). O(log chunks). */
uint32_t weft__query_flat_find(const weft__query *query, uint32_t slice);

/* The first slice of [slice, end) of a chunk in which an entity has flat.rare, which is not NULL;
 * `end`: none. Any thread. */
uint32_t weft__query_rare_next(const weft__query *query, const weft__chunk *chunk, uint32_t slice,
                               uint32_t end);

/* ---- all queries of a world: owner ---- */

/* Makes world->front.queries. Before the first archetype. Errors: OUT_OF_MEMORY. */
weft_result weft__queries_create(weft_world *world);
/* Frees all queries, handles and filters. Filters drop their shared values, so it comes before the
 * end of the shared store. */
void weft__queries_destroy(weft_world *world);
/* Whether the books of all queries are right: handles, matches, valid lists of chunks. False: the
 * text names the first wrong one. Cost: O(handles, matches and listed chunks). */
bool weft__queries_check(const weft_world *world, char *text, size_t text_bytes);
/* Visits the references that filters hold on shared values. For the invariant checker. */
void weft__queries_shared_visit(const weft_world *world,
                                void (*visit)(void *user, uint32_t component, uint32_t index),
                                void *user);
