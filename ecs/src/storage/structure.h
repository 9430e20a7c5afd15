/* structure.h: structural operations on runs of rows, the common ground of immediate changes,
 * query-wide changes and command playback.
 *
 * Serial callers use the whole operations (move, destroy, retarget). Parallel playback takes them
 * apart, in this order, with a barrier between the steps:
 *   1. plan   (owner): weft__rows_reserve for every group; everything that can fail happens here;
 *   2. copy   (workers): weft__rows_copy / weft__rows_fill, each destination row by one task;
 *   3. close  (workers): weft__rows_discard of dropped rows, then weft__rows_close, each chunk by
 *             one task;
 *   4. settle (owner): weft__chunk_settle for every chunk closed, in a deterministic order.
 * No function here checks `busy`: callers do. All functions with a result leave the world unchanged
 * when they fail (error set). */
#ifndef WEFT_STRUCTURE_H
#define WEFT_STRUCTURE_H

#include "world_state.h"

/* A growing list of spans; zero-initialise. */
typedef struct weft__spans {
    weft__span *items;
    uint32_t count;
    uint32_t capacity;
} weft__spans;

bool weft__spans_push(weft_world *world, weft__spans *spans, weft__span span);
void weft__spans_fini(weft_world *world, weft__spans *spans);

/* ---- chunks: owner ---- */

/* A new, empty chunk of a tuple, linked. NULL: error set. */
weft__chunk *weft__chunk_create(weft_world *world, weft__tuple *tuple, uint32_t size_class);
/* The same around units that the world has got already: it takes them over. NULL: error set. */
weft__chunk *weft__chunk_adopt(weft_world *world, weft__tuple *tuple, uint32_t size_class,
                               const weft__run *run);
/* Unlinks and frees an empty chunk; its memory, too, unless `base` is NULL. */
void weft__chunk_release(weft_world *world, weft__chunk *chunk);
/* Puts the chunk in or out of its tuple's list of chunks with room, as its count says. */
void weft__chunk_room_update(weft__chunk *chunk);
/* New order version for every value of a tuple. */
void weft__tuple_touch(weft_world *world, const weft__tuple *tuple);
/* `count` rows came (or, negative, went): totals, nonempty, order versions, shared values. */
static inline void weft__chunk_count_rows(weft_world *world, weft__chunk *chunk, int64_t count)
{
    weft__archetype *archetype = chunk->archetype;
    uint64_t before = archetype->entity_count, after = before + (uint64_t)count;
    archetype->entity_count = after;
    chunk->tuple->rows += (uint64_t)count;
    chunk->order_version = archetype->order_version = world->version;
    world->structure_version++;
    if (__builtin_expect((before == 0) != (after == 0), 0) && archetype->number != WEFT__NONE)
        world->archetypes.nonempty[archetype->number / 64] ^= UINT64_C(1) << archetype->number % 64;
    if (__builtin_expect(archetype->shared_count != 0, 0)) weft__tuple_touch(world, chunk->tuple);
}
/* World begin: the table of chunks has chunk 0. */
void weft__chunks_init(weft_world *world);
/* World end: destructs every row and frees all chunks. */
void weft__chunks_fini(weft_world *world);

/* ---- 1. plan: owner ---- */

/* Makes room for `count` rows in chunks of the tuple, in existing chunks first, then in new ones
 * sized for the population; appends the pieces to `out` in row order. The rows count at once
 * (chunk->count, totals); their bytes are undefined until copied or filled, every type's version is
 * not stamped yet. Errors: OUT_OF_MEMORY, LIMIT. */
weft_result weft__rows_reserve(weft_world *world, weft__tuple *tuple, uint64_t count,
                               weft__spans *out);
/* Gives reserved rows back that were never written; spans[from..] in reverse order. */
void weft__rows_unreserve(weft_world *world, weft__spans *spans, uint32_t from);

/* ---- 2. copy: workers, disjoint destination rows ---- */

/* Stamps one type over the slices of rows [row, row + count), count >= 1. */
void weft__rows_stamp(const weft__chunk *chunk, uint32_t type, uint32_t row, uint32_t count,
                      uint32_t version);
/* New rows: zeroes and constructs every column but the entity column, stamps versions. */
void weft__rows_fill(weft_world *world, weft__chunk *chunk, uint32_t row, uint32_t count);
/* Copies rows[0..count) of `from` (or, when `rows` is NULL, the run that starts at `first`) to
 * the run `to`: common columns, entity handles, enable bits; new columns are zeroed and
 * constructed; locations are written; versions of kept types become the newer of both, new types
 * are stamped now. Dropped columns are not destructed. Source rows stay until closed. */
void weft__rows_copy(weft_world *world, const weft__plan *plan, const weft__chunk *from,
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

/* ---- whole operations: owner, serial ---- */

/* Moves a row to another tuple, which may be of another archetype; `plan` leads from its archetype
 * to that of `to`. All or none. */
weft_result weft__row_move(weft_world *world, weft__chunk *from, uint32_t row, weft__tuple *to);
weft_result weft__row_move_by(weft_world *world, const weft__plan *plan, weft__chunk *from,
                              uint32_t row, weft__tuple *to);
/* Whole chunks change: chunks[i] to tuple to[i], of an archetype with the same format
 * (plan->is_in_place) or of its own: no row moves. Tags and chunk components that go are dropped,
 * new ones are zero and stamped. All or none. */
weft_result weft__chunks_retarget(weft_world *world, weft__chunk *const *chunks,
                                  weft__tuple *const *to, uint32_t count);

/* ---- creation from jobs ---- */

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
/* What to link. Borrowed for the call. */
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
