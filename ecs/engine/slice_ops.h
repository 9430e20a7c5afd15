/* SPDX-License-Identifier: MIT */
/* slice_ops.h: what slices of the owner reach, and what all slices share.
 *
 * Owned by who dispatches the slice; used by the thread that runs it. */
#pragma once

#include "query_state.h"

extern const weft__slice_ops weft__slice_ops_owner; /* of cursors outside systems */

/* Whether values of C type `type` of `size` bytes are those of `held`. */
bool weft__slice_is_type(const weft__type *held, size_t size, const char *type);

#define WEFT__MISTYPED                                                                             \
    " is not the C type it was registered with, or has another size: name the type of this term, " \
    "or the term you mean"

/* Why asking for a column of the query's slices is a call: weft_slice.calls. */
static inline uint32_t weft__query_calls(const weft__query *query)
{
    return (WEFT_IS_CHECKED ? (uint32_t)WEFT_SLICE_CHECKED : 0u) |
           (query->stamps_asked ? (uint32_t)WEFT_SLICE_STAMPS : 0u) |
           (query->has_buffers ? (uint32_t)WEFT_SLICE_BUFFERS : 0u);
}

/* What checked builds keep in weft_slice.calls, above its bits: whether `entities` is a copy
 * (guard.h), who knows whether the slice still is (weft__slice_is_here), and behind the shift which
 * row of the chunk is the first one; of a slice whose callback has returned (chunk NULL), how many
 * rows it had. Not with WEFT_SLICE_ROWS. */
#define WEFT__SLICE_COPIED (UINT32_C(1) << 4)
#define WEFT__SLICE_GIVEN (UINT32_C(1) << 5) /* its context is a weft__given_slice */
#define WEFT__SLICE_SHOWN (UINT32_C(1) << 6) /* its context is of a weft__query_loop */
#define WEFT__SLICE_ROW_SHIFT 8
static_assert(WEFT__CHUNK_ROWS_MAX < UINT32_MAX >> WEFT__SLICE_ROW_SHIFT, "rows fit");

/* Checked builds: whether the callback of the slice runs, or its cursor still shows it. A copy is
 * as good as what it is a copy of: nothing differs. Else nothing of it may be used but its context,
 * which may be another's by now, and there ops and world. */
bool weft__slice_is_known(const weft_slice *slice);
static inline bool weft__slice_is_here(const weft_slice *slice)
{
    return slice->chunk != NULL && (!WEFT_IS_CHECKED || weft__slice_is_known(slice));
}
#define WEFT__SLICE_GONE                                                                           \
    "used a slice, or buffers of it, whose callback has returned or whose cursor has gone on: "    \
    "use slices inside the callback, and until the next weft_query_next"

/* The row of its chunk that is the first of a slice. */
static inline uint32_t weft__slice_first_row(const weft_slice *slice)
{
    if (WEFT_IS_CHECKED && (slice->calls & WEFT__SLICE_COPIED) != 0)
        return slice->calls >> WEFT__SLICE_ROW_SHIFT;
    return (uint32_t)(slice->entities - weft__chunk_entities(slice->chunk));
}

/* Its rows; of one whose callback has returned, those that it had. */
static inline uint32_t weft__slice_row_count(const weft_slice *slice)
{
    return slice->chunk != NULL ? slice->count : slice->calls >> WEFT__SLICE_ROW_SHIFT;
}

/* What is wrong with a row that is not below the count of its slice, and what to do. */
#define WEFT__ROW_PAST_END                                                                         \
    "is past its end: rows count from 0 to weft_slice_count - 1, and further entities come with "  \
    "further slices"

/* What is wrong with an access to a term that was reported, and what to do. */
const char *weft__slice_problem(const weft__query *query, uint32_t term, weft_access access);

/* Stamps a term's change version for the slices that the rows of `slice` lie in. */
void weft__slice_stamp(const weft_slice *slice, uint32_t term, uint32_t stamp);
