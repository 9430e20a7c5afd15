/* SPDX-License-Identifier: MIT */
/* batch.h: an array operation on entities: the rows concerned, collected per chunk, in order and
 * without duplicates, then changed in steps: plan, copy, close, settle. Long arrays collect them in
 * bit maps; short ones, which would have as many maps as rows, in a list of keys that is sorted.
 * What becomes of the rows is the same.
 *
 * Lives on the stack of one operation; owner only. */
#ifndef WEFT_BATCH_H
#define WEFT_BATCH_H

#include "structure.h"

/* Arrays up to SHORT entities are collected by keys, up to FEW without taking memory. */
#define WEFT__BATCH_SHORT 2048u
#define WEFT__BATCH_FEW 32u
#define WEFT__BATCH_FETCHED 8u /* columns of a row that are fetched early */

/* The rows of one chunk and what becomes of them. Owner: the batch. Before finish the rows are in
 * `bits`, and chunk->mark - 1 is the index of the entry; after it:
 *   count != 0; rows == NULL: they are [first, first + count), else rows[0] == first;
 *   is_kept: plan == NULL and to == NULL; else, once it has a target, plan == NULL exactly when
 *   to == NULL. */
typedef struct weft__batch_entry {
    weft__chunk *chunk;
    uint64_t *bits;     /* a word is undefined while its bit of the summary is clear; NULL: keys */
    uint64_t *summary;  /* bit per word of `bits` that has any; behind them, in the same block */
    uint32_t bit_words; /* of both; the chunk may be gone when the batch ends */
    uint32_t *rows;     /* into batch->rows, ascending; NULL: the run at `first` */
    uint32_t first;
    uint32_t count;         /* of the rows, when the batch is finished */
    const weft__plan *plan; /* NULL: they die */
    weft__tuple *to;        /* held; NULL: they die, or stay (is_kept) */
    uint32_t span_first;    /* reserved destination */
    bool is_kept;           /* nothing happens to them */
} weft__batch_entry;

/* Neighbouring rows of entities that follow each other in an array. A value: chunk == NULL is the
 * empty one, else first < end <= chunk->count. */
typedef struct weft__row_run {
    weft__chunk *chunk;
    uint32_t first;
    uint32_t end;
} weft__row_run;

/* What the batch of a few entities needs, on the stack beside it. Not initialised: it is larger
 * than what such a batch has to write. */
typedef struct weft__batch_room {
    weft__batch_entry entries[WEFT__BATCH_FEW];
    uint64_t keys[2 * WEFT__BATCH_FEW];
    uint32_t rows[WEFT__BATCH_FEW];
} weft__batch_room;

/* One array operation. Owner: the stack of the operation; made by weft__batch_begin. Always:
 *   rows of an entry are ascending and distinct;
 *   keys != NULL or is_finished: no chunk is marked;
 *   key_count <= key_capacity; after finish entries ascend by chunk id. */
typedef struct weft__batch {
    weft__batch_entry *entries;
    uint32_t count;
    uint32_t capacity; /* 0: those of the room */
    uint32_t *rows;    /* row lists of all entries */
    uint64_t row_count;
    uint64_t row_capacity; /* 0: those of the room */
    weft__spans spans;
    bool is_finished;
    /* a short array, until it turns to bit maps; else NULL */
    uint64_t *keys;     /* of the rows so far: chunk id << 32 | row */
    uint64_t *sorted;   /* the same in order, each once; after weft__batch_sort */
    uint32_t key_count; /* never above key_capacity: one for each entity of the array */
    uint32_t
        key_capacity; /* there is room for twice as many, for sorting; FEW: those of the room */
    weft__batch_room *room;
} weft__batch;

/* Begins an operation on `count` entities; `room` need not be initialised and must outlive it. */
weft__batch weft__batch_begin(weft_world *world, weft__batch_room *room,
                              const weft_entity *entities, uint32_t count);

/* Adds rows that are in one word of bits. */
static inline void weft__batch_entry_add(const weft__batch_entry *entry, uint32_t word_index,
                                         uint64_t rows)
{
    uint64_t *word = &entry->bits[word_index], *some = &entry->summary[word_index / 64];
    uint64_t word_bit = UINT64_C(1) << word_index % 64;
    if (__builtin_expect((*some & word_bit) == 0, 0)) {
        *some |= word_bit;
        *word = rows;
    } else {
        *word |= rows;
    }
}

/* Adds the rows [run.first, run.end) of run.chunk (NULL: none); a second time is fine. False:
 * memory. */
bool weft__batch_add(weft_world *world, weft__batch *batch, weft__row_run run);
/* Notes a row of a short array, and fetches what its removal will write: the misses of many rows
 * overlap. Inlined early: gcc takes a function that only prefetches for one that does nothing. */
static inline __attribute__((always_inline)) void
weft__batch_key(weft__batch *batch, const weft__chunk *chunk, uint32_t row)
{
    const weft__layout *layout = chunk->layout;
    const weft__column *column = layout->columns, *end = column + layout->column_count;
    if (layout->column_count > WEFT__BATCH_FETCHED) end = column + WEFT__BATCH_FETCHED;
    for (; column < end; column++)
        __builtin_prefetch(chunk->base + column->offset + (size_t)row * column->bytes, 1);
    WEFT_ASSERT(batch->key_count < batch->key_capacity);
    batch->keys[batch->key_count++] = (uint64_t)chunk->id << 32 | row;
}

/* Adds the row of an entity known to be at (chunk, row), but not before it is clear that `run` ends
 * with it: then `run` begins with the row, else it grows by it. Begin with {0}, and add the last
 * one. False: memory. */
static inline bool weft__batch_join(weft_world *world, weft__batch *batch, weft__row_run *run,
                                    weft__chunk *chunk, uint32_t row)
{
    if (batch->keys != NULL) {
        weft__batch_key(batch, chunk, row);
        return true;
    }
    if (row == run->end && chunk == run->chunk) {
        run->end++;
        return true;
    }
    weft__row_run ended = *run;
    *run = (weft__row_run){chunk, row, row + 1};
    if (ended.end - ended.first != 1 || ended.chunk->mark == 0)
        return weft__batch_add(world, batch, ended);
    weft__batch_entry_add(&batch->entries[ended.chunk->mark - 1], ended.first / 64,
                          UINT64_C(1) << ended.first % 64);
    return true;
}

/* For operations that need no entries, while there are keys: sorts them. False: memory. */
bool weft__batch_sort(weft_world *world, weft__batch *batch);
/* After it, while batch->row_count < batch->key_count: the rows of the next chunk, in the order of
 * the chunks' ids. */
weft__batch_entry weft__batch_next(const weft_world *world, weft__batch *batch);

/* After the last add: sorts entries by chunk id and lists their rows. False: memory. */
bool weft__batch_finish(weft_world *world, weft__batch *batch);
/* Adds the rows of all the entities and finishes. `what`: the operation, for errors (a stale
 * handle, memory). */
weft_result weft__batch_select(weft_world *world, weft__batch *batch, const weft_entity *entities,
                               uint32_t count, const char *what);
/* Sends an entry to an archetype (NULL: the rows die; its own: nothing happens). */
weft_result weft__batch_target(weft_world *world, weft__batch_entry *entry, weft__archetype *to);
/* The way of an entry to an archetype; residues get nothing. NULL: error set. */
const weft__plan *weft__batch_plan(weft_world *world, const weft__batch_entry *entry,
                                   weft__archetype *to);
/* Does it all. On failure nothing has changed. Call weft__batch_fini after it. */
weft_result weft__batch_apply(weft_world *world, weft__batch *batch);
void weft__batch_fini(weft_world *world, weft__batch *batch);

/* What destruction does to the rows of an entry: residue or death. */
weft_result weft__batch_target_death(weft_world *world, weft__batch_entry *entry);

#endif
