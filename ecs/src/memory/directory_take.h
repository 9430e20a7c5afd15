/* SPDX-License-Identifier: MIT */
/* directory_take.h: free slots of a block of the entity directory come to life, the lowest ones
 * first: runs of them two at a time, scattered ones singly.
 *
 * For directory.c alone, which says who may run when, and what D1 is. */
#ifndef WEFT_DIRECTORY_TAKE_H
#define WEFT_DIRECTORY_TAKE_H

#include "bits.h"
#include "directory.h"

#include <string.h>

/* How new slots of a block are filled: what makes a handle's index of a slot number, and by how
 * much the location grows from one to the next. On the stack of one call. */
typedef struct placing {
    uint32_t index_bits;
    uint32_t step;
} placing;

static inline placing placing_of(const weft__directory *directory, uint32_t block, uint32_t step)
{
    return (placing){block * WEFT__BLOCK_SLOTS ^ directory->tag_bits, step};
}

/* Brings one free slot to life. The handle is made whole: two stores of four bytes would stall the
 * next load of it. */
static inline __attribute__((always_inline)) void slot_fill(weft_a64 *x_slot, uint32_t location,
                                                            uint32_t index, weft_entity *out)
{
    /* relaxed: guarded by the block (D1); look-ups follow the hand-over of the handle. The
     * location of a free slot is 0 */
    uint64_t born = at_load_rlx(x_slot) + WEFT__VERSION_ONE;
    at_store_rlx(x_slot, born | location); /* relaxed: above */
    uint64_t handle = born | index;
    memcpy(out, &handle, sizeof handle);
}

/* Brings the free slots [slot, slot + count) to life, two at a time: these are most of what a batch
 * costs. The block is held or the world idle. */
static inline void slots_fill(weft__entity_block *block, uint32_t slot, uint32_t count,
                              const placing *place, uint32_t location, weft_entity *out)
{
    weft_a64 *x_slot = &block->x_slots[slot];
    uint32_t index = slot ^ place->index_bits, step = place->step;
    const weft_entity *end = out + count;
    if (slot % 2 != 0) {
        slot_fill(x_slot++, location, index++, out++);
        location += step;
    }
    weft_pair indices = {index, index + 1}, locations = {location, location + step};
#pragma GCC unroll 4
    for (; end - out >= 2; out += 2, x_slot += 2) {
        weft_pair born = at_load_pair_rlx(x_slot) + WEFT__VERSION_ONE; /* relaxed: as slot_fill */
        at_store_pair_rlx(x_slot, born | locations);                   /* relaxed: as slot_fill */
        born |= indices;
        memcpy(out, &born, sizeof born);
        indices += 2;
        locations += 2 * (uint64_t)step;
    }
    if (out != end) slot_fill(x_slot, (uint32_t)locations[0], (uint32_t)indices[0], out);
}

/* Marks a run of free slots from the lowest one of `*word` on as used, at most `count`; it goes on
 * through words without a used slot. Returns its length; *word is where it ends. */
static inline uint32_t run_mark(weft__entity_block *block, uint32_t *word, uint64_t free,
                                uint32_t count)
{
    uint32_t first = bits_lowest(free);
    uint64_t rest = ~(free >> first);
    uint32_t part = rest != 0 ? bits_lowest(rest) : 64;
    if (part > 64 - first) part = 64 - first;
    if (part > count) part = count;
    block->used[*word] |= bits_mask(part) << first;
    uint32_t run = part, w = *word;
    bool is_open = first + part == 64;
    while (is_open && run < count && w + 1 < WEFT__BLOCK_WORDS && block->used[w + 1] == 0) {
        part = count - run < 64 ? count - run : 64;
        block->used[++w] = bits_mask(part);
        is_open = part == 64;
        run += part;
    }
    *word = w;
    return run;
}

enum { RUN_SHORT = 8 }; /* mean length of the runs of a word up to which slots are taken singly */

/* Whether the free slots of a word are mostly short runs, as among the ids of rows that left one by
 * one: taking those as runs costs ten times as much as their slots. */
static inline bool is_scattered(uint64_t free)
{
    const uint64_t starts = free & ~(free << 1);
    return (starts & (starts - 1)) != 0 && bits_count(starts) * RUN_SHORT > bits_count(free);
}

static inline uint64_t word_free(const weft__entity_block *block, uint32_t word)
{
    return ~block->used[word] & bits_mask(WEFT__BLOCK_SLOTS - word * 64);
}

/* Brings the lowest free slots of a word to life, at most `count`; returns how many. The block is
 * held or the world idle. */
static inline uint32_t word_take(weft__entity_block *block, uint32_t word, uint32_t count,
                                 const placing *place, uint32_t location, weft_entity *out)
{
    const uint64_t free = word_free(block, word);
    const uint32_t index_bits = place->index_bits, step = place->step;
    uint64_t left = free;
    uint32_t taken = 0;
    for (; left != 0 && taken < count; left &= left - 1, taken++, location += step) {
        uint32_t slot = word * 64 + bits_lowest(left);
        slot_fill(&block->x_slots[slot], location, slot ^ index_bits, &out[taken]);
    }
    block->used[word] |= free ^ left;
    return taken;
}

/* Takes up to `count` lowest free slots of a block with room; returns how many. The block is held
 * or the world idle. */
static inline uint32_t block_take(weft__entity_block *block, uint32_t count, const placing *place,
                                  uint32_t location, weft_entity *out)
{
    uint32_t taken = 0, word = block->first_word;
    while (taken < count && word < WEFT__BLOCK_WORDS) {
        uint64_t free = word_free(block, word);
        if (free == 0) {
            word++;
            continue;
        }
        uint32_t run, slot = word * 64 + bits_lowest(free);
        if (is_scattered(free)) {
            run = word_take(block, word, count - taken, place, location, out + taken);
        } else {
            run = run_mark(block, &word, free, count - taken);
            slots_fill(block, slot, run, place, location, out + taken);
        }
        location += place->step * run;
        taken += run;
    }
    block->first_word = word;
    return taken;
}

#endif
