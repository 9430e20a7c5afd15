/* SPDX-License-Identifier: MIT */
/* filter.h: which chunks, slices and rows a query passes over: the filter of a query handle, which
 * has conditions on shared values and change conditions; and enable bits.
 *
 * Shared conditions and the order condition are decided per chunk by comparing numbers in the
 * chunk's metadata; change conditions per slice by scanning the arrays of change versions. Chunk
 * memory is never touched. A filter holds a reference on every shared value it names. */
#pragma once

#include "archetype_state.h"

#include <weft/query.h>

struct weft__query;

/* One condition on a shared component. Owner: the filter that lists it. Each value has a
 * reference of the filter. */
typedef struct weft__filter_shared {
    uint32_t component;
    uint32_t term; /* of the query */
    weft_filter_op op;
    uint32_t count;
    uint32_t *values; /* [count] value indices, each referenced */
} weft__filter_shared;

/* One change condition. Owner: the filter that lists it: the term's column changed after
 * `since`. One per term at most. */
typedef struct weft__filter_changed {
    uint32_t term;
    uint32_t since;
    const weft__type *sparse; /* as that of the term */
} weft__filter_changed;

/* Owned by a query handle; changed by the owner while the world is idle. Always: one
 * reference is held on each value. */
typedef struct weft__filter {
    WEFT__LIST(weft__filter_shared) shared;
    WEFT__LIST(weft__filter_changed) changed;
    uint32_t order_since;
    bool has_order;
    uint32_t version; /* +1 with every change of the filter */
} weft__filter;

/* What the chunk-level conditions say. */
typedef enum weft__filter_verdict {
    WEFT__FILTER_SKIP,   /* no slice passes */
    WEFT__FILTER_PASS,   /* every slice passes */
    WEFT__FILTER_SLICES, /* ask slice by slice */
} weft__filter_verdict;

/* True when the filter lets everything pass. */
static inline bool weft__filter_is_empty(const weft__filter *filter)
{
    return filter->shared.count == 0 && filter->changed.count == 0 && !filter->has_order;
}
/* True when change or order conditions exist: results depend on `since`. */
static inline bool weft__filter_has_changes(const weft__filter *filter)
{
    return filter->changed.count != 0 || filter->has_order;
}

/* The first slice in [slice, end) whose version is newer than `since`, not 0 (or, with `wanted`
 * false, is not); else `end`. */
uint32_t weft__versions_scan(const weft_a32 *x_versions, uint32_t slice, uint32_t end,
                             uint32_t since, bool wanted);

/* Decides about a chunk. `since`, if not NULL, replaces the versions of change and order
 * conditions. `places`: of the query's terms in the chunk's archetype. */
weft__filter_verdict weft__filter_chunk(const weft__filter *filter, const weft__place *places,
                                        const weft__chunk *chunk, const uint32_t *since);
/* After FILTER_SLICES: the first slice in [slice, end) whose rows may have changed, or `end`. */
uint32_t weft__filter_next(const weft__filter *filter, const weft__place *places,
                           const weft__chunk *chunk, uint32_t slice, uint32_t end,
                           const uint32_t *since);
/* The newest change version of the values of a SPARSE type that the entities of a slice have; 0:
 * none has one. Cost: O(rows). */
uint32_t weft__filter_sparse_version(const weft__type *sparse, const weft__chunk *chunk,
                                     uint32_t slice);
/* After FILTER_SLICES: the first slice in [slice, end) that does not pass, or `end`. */
uint32_t weft__filter_run_end(const weft__filter *filter, const weft__place *places,
                              const weft__chunk *chunk, uint32_t slice, uint32_t end,
                              const uint32_t *since);
/* Drops the references of the first `count` values of a condition; all conditions with theirs. */
void weft__filter_release(weft_world *world, const weft__filter_shared *condition, uint32_t count);
void weft__filter_reset(weft_world *world, weft__filter *filter);

/* ---- enable bits ---- */

/* The bits say "disabled", so that new rows and plain components are all zero. Words and counts of
 * one slice belong to the worker of the slice (or to the owner): slices are multiples of 64 rows
 * long, so that no word and no count is shared between two of them, and setting needs no locked
 * instruction. */

/* Which rows of a slice a query takes. */
typedef enum weft__rows {
    WEFT__ROWS_NONE, /* no row of the slice is enabled */
    WEFT__ROWS_ALL,  /* all are: no mask */
    WEFT__ROWS_SOME, /* the mask says which */
} weft__rows;

/* Sets the bit of a row and keeps the count of its slice exact; true when it changed. `enableable`:
 * position among the archetype's enableable types. One thread per slice. */
static inline bool weft__chunk_enable(const weft__chunk *chunk, uint32_t enableable, uint32_t row,
                                      bool is_enabled)
{
    const weft__layout *layout = chunk->layout;
    weft_a64 *x_word = &chunk->x_disabled[(size_t)enableable * layout->mask_words + (row >> 6)];
    weft_a32 *x_count = &chunk->x_disabled_counts[(size_t)enableable * layout->slice_count +
                                                  (row >> layout->slice_shift)];
    uint64_t old = at_load_rlx(x_word); /* relaxed: one thread per slice */
    if (is_enabled) { /* two ways: each tests, flips and counts with one instruction */
        if ((old >> (row & 63) & 1) == 0) return false;
        at_store_rlx(x_word, old & ~(UINT64_C(1) << (row & 63))); /* relaxed: as above */
        at_store_rlx(x_count, at_load_rlx(x_count) - 1);          /* relaxed: as above */
    } else {
        if ((old >> (row & 63) & 1) != 0) return false;
        at_store_rlx(x_word, old | UINT64_C(1) << (row & 63)); /* relaxed: as above */
        at_store_rlx(x_count, at_load_rlx(x_count) + 1);       /* relaxed: as above */
    }
    return true;
}
bool weft__chunk_is_enabled(const weft__chunk *chunk, uint32_t enableable, uint32_t row);

/* What the disabled counts alone say about a slice; ROWS_SOME: look at the bits. */
weft__rows weft__query_mask_guess(const struct weft__query *query, uint32_t match,
                                  const weft__chunk *chunk, uint32_t slice);

/* The enable mask of a slice of a match into `mask`. Only useful when the match has masks. */
weft__rows weft__query_mask(const struct weft__query *query, uint32_t match,
                            const weft__chunk *chunk, uint32_t slice, uint64_t *mask);

/* Whether one row of a match satisfies the enable conditions. */
bool weft__query_row_is_enabled(const struct weft__query *query, uint32_t match,
                                const weft__chunk *chunk, uint32_t row);
