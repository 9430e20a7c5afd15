/* SPDX-License-Identifier: MIT */
/* row_moves.h: the one way to move rows: plan, copy, close, settle, by the steps of structure.h.
 *
 * Changes of many rows say which rows and where they go: handles (destroy.c), queries
 * (query_change.h), folds of commands (fold_rows.h). Rows are parts: some of one chunk each, in
 * the order that decides where they land. Everything that can fail is done first
 * (weft__change_prepare); then rows are copied, all before the first chunk is closed, so that a
 * chunk may be source and destination at once; then holes are filled and empty chunks go. Whole
 * chunks whose destination has the same columns change by their header only. Copies and closings
 * are loops on the pool where there is one; the result is the same. */
#pragma once

#include "structure.h"

/* Build-time parameter, so that the explorer can be tiny. */
#ifndef WEFT__TASK_ROWS
#define WEFT__TASK_ROWS 4096u /* rows of one copy task at most: workers share a large chunk */
#endif

/* Some rows of one chunk and what becomes of them. Owner: the change. Always:
 *   count != 0; rows == WEFT__NONE: they are [first, first + count); else rows ascend in the list;
 *   to == NULL && !dies: they stay; is_header: count == chunk->count; owns_hold: to != NULL;
 *   before != WEFT__NONE: that part is of the same chunk, and they have no row in common. */
typedef struct weft__change_part {
    weft__chunk *chunk;     /* NULL: the rows are in no chunk yet, but numbers of `ids` */
    const weft_entity *ids; /* NULL: the entities of the chunk */
    uint32_t first;         /* of a run */
    uint32_t count;         /* rows */
    uint32_t rows;          /* index of the first row number in the list, or WEFT__NONE: a run */
    uint32_t pieces;        /* first piece of the destination of rows that move */
    const weft__plan *plan; /* NULL: the rows stay, or die */
    weft__tuple *to;        /* NULL: the same */
    uint32_t before;        /* an earlier part with rows of this chunk, or WEFT__NONE */
    uint32_t leaving;       /* the ascending rows of both: index of the first in the list, ... */
    uint32_t leaving_count; /* ... and how many */
    uint32_t stamps;        /* SHARED component whose value they get; 0: none */
    bool is_behind;         /* a later part of the chunk closes it */
    bool owns_hold;         /* holds `to` */
    bool is_header;         /* the whole chunk changes in place */
    bool dies;              /* the rows end for good */
} weft__change_part;

/* A piece of copying: rows of a part that go to one run of a chunk. Owner: the change. */
typedef struct weft__change_task {
    uint32_t part;
    uint32_t done;     /* rows of the part before it */
    uint32_t versions; /* where those that they bring begin, or WEFT__NONE: see keep_versions */
    weft__span to;
} weft__change_task;

#define WEFT__CHANGE_FEW 32u /* parts and rows that need no memory */

/* Memory of a few parts and rows, on the stack beside a change that only handles give rows to. Not
 * initialised: it is larger than what such a change writes. */
typedef struct weft__change_room {
    weft__change_part parts[WEFT__CHANGE_FEW];
    uint32_t rows[WEFT__CHANGE_FEW];
} weft__change_room;

/* A change in progress. Owner: the stack of the operation; zero-initialise but world, which is
 * idle. A capacity of 0 says that a list is lent: it does not grow, and its lender frees it. */
typedef struct weft__change {
    weft_world *world;
    weft__change_room *room; /* NULL: parts and rows have memory of their own */
    WEFT__LIST(weft__change_part) parts;
    WEFT__LIST(uint32_t) rows;
    WEFT__LIST(weft__change_task) tasks;
    uint32_t *versions; /* that rows bring from slices which tasks stamp; kept with `tasks` */
    weft__spans pieces;
    bool is_merging;  /* rows of chunks that are not three quarters full move, even if all do */
    bool moves_whole; /* no chunk changes by its header */
    bool by_tuple;    /* room is taken for all parts that go to a tuple before the next one */
    bool are_freed;   /* the ids of the dead are given back, before the chunks are closed */
    weft_job_context *job;                 /* NULL: serial */
    weft_job_cost *copy_cost, *close_cost; /* of the loops; NULL: unknown */
    /* Called for every task when its rows are copied, or stay: the thread of the task. May be NULL.
     */
    void (*values)(void *user, const weft__change_task *task);
    void *user;
} weft__change;

/* Adds a part. False: memory. */
bool weft__change_push(weft__change *change, weft__change_part part);
/* Adds a part without rows, whose list of them begins at the end of the list of all. */
bool weft__change_push_part(weft__change *change, weft__chunk *chunk);
/* Adds a row number to the list; the caller counts it. False: memory. */
bool weft__change_push_row(weft__change *change, uint32_t row);
/* Gives a part a destination; the part keeps a hold on `to` (which is passed with one). */
void weft__change_route(weft__change *change, weft__change_part *part, const weft__plan *plan,
                        weft__tuple *to);
/* The way of a part to an archetype, where residues get nothing new. NULL: error set. */
const weft__plan *weft__change_plan(const weft__change *change, const weft__change_part *part,
                                    weft__archetype *to);
/* Sends a part to an archetype, shared values as they are. Its own: the rows stay. One that
 * nothing is left in (weft__archetype_is_spent): they end. */
weft_result weft__change_send(weft__change *change, weft__change_part *part, weft__archetype *to);
/* What destruction does to the rows of a part: residue or death. */
weft_result weft__change_destroy(weft__change *change, weft__change_part *part);
/* Does it all, or nothing where `result` is an error or it fails; frees what the change holds. */
weft_result weft__change_finish(weft__change *change, weft_result result);
/* The same in steps: reserves and retargets, on failure nothing has changed; copies the rows of
 * routed parts, then closes what they leave and ends those that die, which cannot fail; frees.
 * weft__change_apply: both, many rows on the pool of the world. */
weft_result weft__change_prepare(weft__change *change);
void weft__change_copy(weft__change *change);
void weft__change_close(weft__change *change);
void weft__change_apply(weft__change *change);
void weft__change_fini(weft__change *change);
/* Visits the rows of all parts run by run, wherever the change has put them: what writes values or
 * bits of a component. */
typedef void weft__change_visit(weft_world *world, weft__span rows, const void *user);
void weft__change_each(const weft__change *change, weft__change_visit *visit, const void *user);

/* A part for the rows [first, first + count) of a chunk. */
static inline weft__change_part weft__change_run(weft__chunk *chunk, uint32_t first, uint32_t count)
{
    return (weft__change_part){
        .chunk = chunk, .first = first, .count = count, .rows = WEFT__NONE, .before = WEFT__NONE};
}

/* The row numbers of a part, or NULL for a run. */
static inline const uint32_t *weft__change_rows(const weft__change *change,
                                                const weft__change_part *part)
{
    return part->rows == WEFT__NONE ? NULL : change->rows.at + part->rows;
}

/* The first row of a part. */
static inline uint32_t weft__change_first(const weft__change *change, const weft__change_part *part)
{
    return part->rows == WEFT__NONE ? part->first : change->rows.at[part->rows];
}
