/* SPDX-License-Identifier: MIT */
/* structure.h: structural operations on runs of rows, the common ground of immediate changes,
 * query-wide changes and command playback.
 *
 * Serial callers use the whole operations (move.h, destroy.h). Parallel playback takes them
 * apart, in this order, with a barrier between the steps:
 *   1. plan   (owner): weft__rows_reserve for every group; everything that can fail happens here;
 *   2. copy   (workers): weft__rows_copy_from, weft__rows_fill, each destination row by one task;
 *   3. close  (workers): weft__rows_discard of dropped rows, then weft__rows_close, each chunk by
 *             one task;
 *   4. settle (owner): weft__chunk_settle for every chunk closed, in a deterministic order.
 * No function here checks `busy`: callers do. All functions with a result leave the world unchanged
 * when they fail (error set). */
#ifndef WEFT_STRUCTURE_H
#define WEFT_STRUCTURE_H

#include "chunk.h"
#include "chunk_grow.h"
#include "list.h"
#include "world_state.h"

/* A growing list of spans; zero-initialise. Owner: the struct or the stack that holds it, which
 * ends it by weft__spans_fini. Always: count <= capacity. */
typedef struct weft__spans {
    weft__span *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
    weft__growth *growths;    /* of chunks that grew for them */
} weft__spans;

bool weft__spans_push(weft_world *world, weft__spans *spans, weft__span span);
void weft__spans_fini(weft_world *world, weft__spans *spans);

/* ---- 1. plan: owner ---- */

/* Room for one row, as weft__rows_reserve. */
weft_result weft__row_reserve(weft_world *world, weft__tuple *tuple, weft__span *place);
/* Makes room for `count` rows in chunks of the tuple, in existing chunks first, then in new ones
 * sized for the population; appends the pieces to `out` in row order. The rows count at once
 * (chunk->count, totals); their bytes are undefined until copied or filled, every type's version is
 * not stamped yet. Errors: OUT_OF_MEMORY, LIMIT. */
weft_result weft__rows_reserve(weft_world *world, weft__tuple *tuple, uint64_t count,
                               weft__spans *out);
/* Rows of the next chunk that a tuple would get, when few rows come. */
uint32_t weft__growth_capacity(const weft__tuple *tuple);
/* Gives reserved rows back that were never written, spans[from..] in reverse order, and takes back
 * how chunks grew for them. */
void weft__rows_unreserve(weft_world *world, weft__spans *spans, uint32_t from);

/* ---- 2. copy: workers, disjoint destination rows ---- */

/* Copies `count` plain values of `bytes` bytes, `stride` bytes apart (0: one for all), to
 * neighbouring rows. */
void weft__values_copy(char *to, const char *from, size_t stride, size_t bytes, uint32_t count);
/* Stamps one type over the slices of rows [row, row + count), count >= 1. */
void weft__rows_stamp(const weft__chunk *chunk, uint32_t type, uint32_t row, uint32_t count,
                      uint32_t version);
/* New rows: zeroes and constructs every column but the entity column. Reads nothing that the owner
 * of the world changes. */
void weft__rows_construct(weft__chunk *chunk, uint32_t row, uint32_t count);
/* The same, and stamps versions. */
void weft__rows_fill(weft_world *world, weft__chunk *chunk, uint32_t row, uint32_t count);
/* The change versions that the rows bring along, of the kept types of the plan: `out` has
 * plan->kept_count places. Any thread that nothing stamps these slices beside. */
void weft__rows_versions(const weft__plan *plan, const weft__chunk *from, const uint32_t *rows,
                         uint32_t first, uint32_t count, uint32_t *out);
/* Rows [first, first + count), or those listed, of a chunk. A value. */
typedef struct weft__rows_source {
    const weft__chunk *chunk;
    const uint32_t *rows; /* NULL: neighbours */
    uint32_t first;
    const uint32_t *versions; /* as weft__rows_versions gave them, where others stamp these slices;
                                 NULL: they are read now */
} weft__rows_source;

/* Copies them to the run `to`: common columns, entity handles, enable bits; new columns are zeroed
 * and constructed; locations are written; versions of kept types become the newer of both, new
 * types are stamped now. Dropped columns are not destructed. Source rows stay until closed. */
void weft__rows_copy_from(weft_world *world, const weft__plan *plan, const weft__rows_source *from,
                          weft__span to);
/* The same for the run that starts at `first`, of rows that the directory knows to be at `to`
 * already. */
void weft__rows_copy_placed(weft_world *world, const weft__plan *plan, const weft__chunk *from,
                            uint32_t first, weft__span to);
/* Its part for types that are enableable or shared: enable bits, and the stamps of shared values
 * that become others. */
void weft__rows_copy_marks(weft_world *world, const weft__plan *plan, const weft__chunk *from,
                           const uint32_t *rows, uint32_t first, weft__span to);

/* ---- 3. close: workers, one task per chunk ---- */

/* Destructs columns of rows that end: all of them (`plan` NULL), or those the plan drops. */
void weft__rows_discard(weft_world *world, const weft__plan *plan, weft__chunk *chunk,
                        const uint32_t *rows, uint32_t first, uint32_t count);
/* Removes ascending rows[0..count) (or the run at `first`): the last rows fill the holes and
 * their locations are written; enable bits follow; count falls. Nothing is destructed, the ids of
 * the removed rows are not touched. The chunk may become empty: settle it. */
void weft__rows_close(weft_world *world, weft__chunk *chunk, const uint32_t *rows, uint32_t first,
                      uint32_t count);

/* ---- 4. settle: owner ---- */

/* After weft__rows_close: `removed` rows leave the totals; the chunk goes to the list of chunks
 * with room, or is released when it is empty. Versions of order are stamped. */
static inline void weft__chunk_settle(weft_world *world, weft__chunk *chunk, uint32_t removed)
{
    weft__chunk_count_rows(world, chunk, -(int64_t)removed);
    if (__builtin_expect(chunk->count == 0, 0))
        weft__chunk_release(world, chunk);
    else if (!chunk->has_room)
        weft__chunk_room_update(chunk);
}

#endif
