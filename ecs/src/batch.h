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
    uint64_t *bits;
    uint32_t bit_words; /* layout->mask_words; the chunk may be gone when the batch ends */
    uint32_t *rows;     /* into batch->rows, ascending; NULL: the run at `first` */
    uint32_t first;
    uint32_t count;         /* of the rows, when the batch is finished */
    const weft__plan *plan; /* NULL: they die */
    weft__tuple *to;        /* held; NULL: they die, or stay (is_kept) */
    uint32_t span_first;    /* reserved destination */
    bool is_kept;           /* nothing happens to them */
} weft__batch_entry;

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

/* Makes the entry of a chunk without one. False: memory. */
bool weft__batch_open(weft_world *world, weft__batch *batch, weft__chunk *chunk);
/* Adds the row of an entity known to be at (chunk, row); a second time is fine. False: memory. */
static inline bool weft__batch_add(weft_world *world, weft__batch *batch, weft__chunk *chunk,
                                   uint32_t row)
{
    if (__builtin_expect(chunk->mark == 0, 0) && !weft__batch_open(world, batch, chunk))
        return false;
    batch->entries[chunk->mark - 1].bits[row / 64] |= UINT64_C(1) << row % 64;
    return true;
}

/* After the last add: sorts entries by chunk id and lists their rows. False: memory. */
bool weft__batch_finish(weft_world *world, weft__batch *batch);
/* Sends an entry to an archetype (NULL: the rows die; its own: nothing happens). */
weft_result weft__batch_target(weft_world *world, weft__batch_entry *entry, weft__archetype *to);
/* Does it all. On failure nothing has changed. Call weft__batch_fini after it. */
weft_result weft__batch_apply(weft_world *world, weft__batch *batch);
void weft__batch_fini(weft_world *world, weft__batch *batch);

/* What destruction does to the rows of an entry: residue or death. */
weft_result weft__batch_target_death(weft_world *world, weft__batch_entry *entry);

#endif
