/* SPDX-License-Identifier: MIT */
/* batch.h: which rows the handles of an array mean: collected per chunk, in order and without
 * duplicates, as the parts of a change (row_moves.h). Long arrays collect them in bit maps; short
 * ones, which would have as many maps as rows, in a list of keys that is sorted.
 *
 * Lives on the stack of one operation; owner only. */
#ifndef WEFT_BATCH_H
#define WEFT_BATCH_H

#include "row_moves.h"

/* Arrays up to SHORT entities are collected by keys, up to WEFT__CHANGE_FEW without taking memory.
 */
#define WEFT__BATCH_SHORT 2048u
#define WEFT__BATCH_FETCHED 8u /* columns of a row that are fetched early */

/* The rows of one chunk as bits. Owner: the batch; chunk->mark - 1 is its index. */
typedef struct weft__batch_entry {
    weft__chunk *chunk;
    uint64_t *bits;     /* a word is undefined while its bit of the summary is clear */
    uint64_t *summary;  /* bit per word of `bits` that has any; behind them, in the same block */
    uint32_t bit_words; /* of both; the chunk may be gone when the batch ends */
    uint32_t count;     /* of the rows, when the batch is finished */
} weft__batch_entry;

/* Neighbouring rows of entities that follow each other in an array. A value: chunk == NULL is the
 * empty one, else first < end <= chunk->count. */
typedef struct weft__row_run {
    weft__chunk *chunk;
    uint32_t first;
    uint32_t end;
} weft__row_run;

/* One array operation. Owner: the stack of the operation; made by weft__batch_begin. Always:
 *   keys != NULL or is_finished: no chunk is marked; key_count <= key_capacity. */
typedef struct weft__batch {
    weft__change *change;
    WEFT__LIST(weft__batch_entry) entries;
    bool is_finished;
    /* a short array, until it turns to bit maps; else NULL */
    uint64_t *keys;        /* of the rows so far: chunk id << 32 | row */
    uint64_t *sorted;      /* the same in order, each once; after weft__batch_sort */
    uint32_t key_count;    /* never above key_capacity: one for each entity of the array */
    uint32_t key_capacity; /* there is room for twice as many, for sorting */
    uint64_t few[2 * WEFT__CHANGE_FEW]; /* not initialised: more than a small batch writes */
} weft__batch;

/* Begins the collection of `count` entities for a change without parts. */
void weft__batch_begin(weft__batch *batch, weft__change *change, const weft_entity *entities,
                       uint32_t count);

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
bool weft__batch_add(weft__batch *batch, weft__row_run run);
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
static inline bool weft__batch_join(weft__batch *batch, weft__row_run *run, weft__chunk *chunk,
                                    uint32_t row)
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
        return weft__batch_add(batch, ended);
    weft__batch_entry_add(&batch->entries.at[ended.chunk->mark - 1], ended.first / 64,
                          UINT64_C(1) << ended.first % 64);
    return true;
}

/* For operations that need no parts, while there are keys: sorts them. False: memory. */
bool weft__batch_sort(weft__batch *batch);
/* After it, while change->rows.count < batch->key_count: the rows of the next chunk, in the order
 * of the chunks' ids. */
weft__change_part weft__batch_next(const weft__batch *batch);

/* After the last add: the parts of the change, by ascending chunk id. False: memory. */
bool weft__batch_finish(weft__batch *batch);
void weft__batch_fini(weft__batch *batch);
/* All of it: the rows of the entities become the parts of the change. `what`: the operation, for
 * errors (a stale handle, memory). */
weft_result weft__batch_select(weft__change *change, const weft_entity *entities, uint32_t count,
                               const char *what);

#endif
