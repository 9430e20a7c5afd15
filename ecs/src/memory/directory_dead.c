/* SPDX-License-Identifier: MIT */
/* directory_dead.c: the indices of the entity directory that are not alive: listing them, and
 * making them what a list says. Which ids come next, and with which versions, is decided by them
 * alone. The protocol and its edges are at the top of directory.c. World idle. */
#include "directory_dead.h"
#include "directory.h"

#include "bits.h"
#include "invariant.h"

/* Slots that share a word of bits. */
#define STRIDE (WEFT__BLOCK_SLOTS < 64 ? WEFT__BLOCK_SLOTS : 64u)

/* Versions of the slots of a word, or-ed: 0 when none of them was ever alive. */
static uint64_t word_versions(const weft__entity_block *block, uint32_t first)
{
    weft_pair any = {0, 0};
    for (uint32_t slot = first; slot < first + STRIDE; slot += 2)
        any |= at_load_pair_rlx(&block->x_slots[slot]); /* relaxed: idle */
    return (any[0] | any[1]) >> 32;
}

static uint32_t version_of(const weft__entity_block *block, uint32_t slot)
{
    return (uint32_t)(at_load_rlx(&block->x_slots[slot]) >> 32); /* relaxed: idle */
}

/* The slots of a word of bits that are not alive: free, or retired. */
static uint64_t word_dead(const weft__entity_block *block, uint32_t first)
{
    uint64_t used = block->used[first / 64], dead = ~used & bits_mask(STRIDE);
    if (at_load_rlx(&block->x_retired) == 0) return dead; /* relaxed: idle */
    for (; used != 0; used &= used - 1)
        if ((version_of(block, first + bits_lowest(used)) & 1) == 0) dead |= used & -used;
    return dead;
}

bool weft__directory_dead_next(const weft__directory *directory, uint32_t *from, weft__dead *out)
{
    uint32_t end = weft__directory_end(directory);
    for (uint32_t index = *from; index < end; index = (index | (STRIDE - 1)) + 1) {
        const weft__entity_block *block = weft__directory_block(directory, index);
        if (weft__directory_is_lent(directory, block)) continue;
        uint32_t slot = index % WEFT__BLOCK_SLOTS, first = slot & ~(STRIDE - 1);
        uint64_t dead = word_dead(block, first) & ~bits_mask(slot % STRIDE);
        if (dead == 0 || (block->used[first / 64] == 0 && word_versions(block, first) == 0))
            continue;
        for (; dead != 0; dead &= dead - 1) {
            uint32_t at = first + bits_lowest(dead), version = version_of(block, at);
            bool is_retired = (block->used[at / 64] >> at % 64 & 1) != 0;
            if (version == 0 && !is_retired) continue;
            *out = (weft__dead){index - slot + at, is_retired ? WEFT__VERSION_LAST : version};
            *from = out->index + 1;
            return true;
        }
    }
    *from = end;
    return false;
}

weft_result weft__directory_dead_enter(weft__directory *directory, weft__dead dead)
{
    weft_result result = weft__directory_force(directory, dead.index, dead.version, 0);
    if (result != WEFT_OK || dead.version != WEFT__VERSION_LAST) return result;
    weft_entity last = {dead.index ^ directory->tag_bits, WEFT__VERSION_LAST};
    weft__directory_free_owner(directory, last); /* retires it */
    return WEFT_OK;
}

static void put_one(weft__directory *directory, const weft__entity_block *block, uint32_t index,
                    uint32_t version)
{
    uint32_t slot = index % WEFT__BLOCK_SLOTS;
    bool is_retired = (block->used[slot / 64] >> slot % 64 & 1) != 0;
    if (version == WEFT__VERSION_LAST) {
        if (!is_retired)
            weft__directory_dead_enter(directory, (weft__dead){index, WEFT__VERSION_LAST});
    } else if (is_retired || version_of(block, slot) != version) {
        weft__directory_force(directory, index, version, 0);
    }
}

void weft__directory_dead_put(weft__directory *directory, const weft__dead *dead, uint32_t count)
{
    const weft__dead *next = dead, *last = dead + count;
    uint32_t end = weft__directory_end(directory);
    for (uint32_t index = 0; index < end; index = (index | (STRIDE - 1)) + 1) {
        const weft__entity_block *block = weft__directory_block(directory, index);
        uint32_t first = index % WEFT__BLOCK_SLOTS;
        uint64_t candidates = word_dead(block, first);
        bool is_listed = next != last && next->index - index < STRIDE;
        if (candidates == 0 ||
            (!is_listed && block->used[first / 64] == 0 && word_versions(block, first) == 0))
            continue;
        for (; candidates != 0; candidates &= candidates - 1) {
            uint32_t at = index + bits_lowest(candidates);
            bool is_next = next != last && next->index == at;
            put_one(directory, block, at, is_next ? next->version : 0);
            if (is_next) next++;
        }
    }
    WEFT_ASSERT(next == last); /* none of them is alive */
}
