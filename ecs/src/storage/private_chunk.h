/* SPDX-License-Identifier: MIT */
/* private_chunk.h: chunks that jobs fill and that the owner links into the world afterwards.
 *
 * A private chunk has no id, no berths and location 0, and is in no list. */
#ifndef WEFT_PRIVATE_CHUNK_H
#define WEFT_PRIVATE_CHUNK_H

#include "archetype_state.h"

/* A private chunk for about `rows` rows of an archetype (all shared values default), from the
 * concurrent allocators; count is 0, memory beyond `count` reads as zero. `worker` says where to
 * look first. Threads: any. Errors: OUT_OF_MEMORY, LIMIT (no text is set). */
weft_result weft__private_open(weft_world *world, uint32_t worker, weft__archetype *archetype,
                               uint32_t rows, weft__chunk **out);
/* Takes `count` more rows of a private chunk that has room for them, constructed; returns the
 * first. `with_ids`: their ids stand in the entity column already. */
uint32_t weft__private_rows(weft_world *world, weft__chunk *chunk, uint32_t count, bool with_ids);
/* Before ids are written into the entity column of rows that were just taken: rows without an id
 * have the null handle from now on. */
void weft__private_ids(weft__chunk *chunk);
/* What to link: lives on the caller's stack, borrowed for the call. */
typedef struct weft__private_desc {
    weft_world *world;
    weft_job_context *job; /* its workers fill the ids in; NULL: the caller does */
    weft__chunk *const *chunks;
    uint32_t count;
    void (*named)(void *user); /* called when all rows have ids and stand in `chunks`, for the last
                                  time; may be NULL */
    void *user;
} weft__private_desc;

/* Puts private chunks into the world in the order given, each into its chunk->tuple. Entities of
 * rows whose handle is null get ids now; others keep the (unordered) id their entity column holds.
 * Chunks filled less than half are emptied into chunks with room instead (which then depends on
 * counts only). The ids are given in the order of the rows. All or none. */
weft_result weft__private_link(const weft__private_desc *desc);
/* Drops a private chunk; its rows are destructed. Ids it holds are the caller's. Threads: any. */
void weft__private_drop(weft_world *world, weft__chunk *chunk);

#endif
