/* SPDX-License-Identifier: MIT */
/* query_change.h: structural changes of all rows that a query selects: select, route, apply.
 *
 * A change is collected first (the walk over the query ends before anything moves): one part per
 * chunk, whole or a list of rows; another one where members of linked groups come along. Each
 * part is given a destination; then everything that can fail is done (rows reserved, chunks
 * retargeted, all or none), then the rest, which cannot. Whole chunks whose destination has the
 * same columns change by their header only. */
#ifndef WEFT_QUERY_CHANGE_H
#define WEFT_QUERY_CHANGE_H

#include "query_state.h"
#include "structure.h"

/* The selected rows of one chunk. Owner: the change. Always:
 *   rows == WEFT__NONE: they are [first, first + count); else rows ascend in the list;
 *   is_header: count == chunk->count; owns_hold: to != NULL;
 *   twin != WEFT__NONE: parts[twin].chunk == chunk, and the part of `twin` names this one. */
typedef struct weft__change_part {
    weft__chunk *chunk;
    uint32_t first;         /* of a run */
    uint32_t count;         /* rows */
    uint32_t rows;          /* index of the first row number in the list, or WEFT__NONE: a run */
    uint32_t pieces;        /* first piece of the destination of rows that move */
    const weft__plan *plan; /* NULL: the rows stay, or die */
    weft__tuple *to;
    uint32_t twin;       /* the other part with rows of this chunk, or WEFT__NONE */
    uint32_t twin_rows;  /* the ascending rows of both, for the later one of the two: index of */
    uint32_t twin_count; /* the first in the list, and how many */
    bool owns_hold;      /* holds `to` */
    bool is_header;      /* the whole chunk changes in place */
    bool dies;           /* the rows end for good */
} weft__change_part;

/* A change in progress. Owner: the stack of the operation; zero-initialise but world. Always:
 *   the world is idle. */
typedef struct weft__change {
    weft_world *world;
    WEFT__LIST(weft__change_part) parts; /* in query order */
    WEFT__LIST(uint32_t) rows;
    weft__spans pieces;
    bool is_merging; /* rows of chunks that are not three quarters full move, even if all do */
} weft__change;

/* Collects the rows of a query. Errors: BAD_HANDLE, WRONG_PHASE, OUT_OF_MEMORY (error set). */
weft_result weft__change_select(weft__change *change, weft_query query, const char *what);
/* Collects every row of the world: a part per chunk. Errors: WRONG_PHASE, OUT_OF_MEMORY. */
weft_result weft__change_select_all(weft__change *change, const char *what);
/* Collects the rows of entities, each once, by ascending chunk id. Errors: WRONG_PHASE,
 * STALE_ENTITY, OUT_OF_MEMORY (error set). */
weft_result weft__change_select_entities(weft__change *change, const weft_entity *entities,
                                         uint32_t count, const char *what);
/* Adds a part without rows, whose list of them begins at the end of the list of all. False:
 * memory. */
bool weft__change_push_part(weft__change *change, weft__chunk *chunk);
/* Adds a row number to the list; the caller counts it. False: memory. */
bool weft__change_push_row(weft__change *change, uint32_t row);
/* Gives a part a destination; the part keeps a hold on `to` (which is passed with one). */
void weft__change_route(weft__change_part *part, const weft__plan *plan, weft__tuple *to);
/* Reserves and retargets; on failure nothing has changed. Then weft__change_apply. */
weft_result weft__change_prepare(weft__change *change);
/* Moves the rows of routed parts and ends those that die. Cannot fail. */
void weft__change_apply(weft__change *change);
/* Frees what the change holds. */
void weft__change_fini(weft__change *change);
/* Visits the selected rows run by run, wherever the change has put them: what writes values or bits
 * of a component to the rows of a query, be it of SPARSE values, with enable bits or filters. */
typedef void weft__change_visit(weft_world *world, weft__span rows, const void *user);
void weft__change_each(const weft__change *change, weft__change_visit *visit, const void *user);

/* The row numbers of a part, or NULL for a run. */
static inline const uint32_t *weft__change_rows(const weft__change *change,
                                                const weft__change_part *part)
{
    return part->rows == WEFT__NONE ? NULL : change->rows.at + part->rows;
}

#endif
