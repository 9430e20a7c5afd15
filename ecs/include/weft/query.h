/* SPDX-License-Identifier: MIT */
/* query.h: queries: selecting entities, filters, loops, access by index, and changes of all
 * entities that a query selects.
 *
 * Public. A query is matched once against the archetypes that exist, and later only against new
 * ones; equal descriptions share their matches. Filters belong to the handle. Unless a function
 * says otherwise: Threads: owner, world idle, else WRONG_PHASE. */
#ifndef WEFT_QUERY_H
#define WEFT_QUERY_H

#include <weft/slice.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- descriptions ---- */

/* How a term selects. Enable bits count for ALL, ANY, NONE and DISABLED on ENABLEABLE components.
 */
typedef enum weft_match {
    WEFT_ALL = 0,  /* has it, enabled */
    WEFT_ANY,      /* at least one of the ANY terms, enabled */
    WEFT_NONE,     /* lacks it, or has it disabled */
    WEFT_ABSENT,   /* lacks it, whatever the enable bits */
    WEFT_PRESENT,  /* has it, whatever the enable bits */
    WEFT_OPTIONAL, /* column if there, else NULL */
    WEFT_DISABLED, /* has it, disabled */
} weft_match;

/* What a query asks of one component. */
typedef struct weft_term {
    weft_component component;
    weft_access access;   /* default WEFT_READ */
    weft_match match;     /* default WEFT_ALL */
    uint32_t alternative; /* terms with the same number form an alternative; a row must satisfy one.
                             The position of a term is its column, whatever its alternative */
} weft_term;

/* Terms inside a weft_query_desc; more_terms has no limit. */
#define WEFT_INLINE_TERMS 12

/* Describes a query. Zero means default. Everything is copied. Without terms it selects every
 * entity. Residues (entity.h) are selected like others, by what they have: a query without terms,
 * or whose terms all say NONE, ABSENT or OPTIONAL, counts them, too. */
typedef struct weft_query_desc {
    weft_term terms[WEFT_INLINE_TERMS]; /* up to the first null component */
    const weft_term *more_terms;        /* continued here */
    uint32_t more_term_count;
    bool with_prefabs;    /* also match the Prefab tag (implied when a term names it) */
    bool with_inactive;   /* also match the Inactive tag (implied when a term names it) */
    bool ignores_enabled; /* treat every enable bit as set */
    /* A WRITE term stamps the change version of a slice when its column is requested
     * (weft_slice_write, weft_slice_write_buffers) or weft_slice_enable is called, not when the
     * slice is visited. For loops that change few of the slices they visit; requesting a column
     * becomes a call. */
    bool stamps_asked;
} weft_query_desc;

/* Makes a query. Threads: owner. Null on failure: BAD_HANDLE, INVALID_ARGUMENT
 * (contradicting terms, WRITE of a SHARED component, a RESOURCE, DISABLED where enable bits do
 * not count), LIMIT (64 alternatives; 2^32 handles), OUT_OF_MEMORY, WRONG_PHASE (systems run).
 * A destroyed handle never names another query. Cost: O(archetypes that can match). */
WEFT_API weft_query weft_query_create(weft_world *world, const weft_query_desc *desc);

/* Releases the handle and its filters. Errors: BAD_HANDLE, BUSY while a system uses it. */
WEFT_API weft_result weft_query_destroy(weft_world *world, weft_query query);

/* ---- what there is, for tools ---- */

/* The queries of the world, those that systems made for themselves included: writes up to
 * `capacity`, returns how many there are. Threads: owner. Cost: O(queries there ever were at once).
 */
WEFT_API uint32_t weft_query_list(const weft_world *world, weft_query *out, uint32_t capacity);

/* The terms of a query, in order: writes up to `capacity`, returns how many there are. 0: a bad
 * query. Threads: owner. */
WEFT_API uint32_t weft_query_terms(const weft_world *world, weft_query query, weft_term *out,
                                   uint32_t capacity);

/* What a query is. */
typedef struct weft_query_info {
    uint32_t archetypes;     /* that match */
    uint32_t systems;        /* that use it */
    uint32_t handles;        /* queries with this description, this one included */
    uint32_t shared_filters; /* conditions on shared values */
    uint32_t change_filters; /* on changes and order */
    uint64_t rows;           /* of its archetypes, filters and enable bits ignored */
    bool with_prefabs, with_inactive, ignores_enabled, stamps_asked;
} weft_query_info;

/* What a query is. `out_bytes`: sizeof *out. Errors: BAD_HANDLE, INVALID_ARGUMENT, OUT_OF_MEMORY.
 * Threads: owner. Cost: O(chunks) after structure changed. */
WEFT_API weft_result weft_query_info_get(const weft_world *world, weft_query query,
                                         weft_query_info *out, size_t out_bytes);

/* ---- filters ----
 *
 * Rows must satisfy all conditions on shared values, and at least one condition on changes or
 * order when there are any. Errors of all: BAD_HANDLE, INVALID_ARGUMENT (a component that the
 * query does not name, NULL, no values, more values than the operation takes), TYPE_MISMATCH
 * (not SHARED), WRONG_PHASE, OUT_OF_MEMORY. */

/* How a shared value is compared. */
typedef enum weft_filter_op {
    WEFT_FILTER_EQUAL,     /* the shared value is the one given */
    WEFT_FILTER_NOT_EQUAL, /* it is not */
    WEFT_FILTER_ONE_OF,    /* it is one of `count` values, an array */
} weft_filter_op;

/* Adds a condition on a SHARED component of the query. Values are copied. */
WEFT_API weft_result weft_query_filter_shared(weft_world *world, weft_query query,
                                              weft_component component, weft_filter_op op,
                                              const void *values, uint32_t count);

/* Selects slices in which the component changed after `since`, a weft_world_change_version (0:
 * all slices). Calls for several components select slices in which any of them changed; another
 * call for the same component replaces its `since`. In systems the version of the system's last
 * run replaces `since`. */
WEFT_API weft_result weft_query_filter_changed(weft_world *world, weft_query query,
                                               weft_component component, uint32_t since);

/* Selects chunks in which rows came, left or moved after `since`, a weft_world_change_version;
 * another call replaces `since`. */
WEFT_API weft_result weft_query_filter_order(weft_world *world, weft_query query, uint32_t since);

/* Removes all filters. */
WEFT_API weft_result weft_query_filter_reset(weft_world *world, weft_query query);

/* ---- questions and copies ----
 *
 * Filters and enable bits count. A bad query has no rows and sets the world's error. Threads:
 * owner or system; in a system the query was used before the step, or is one of its `queries`.
 * Cost: O(chunks) without filters and enable bits, else O(slices); copies: O(rows). */

/* The number of rows that the query selects. */
WEFT_API uint64_t weft_query_count(const weft_world *world, weft_query query);

/* Whether the query selects no row. */
WEFT_API bool weft_query_is_empty(const weft_world *world, weft_query query);

/* Whether the query selects the entity: by archetype, filters and enable bits. */
WEFT_API bool weft_query_matches(const weft_world *world, weft_query query, weft_entity entity);

/* The archetypes that match now: writes up to `capacity`, returns how many there are. */
WEFT_API uint32_t weft_query_archetypes(const weft_world *world, weft_query query,
                                        weft_archetype *out, uint32_t capacity);

/* Copies the entities of the selected rows in query order: writes up to `capacity`, returns how
 * many rows there are. */
WEFT_API uint64_t weft_query_entities(const weft_world *world, weft_query query, weft_entity *out,
                                      uint64_t capacity);

/* Copies the values of a component of the selected rows in query order, zeroes for rows without an
 * optional one: writes up to `capacity` values, returns how many rows there are. 0, with the
 * world's error set, for a component that the query does not name or that has no plain values. */
WEFT_API uint64_t weft_query_read_values(const weft_world *world, weft_query query,
                                         weft_component component, void *out, uint64_t capacity);

/* Writes `count` values to the selected rows in query order; the old values are destructed. Values
 * for rows that lack an optional component are skipped. Threads: owner. Errors:
 * INVALID_ARGUMENT (the count differs, or the query does not name the component), TYPE_MISMATCH
 * (no plain values), WRONG_PHASE. */
WEFT_API weft_result weft_query_write_values(weft_world *world, weft_query query,
                                             weft_component component, const void *values,
                                             uint64_t count);

/* The one entity that the query selects; null with NOT_FOUND (none) or INVALID_ARGUMENT
 * (several). */
WEFT_API weft_entity weft_query_single(weft_world *world, weft_query query);

/* ---- loops ----
 *
 *   weft_cursor c = weft_query_begin(world, query);
 *   while (weft_query_next(&c)) { Position *p = weft_slice_write(&c.slice, 0); ... }
 * Structural changes are refused until the loop ends; leave it early with weft_query_end. One that
 * a callback of a step leaves open ends with it, and the step is WRONG_PHASE. Unless a function
 * says otherwise: Threads: owner.
 *
 * Checked builds find columns that are requested in another way than the query declares.
 * docs/guide/queries.md, "Checked builds", lists what they find and what not. */

/* Private: words of the enable mask of one run, of at most 1,024 rows. */
#define WEFT_MASK_WORDS 16

/* A loop over the rows of a query, run by run. It may be copied and moved, and so may its slice. A
 * copy goes on from where it was taken; the loop ends once, for all copies. A slice is valid until
 * the cursor or a copy of it advances. */
typedef struct weft_cursor {
    weft_slice slice; /* the current run of rows */
    /* private from here on */
    const void *view; /* the next chunk, when there is no filter and no mask; else NULL */
    const void *view_end;
    void *loop;        /* NULL: it has no rows */
    uint64_t ticket;   /* another one in the loop means that this one has ended */
    uint32_t position; /* with filter or mask: the next slice position */
} weft_cursor;

/* Begins a loop of the owner. A bad query, no memory for its list of chunks, or a call while
 * systems run gives a cursor without rows and sets the world's error. */
WEFT_API weft_cursor weft_query_begin(weft_world *world, weft_query query);

/* Advances to the next run of rows; false at the end, which closes the cursor and its copies. */
WEFT_API bool weft_query_next(weft_cursor *cursor);

/* Closes a cursor that was left early, and its copies. A closed one and NULL are ignored. */
WEFT_API void weft_query_end(weft_cursor *cursor);

/* Calls `run` for all slices, on several workers at once, and waits. The order of calls is
 * unspecified; `run` may touch only its slice. When calls in `run` fail, the error of the lowest
 * slice becomes the world's after the loop. Errors: BAD_HANDLE, INVALID_ARGUMENT, WRONG_PHASE,
 * BUSY (another thread is in the world), LIMIT (256 guests in the pool), OUT_OF_MEMORY, FORKED
 * (the pool is the parent process's); in checked builds UNDECLARED_ACCESS (a write outside of its
 * rows, or through a pointer for reading or from an earlier call; a column that the query does
 * not have) and TYPE_MISMATCH. Threads: owner, world
 * idle. Cost: a loop too small to gain runs on the calling thread. */
WEFT_API weft_result weft_query_each_parallel(weft_world *world, weft_query query,
                                              void (*run)(weft_slice *slice, void *user),
                                              void *user);

/* ---- access by index ----
 *
 * A query as one array of rows. Filters count, enable bits do not. Unless a function says
 * otherwise: Threads: holder. */

/* Open access to the elements of one term. */
typedef struct weft_indexed {
    void *span_base;     /* biased: element i of the span is at span_base + i * stride */
    uint64_t span_begin; /* the cached span is [span_begin, span_end) */
    uint64_t span_end;
    uint64_t count;  /* elements */
    uint32_t stride; /* bytes of one element */
    uint32_t term;
    bool is_writable;  /* the term is declared WEFT_WRITE */
    weft_world *world; /* private from here on */
    void *spans;
    uint64_t span_count;
    uint64_t span_position;
} weft_indexed;

/* Opens a term's column for access by index, until weft_indexed_close. Do not use it after the next
 * structural change: checked builds give NULL then. A system may use it for a component of its
 * `lookups` or of a query in `queries`. Opening a WRITE term stamps all its slices. Errors:
 * BAD_HANDLE, INVALID_ARGUMENT (no column), OUT_OF_MEMORY, WRONG_PHASE (in a system:
 * structure changed since the query was last used). Threads: owner or
 * system. */
WEFT_API weft_result weft_indexed_open(weft_world *world, weft_query query, uint32_t term,
                                       weft_indexed *out);

/* Closes the access and frees its tables, of copies of it, too: close one of them. A closed one and
 * NULL are ignored. */
WEFT_API void weft_indexed_close(weft_indexed *indexed);

/* Private: moves the cached span so that it contains `i` (O(log chunks)); NULL when out of range
 * or when the structure changed. */
WEFT_API const void *weft_indexed_seek(weft_indexed *indexed, uint64_t i);

/* Private: reports writing through a term that is declared WEFT_READ. */
WEFT_API __attribute__((cold)) void *weft_indexed_refuse(const weft_indexed *indexed);

/* Element i for reading; NULL when i >= count or the term's component is absent there. Threads:
 * holder; copies of an open one may be used by other threads as long as only the original is
 * closed. Cost: O(1) in sequence, else O(log chunks). */
static inline const void *weft_indexed_read(weft_indexed *indexed, uint64_t i)
{
    if (i - indexed->span_begin < indexed->span_end - indexed->span_begin)
        return (const char *)indexed->span_base + i * indexed->stride;
    return weft_indexed_seek(indexed, i);
}

/* As weft_indexed_read, for writing. A term that is declared WEFT_READ is UNDECLARED_ACCESS (the
 * world's error; in systems checked builds report it), and gives NULL, in checked builds memory
 * that nothing reads. */
static inline void *weft_indexed_write(weft_indexed *indexed, uint64_t i)
{
    if (__builtin_expect(!indexed->is_writable, 0)) return weft_indexed_refuse(indexed);
    return (void *)(uintptr_t)weft_indexed_read(indexed, i);
}

/* The entity of element i. Null when i >= count, or when the structure changed. Threads: holder.
 * Cost: as a seek. */
WEFT_API weft_entity weft_indexed_entity(weft_indexed *indexed, uint64_t i);

/* ---- changes of all rows ----
 *
 * Filters and enable bits count. Tags and shared values of whole chunks change by chunk headers
 * only. All or nothing: room is reserved before the first row moves. Errors: BAD_HANDLE,
 * INVALID_ARGUMENT (NULL), TYPE_MISMATCH (a component that cannot be changed this way: the text
 * says which call can), WRONG_PHASE, OUT_OF_MEMORY, LIMIT. */

/* Adds a component to all rows, zeroed. */
WEFT_API weft_result weft_query_add(weft_world *world, weft_query query, weft_component component);

/* Removes a component from all rows. */
WEFT_API weft_result weft_query_remove(weft_world *world, weft_query query,
                                       weft_component component);

/* Sets a value on all rows and adds the component where absent: each row has a copy, made by the
 * copy hook if there is one. UNSUPPORTED: the component has a destruct hook and no copy hook (all
 * rows would own one thing). */
WEFT_API weft_result weft_query_set(weft_world *world, weft_query query, weft_component component,
                                    const void *value, size_t size);

/* Gives all rows a shared value and adds the component where absent. */
WEFT_API weft_result weft_query_set_shared(weft_world *world, weft_query query,
                                           weft_component component, const void *value);

/* Sets the enable bits of the rows that the query selects now. Not a structural change, but
 * refused while iterating (WRONG_PHASE), because it changes what is selected. */
WEFT_API weft_result weft_query_enable(weft_world *world, weft_query query,
                                       weft_component component, bool enabled);

/* Destroys the entities of all rows. Members of linked groups are destroyed only if the query
 * selects them. */
WEFT_API weft_result weft_query_destroy_entities(weft_world *world, weft_query query);

#ifdef __cplusplus
}
#endif
#endif
