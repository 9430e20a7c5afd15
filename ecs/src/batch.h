/* batch.h: an array operation on entities: the rows concerned, collected per chunk as bit maps
 * (which sorts them and drops duplicates), then changed in steps: plan, copy, close, settle.
 *
 * Lives on the stack of one operation; owner only. */
#ifndef WEFT_BATCH_H
#define WEFT_BATCH_H

#include "structure.h"

/* The rows of one chunk and what becomes of them. */
typedef struct weft__batch_entry {
    weft__chunk *chunk;
    uint64_t *bits;     /* a word is undefined while its bit of the summary is clear */
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

/* Neighbouring rows of entities that follow each other in an array. A value. */
typedef struct weft__row_run {
    weft__chunk *chunk;
    uint32_t first;
    uint32_t end;
} weft__row_run;

/* One array operation. Owner: the stack of the operation; zero-initialise. Always: rows of an entry
 * are ascending and distinct; no chunk is marked once it is finished. */
typedef struct weft__batch {
    weft__batch_entry *entries;
    uint32_t count;
    uint32_t capacity;
    uint32_t *rows; /* row lists of all entries */
    uint64_t row_count;
    uint64_t row_capacity;
    weft__spans spans;
    bool is_finished;
} weft__batch;

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
/* Adds the row of an entity known to be at (chunk, row), but not before it is clear that `run` ends
 * with it: then `run` begins with the row, else it grows by it. Begin with {0}, and add the last
 * one. False: memory. */
static inline bool weft__batch_join(weft_world *world, weft__batch *batch, weft__row_run *run,
                                    weft__chunk *chunk, uint32_t row)
{
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

/* After the last add: sorts entries by chunk id and lists their rows. False: memory. */
bool weft__batch_finish(weft_world *world, weft__batch *batch);
/* Adds the rows of all the entities and finishes. `what`: the operation, for errors (a stale
 * handle, memory). */
weft_result weft__batch_select(weft_world *world, weft__batch *batch, const weft_entity *entities,
                               uint32_t count, const char *what);
/* Sends an entry to an archetype (NULL: the rows die; its own: nothing happens). */
weft_result weft__batch_target(weft_world *world, weft__batch_entry *entry, weft__archetype *to);
/* Does it all. On failure nothing has changed. Call weft__batch_fini after it. */
weft_result weft__batch_apply(weft_world *world, weft__batch *batch);
void weft__batch_fini(weft_world *world, weft__batch *batch);

/* What destruction does to the rows of an entry: residue or death. */
weft_result weft__batch_target_death(weft_world *world, weft__batch_entry *entry);

#endif
