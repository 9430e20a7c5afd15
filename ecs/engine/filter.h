/* SPDX-License-Identifier: MIT */
/* filter.h: the filter of a query handle: conditions on shared values, and change conditions.
 *
 * Shared conditions and the order condition are decided per chunk by comparing numbers in the
 * chunk's metadata; change conditions per slice by scanning the arrays of change versions. Chunk
 * memory is never touched. A filter holds a reference on every shared value it names. */
#ifndef WEFT_FILTER_H
#define WEFT_FILTER_H

#include "component_index.h"
#include "list.h"

#include <weft/query.h>

struct weft__chunk;
struct weft__place;

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
    const struct weft__type *sparse; /* as that of the term */
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
weft__filter_verdict weft__filter_chunk(const weft__filter *filter,
                                        const struct weft__place *places,
                                        const struct weft__chunk *chunk, const uint32_t *since);
/* After FILTER_SLICES: the first slice in [slice, end) whose rows may have changed, or `end`. */
uint32_t weft__filter_next(const weft__filter *filter, const struct weft__place *places,
                           const struct weft__chunk *chunk, uint32_t slice, uint32_t end,
                           const uint32_t *since);
/* The newest change version of the values of a SPARSE type that the entities of a slice have; 0:
 * none has one. Cost: O(rows). */
uint32_t weft__filter_sparse_version(const struct weft__type *sparse,
                                     const struct weft__chunk *chunk, uint32_t slice);
/* After FILTER_SLICES: the first slice in [slice, end) that does not pass, or `end`. */
uint32_t weft__filter_run_end(const weft__filter *filter, const struct weft__place *places,
                              const struct weft__chunk *chunk, uint32_t slice, uint32_t end,
                              const uint32_t *since);
/* Drops all conditions and their references. */
void weft__filter_reset(weft_world *world, weft__filter *filter);

#endif
