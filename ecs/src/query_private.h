/* query_private.h: what a query is inside: terms, matches, the flat list of chunks, and the sources
 * that cut it into runs of rows.
 *
 * A query is shared by all handles with the same description; the filter belongs to the handle.
 * Matches are kept in ascending archetype number, which is the order of iteration; `groups` index
 * them by words of the world's bitmap of non-empty archetypes, so that empty archetypes cost
 * nothing. Who dispatches to jobs prepares the flat list (weft__query_flat) and gives ranges of its
 * slice positions to weft__slice_source; nothing of that allocates.
 *
 * Threads: the owner creates, matches, prepares; workers read between sync points. */
#ifndef WEFT_QUERY_PRIVATE_H
#define WEFT_QUERY_PRIVATE_H

#include "filter.h"
#include "query_registry.h"

struct weft__archetype;
struct weft__chunk;

#define WEFT__NO_POSITION UINT32_MAX
#define WEFT__ALTERNATIVE_LIMIT 64 /* descriptions of one query: bits of a word */
#define WEFT__MASK_WORDS 16        /* words of the enable mask of a slice: at most 1,024 rows */

/* A term as given, with what its component is. */
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
} weft__query_term;

/* One archetype that matches. */
typedef struct weft__match {
    struct weft__archetype *archetype;
    uint64_t alternatives; /* descriptions that match it; rows must satisfy one of them */
    uint32_t archetype_index;
    bool has_masks; /* some term's enable bits decide about its rows */
} weft__match;

/* The matches whose archetype numbers share a word of the bitmap: match number of bit b is
 * first + popcount(mask & (bit - 1)). */
typedef struct weft__match_group {
    uint64_t mask;
    uint32_t word;
    uint32_t first;
} weft__match_group;

/* A chunk of the flat list: slice positions [first_slice, next entry's first_slice). */
typedef struct weft__flat_entry {
    struct weft__chunk *chunk;
    uint64_t first_row;   /* rows of the query before it */
    uint32_t first_slice; /* slices of the query before it */
    uint32_t match;       /* index in matches */
} weft__flat_entry;

/* All chunks of a query in order; valid while `version` is the world's layout version. The last
 * entry is a sentinel (chunk NULL) that holds the totals. */
typedef struct weft__query_flat {
    weft__flat_entry *entries;
    uint32_t count; /* without the sentinel */
    uint32_t capacity;
    uint64_t version; /* world->layout_version it was made for; 0 = never */
    uint64_t match_version;
} weft__query_flat;

struct weft__query {
    /* constant after create */
    weft_world *world;
    weft__query_term *terms; /* [term_count] in the order of the description: index = column */
    uint32_t term_count;
    uint32_t alternative_count;
    uint64_t any_alternatives; /* descriptions that have ANY terms */
    uint64_t hash;
    bool with_prefabs, with_disabled, ignore_enabled;
    bool has_masking_terms;
    uint32_t key_count;
    uint32_t *keys; /* component ids the query is filed under; none = unkeyed */
    uint32_t write_count;
    uint32_t *writes; /* term indices with WRITE access to a column */
    /* owner */
    uint32_t references; /* handles */
    weft__query *next;   /* of the same hash bucket */
    weft__match *matches;
    uint32_t *positions; /* [match * term_count + term]: position in the archetype's sorted types,
                            or NO_POSITION */
    uint32_t match_count;
    uint32_t match_capacity;
    weft__match_group *groups;
    uint32_t group_count;
    uint32_t group_capacity;
    weft__query_flat flat;
};

/* What a weft_query names: a share of a query, and a filter. */
struct weft__query_handle {
    weft__query *query; /* NULL = free slot */
    weft__filter filter;
    uint32_t generation;
    uint32_t next_free;
    uint32_t users; /* systems that hold it: destroying it is BUSY */
};

/* ---- handles ---- */

/* The handle's state, or NULL (and BAD_HANDLE set in the world's error by _checked). */
weft__query_handle *weft__query_find(const weft_world *world, weft_query query);
weft__query_handle *weft__query_find_checked(const weft_world *world, weft_query query);
/* A system holds / drops the handle. `query` is valid. */
void weft__query_acquire(weft_world *world, weft_query query);
void weft__query_release(weft_world *world, weft_query query);

/* ---- matches ---- */

static inline const uint32_t *weft__match_positions(const weft__query *query, uint32_t match)
{
    return query->positions + (size_t)match * query->term_count;
}
/* Number of the match of an archetype, or NO_POSITION. O(log matches). */
uint32_t weft__query_match_find(const weft__query *query, uint32_t archetype_index);
/* Number of the first term on this component that is part of every archetype that can match by it,
 * or NO_POSITION. */
uint32_t weft__query_term_find(const weft__query *query, uint32_t component);

/* ---- the flat list ---- */

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

/* ---- contexts: what stands behind weft_slice.context ---- */

typedef struct weft__slice_context weft__slice_context;

/* What a slice can reach beyond its rows; NULL members mean "outside systems". */
typedef struct weft__slice_ops {
    const void *(*get)(const weft_slice *slice, weft_entity entity, weft_component component);
    void *(*get_write)(const weft_slice *slice, weft_entity entity, weft_component component);
    void *(*resource)(const weft_slice *slice, weft_component component, weft_access access);
    weft_commands *(*commands)(const weft_slice *slice);
    /* reports a broken declaration of a checked build; NULL: the owner's error is set */
    void (*report)(const weft_slice *slice, uint32_t term, weft_access access);
} weft__slice_ops;

/* First member of whatever weft_slice.context points to. Constant while slices are out. */
struct weft__slice_context {
    const weft__slice_ops *ops; /* NULL = a cursor of the owner */
    weft_world *world;
    const weft__query *query;
    uint32_t stamp; /* change version that writes get */
};

/* ---- sources: runs of rows out of a range of slice positions ---- */

/* Where a source or cursor writes pointers and masks of the current run. */
typedef struct weft__slice_source {
    /* given */
    const weft__slice_context *context;
    const weft__filter *filter; /* NULL = none; not changed while the source is used */
    uint32_t since;             /* replaces the `since` of change and order filters ... */
    bool has_since;             /* ... if set */
    uint32_t run_slices;        /* slices merged into one run at most; 1 = one slice per call */
    void **columns;             /* [term_count] of the query */
    uint64_t *mask;             /* [WEFT__MASK_WORDS] */
    /* state */
    uint32_t position;     /* next slice position */
    uint32_t end;          /* one past the last */
    uint32_t entry;        /* flat entry that holds `position` */
    uint32_t passed_entry; /* entry whose chunk-level filters were evaluated ... */
    uint32_t passed;       /* ... and what came out (weft__filter_verdict) */
} weft__slice_source;

/* Starts at slice positions [begin, end) of the context's query, whose flat list is prepared. The
 * given fields are set by the caller before. Any worker; allocates nothing. */
void weft__slice_source_begin(weft__slice_source *source, uint32_t begin, uint32_t end);
/* Fills count, term_count, columns, entities, enabled, first, index, chunk and context of `slice`
 * with the next run whose filters pass and which has an enabled row, and stamps the change versions
 * of written columns. False at the end of the range. A run with an enable mask is never longer than
 * one slice. Different workers may use different sources over disjoint ranges. */
bool weft__slice_source_next(weft__slice_source *source, weft_slice *slice);

/* ---- parts of it, for those who cut by themselves ---- */

/* Fills `columns` with the first rows of the terms' columns of a match, from row `row` on. */
void weft__query_columns(const weft__query *query, uint32_t match, const struct weft__chunk *chunk,
                         uint32_t row, void **columns);
/* Stamps the written columns of slices [first, last] of a chunk. */
void weft__query_stamp(const weft__query *query, uint32_t match, struct weft__chunk *chunk,
                       uint32_t first, uint32_t last, uint32_t stamp);

typedef enum weft__rows {
    WEFT__ROWS_NONE, /* no row of the slice is enabled */
    WEFT__ROWS_ALL,  /* all are: no mask */
    WEFT__ROWS_SOME, /* the mask says which */
} weft__rows;

/* The enable mask of a slice of a match into `mask`. Only useful when the match has masks. */
weft__rows weft__query_mask(const weft__query *query, uint32_t match,
                            const struct weft__chunk *chunk, uint32_t slice, uint64_t *mask);

#endif
