/* SPDX-License-Identifier: MIT */
/* enable.h: enable bits of chunks: setting one, and the mask of a slice for a query.
 *
 * The bits say "disabled", so that new rows and plain components are all zero. Words and counts of
 * one slice belong to the worker of the slice (or to the owner): slices are multiples of 64 rows
 * long, so that no word and no count is shared between two of them, and setting needs no locked
 * instruction. */
#ifndef WEFT_ENABLE_H
#define WEFT_ENABLE_H

#include "archetype_state.h"
#include "query_state.h"

/* Sets the bit of a row and keeps the count of its slice exact; true when it changed. `enableable`:
 * position among the archetype's enableable types. One thread per slice. */
static inline bool weft__chunk_enable(const weft__chunk *chunk, uint32_t enableable, uint32_t row,
                                      bool is_enabled)
{
    const weft__layout *layout = chunk->layout;
    weft_a64 *x_word = &chunk->x_disabled[(size_t)enableable * layout->mask_words + (row >> 6)];
    weft_a32 *x_count = &chunk->x_disabled_counts[(size_t)enableable * layout->slice_count +
                                                  (row >> layout->slice_shift)];
    uint64_t old = at_load_rlx(x_word); /* relaxed: one thread per slice */
    if (is_enabled) { /* two ways: each tests, flips and counts with one instruction */
        if ((old >> (row & 63) & 1) == 0) return false;
        at_store_rlx(x_word, old & ~(UINT64_C(1) << (row & 63))); /* relaxed: as above */
        at_store_rlx(x_count, at_load_rlx(x_count) - 1);          /* relaxed: as above */
    } else {
        if ((old >> (row & 63) & 1) != 0) return false;
        at_store_rlx(x_word, old | UINT64_C(1) << (row & 63)); /* relaxed: as above */
        at_store_rlx(x_count, at_load_rlx(x_count) + 1);       /* relaxed: as above */
    }
    return true;
}
bool weft__chunk_is_enabled(const weft__chunk *chunk, uint32_t enableable, uint32_t row);

/* What the disabled counts alone say about a slice; ROWS_SOME: look at the bits. */
weft__rows weft__query_mask_guess(const weft__query *query, uint32_t match,
                                  const weft__chunk *chunk, uint32_t slice);

/* The enable mask of a slice of a match into `mask`. Only useful when the match has masks. */
weft__rows weft__query_mask(const weft__query *query, uint32_t match, const weft__chunk *chunk,
                            uint32_t slice, uint64_t *mask);

/* Whether one row of a match satisfies the enable conditions. */
bool weft__query_row_is_enabled(const weft__query *query, uint32_t match, const weft__chunk *chunk,
                                uint32_t row);

#endif
