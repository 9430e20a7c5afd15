/* SPDX-License-Identifier: MIT */
/* query_cursor.h: runs of rows out of a range of slice positions.
 *
 * The loops of the owner, jobs and counts all walk by it. No part of it allocates but
 * weft__query_views_prepare, and a loop for which none is free. */
#pragma once

#include "query_state.h"

/* Of a view with its column pointers. */
static inline size_t weft__query_view_bytes(const weft__query *query)
{
    return sizeof(weft__view) + query->term_count * sizeof(void *);
}
/* Makes the list that cursors walk over current, and the flat list. Errors: OUT_OF_MEMORY. */
weft_result weft__query_views_prepare(weft__query *query);

/* ---- sources: runs of rows out of a range of slice positions ----
 *
 * Set a source up by weft__source_init_rows, change since, has_since, run_slices, slice.dt and
 * slice.worker if wanted, then begin a range; begin another when it is done. It must not move in
 * memory between begin and the end of the range. */

/* A walk in progress. Owner: who walks. Always: position <= end. */
typedef struct weft__source {
    weft_slice slice; /* the current run; of a loop the cursor has it */
    const weft_slice_context *context;
    const weft__filter *filter; /* NULL: none */
    void **columns;             /* [term] of the current run */
    uint32_t position;          /* next slice position */
    uint32_t end;
    uint32_t entry; /* of the flat list */
    uint32_t run_slices;
    uint32_t since;
    uint32_t verdict; /* of the filter on the current chunk */
    bool has_since;
    bool skips_columns; /* pointers are not wanted */
    bool ignores_masks; /* enable bits do not count */
    uint64_t mask[WEFT__MASK_WORDS];
} weft__source;

/* The same for callers that need the rows only: no columns are filled; with `ignores_masks` the
 * enable bits do not count. */
void weft__source_init_rows(weft__source *source, const weft_slice_context *context,
                            const weft__filter *filter, bool ignores_masks);
/* Starts at slice positions [begin, end) of the context's query, whose flat list is prepared. */
void weft__source_begin(weft__source *source, uint32_t begin, uint32_t end);
/* Fills source->slice with the next run whose filters pass and which has an enabled row, and stamps
 * the change versions of written columns. False at the end of the range. A run never leaves its
 * chunk; one with an enable mask is never longer than WEFT_MASK_WORDS. */
bool weft__source_next(weft__source *source);

/* ---- loops: what the copies of a weft_cursor share ----
 *
 * The copies have the address of the loop and its ticket. A loop that ends changes its ticket, and
 * is used again: then the copies see that theirs has ended. */

/* A loop of the owner, or of a system over a query that it declares. Owner: its pool, for ever; the
 * thread of the pool. */
typedef struct weft__query_loop {
    uint64_t ticket; /* +1 when it begins and when it ends: odd while it is open */
    struct weft__query_loop *next_free; /* while it is not in use */
    struct weft__query_loop *next;      /* all of the pool */
    struct weft__query_loops *pool;
    weft_slice_context context;
    weft_slice shown; /* checked builds: by the cursor or a copy of it; all 0: none */
    bool is_plain;    /* no filter, no mask: cursors count views, and `source` does not count */
    bool is_begun;    /* `source` has begun its range */
    void **owned;     /* columns of a query with more terms; NULL: `columns` */
    uint32_t owned_count;
    void *columns[WEFT_INLINE_TERMS];
    weft__source source;
} weft__query_loop;

/* Begins a loop over a query whose lists are current, and points the cursor to it; slice.worker and
 * slice.dt are the caller's. False: no memory, nothing was done. */
bool weft__loop_begin(weft__query_loops *pool, weft_cursor *cursor,
                      const weft_slice_context *context, const weft__filter *filter);
/* How many loops are open. */
uint32_t weft__loops_open(const weft__query_loops *pool);
/* Ends the loops that were left without weft_query_end. */
void weft__loops_end(weft__query_loops *pool);
void weft__loops_free(weft__query_loops *pool);
/* Ends the loops of weft_query_begin that a callback left open. False: there was none. */
bool weft__owner_loops_end(weft_world *world);

/* ---- columns, for callers that cut runs by themselves ---- */

/* Fills `columns` with pointers to row `row` of the terms' columns; NULL where there is none. */
void weft__query_columns(const weft__query *query, uint32_t match, const weft__chunk *chunk,
                         uint32_t row, void **columns);

/* Frees the records of errors of callbacks. */
void weft__callback_errors_free(weft_world *world);
