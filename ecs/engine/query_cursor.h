/* SPDX-License-Identifier: MIT */
/* query_cursor.h: runs of rows out of a range of slice positions.
 *
 * The loops of the owner, jobs, counts and gathers all walk by it. No part of it allocates but
 * weft__query_views_prepare. */
#ifndef WEFT_QUERY_CURSOR_H
#define WEFT_QUERY_CURSOR_H

#include "query_flat.h"

/* Of a view with its column pointers. */
static inline size_t weft__query_view_bytes(const weft__query *query)
{
    return sizeof(weft__view) + query->term_count * sizeof(void *);
}
/* Makes the list that cursors walk over current, and the flat list. Errors: OUT_OF_MEMORY. */
weft_result weft__query_views_prepare(weft__query *query);

/* ---- sources: runs of rows out of a range of slice positions ----
 *
 * A weft_cursor (query.h) is the source. Set it up by weft__source_init, change since, has_since,
 * run_slices, slice.dt and slice.worker if wanted, then begin a range; begin another when it is
 * done. It must not move in memory between begin and the end of the range. */

/* `columns` gets the pointers: [term_count]. `context` must outlive the cursor. Default: everything
 * merged that can be, filter's own versions. Any thread; allocates nothing. */
void weft__source_init(weft_cursor *cursor, const weft_slice_context *context,
                       const weft__filter *filter, void **columns);
/* The same for callers that need the rows only: no columns are filled; with `ignores_masks` the
 * enable bits do not count. */
void weft__source_init_rows(weft_cursor *cursor, const weft_slice_context *context,
                            const weft__filter *filter, bool ignores_masks);
/* Starts at slice positions [begin, end) of the context's query, whose flat list is prepared. */
void weft__source_begin(weft_cursor *cursor, uint32_t begin, uint32_t end);
/* Fills cursor->slice with the next run whose filters pass and which has an enabled row, and stamps
 * the change versions of written columns. False at the end of the range. A run never leaves its
 * chunk; one with an enable mask is never longer than WEFT_MASK_WORDS. */
bool weft__source_next(weft_cursor *cursor);

/* ---- columns, for callers that cut runs by themselves ---- */

/* Fills `columns` with pointers to row `row` of the terms' columns; NULL where there is none. */
void weft__query_columns(const weft__query *query, uint32_t match, const weft__chunk *chunk,
                         uint32_t row, void **columns);

#endif
