/* SPDX-License-Identifier: MIT */
/* private_chunk.h: chunks that jobs fill and that the owner links into the world afterwards.
 *
 * A private chunk has no id, no berths and location 0, and is in no list. */
#pragma once

#include "world_state.h"

/* A private chunk for about `rows` rows of an archetype (all shared values default), from the
 * concurrent allocators; count is 0, memory beyond `count` reads as zero. `worker` says where to
 * look first. Threads: any. Errors: OUT_OF_MEMORY, LIMIT (no text is set). */
weft_result weft__private_open(weft_world *world, uint32_t worker, weft__archetype *archetype,
                               uint32_t rows, weft__chunk **out);
/* Rows of the smallest private chunk of an archetype. Threads: any. */
uint32_t weft__private_small(const weft__archetype *archetype);
/* The same for a tuple, which is held meanwhile. */
weft_result weft__private_make(weft_world *world, uint32_t worker, weft__tuple *tuple,
                               uint32_t rows, weft__chunk **out);
/* The size class that a private chunk for `rows` rows has; it has room for all of them if any class
 * has. */
uint32_t weft__private_class(const weft__format *format, uint32_t rows);
/* Takes `count` more rows of a private chunk that has room for them, constructed; returns the
 * first. `with_ids`: their ids stand in the entity column already. */
uint32_t weft__private_rows(weft__chunk *chunk, uint32_t count, bool with_ids);
/* Before ids are written into the entity column of rows that were just taken: rows without an id
 * have the null handle from now on. */
void weft__private_ids(weft__chunk *chunk);
/* Rows of a private chunk. A value. Always: count != 0;
 *   is_whole: these are all its rows, brings_chunk, and tuple == chunk->tuple
 *   the rows of a chunk that is not whole are those of its pieces, one of which brings it */
typedef struct weft__private_piece {
    weft__chunk *chunk;
    weft__tuple *tuple; /* they go there */
    uint32_t first, count;
    bool is_whole;
    bool brings_chunk; /* its memory goes when all pieces are in the world */
} weft__private_piece;

static inline weft__private_piece weft__private_whole(weft__chunk *chunk)
{
    return (weft__private_piece){chunk, chunk->tuple, 0, chunk->count, true, true};
}

/* What to link: lives on the caller's stack, borrowed for the call. */
typedef struct weft__private_desc {
    weft_world *world;
    weft_job_context *job;    /* its workers fill the ids in and copy; NULL: the caller does */
    weft_job_cost *cost;      /* of the loop over ids; NULL: unknown */
    weft_job_cost *copy_cost; /* of the loop that copies rows; NULL: unknown */
    const weft__private_piece *pieces;
    uint32_t count;
    void (*named)(void *user); /* called when all rows have ids and stand in their private chunks,
                                  for the last time; may be NULL */
    void *user;
} weft__private_desc;

/* Puts private rows into the world in the order given. Entities of rows whose handle is null get
 * ids now; others keep the (unordered) id their entity column holds. Whole chunks become chunks of
 * the world, unless they are filled less than half; all other rows move into chunks with room: what
 * becomes of them depends on the counts of the pieces, and where rows that move were does not show.
 * The ids are given in the order of the rows. All or none. */
weft_result weft__private_link(const weft__private_desc *desc);
/* Drops a private chunk; its rows are destructed. Ids it holds are the caller's. Threads: any. */
void weft__private_drop(weft_world *world, weft__chunk *chunk);

/* ---- ids of many rows ---- */

/* Rows that have no id yet. Owner: the list of weft__row_ids. Always: row + count is within the
 * chunk; first of the next run == first + count. */
typedef struct weft__id_run {
    weft__chunk *chunk;
    uint32_t row;
    uint32_t count;
    uint32_t first;    /* rows of the runs before it */
    uint32_t location; /* of its first row, as the directory is to know it; the rest follow */
} weft__id_run;

/* Runs of rows that get ids together. Owner: one operation, on its stack; runs are the caller's. */
typedef struct weft__row_ids {
    weft_world *world;
    const weft__id_run *runs;
    uint32_t run_count;
    uint32_t rows; /* of all runs */
    weft__id_share *shares;
    uint32_t share_count;
} weft__row_ids;

/* Everything that can fail; `rows` are those that the runs will have. `what`: the operation, for
 * the error. Errors: LIMIT, OUT_OF_MEMORY. */
weft_result weft__row_ids_prepare(weft__row_ids *ids, weft_world *world, uint64_t rows,
                                  const char *what);
/* Gives the ids: into the entity columns, and where the rows are into the directory. `job`: its
 * workers do it; NULL: the caller does. `cost`: of the loop over shares; NULL: unknown. */
void weft__row_ids_give(const weft__row_ids *ids, weft_job_context *job, weft_job_cost *cost);
void weft__row_ids_fini(weft__row_ids *ids);
