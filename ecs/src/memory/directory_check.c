/* SPDX-License-Identifier: MIT */
/* directory_check.c: the entity directory outside the hot paths: counts, versions set by snapshots
 * and tests, and the check of every invariant. The protocol and its edges (D1 to D4) are at the top
 * of directory.c. */
#include "directory_check.h"
#include "directory.h"
#include "directory_grow.h"
#include "directory_outside.h"

#include <stdio.h>

uint32_t weft__directory_end(const weft__directory *directory)
{
    /* relaxed would do: a look-up acquires the end again */
    return at_load_acq(&directory->x_block_end) * WEFT__BLOCK_SLOTS; /* D3 */
}

uint64_t weft__directory_alive(const weft__directory *directory)
{
    uint64_t alive = 0;
    uint32_t end = weft__directory_end(directory);
    for (uint32_t index = 0; index < end; index += WEFT__BLOCK_SLOTS) {
        weft__entity_block *block = weft__directory_block(directory, index);
        if (block != NULL && block->is_outside) {
            alive += at_load_rlx(&weft__outside_of(block)->x_alive); /* relaxed: statistic */
            continue;
        }
        uint32_t used = block == NULL ? 0 : at_load_rlx(&block->x_count); /* relaxed: statistic */
        /* relaxed: statistic */
        if (used != WEFT__BLOCK_BUSY && used != 0) alive += used - at_load_rlx(&block->x_retired);
    }
    return alive;
}

uint32_t weft__directory_version(const weft__directory *directory, uint32_t index)
{
    const weft_a64 *x_slot = weft__directory_slot(directory, index ^ directory->tag_bits);
    return x_slot == NULL ? 0 : (uint32_t)(at_load_rlx(x_slot) >> 32); /* relaxed: idle */
}

/* Sets a slot; the bit in `used` follows. Returns what that adds to the slots in use. */
static int slot_force(weft__entity_block *block, uint32_t slot, uint32_t version, uint32_t location)
{
    uint64_t bit = UINT64_C(1) << slot % 64;
    bool is_used = (block->used[slot / 64] & bit) != 0, is_alive = (version & 1) != 0;
    bool was_alive = (at_load_rlx(&block->x_slots[slot]) >> 32 & 1) != 0;    /* relaxed: idle */
    at_store_rlx(&block->x_slots[slot], (uint64_t)version << 32 | location); /* relaxed: idle */
    if (at_load_rlx(&block->x_had_deaths) > 1)                               /* relaxed: idle */
        at_store_rlx(&block->x_had_deaths, 1u); /* relaxed: idle; any version may be new */
    if (is_used && !was_alive)                  /* it was retired: a snapshot brings it back */
        at_store_rlx(&block->x_retired, at_load_rlx(&block->x_retired) - 1); /* relaxed: idle */
    if (block->is_outside) weft__outside_count(block, (uint32_t)(is_alive - was_alive));
    if (is_used == is_alive) return 0;
    block->used[slot / 64] ^= bit;
    return is_alive ? 1 : -1;
}

weft_result weft__directory_force(weft__directory *directory, uint32_t index, uint32_t version,
                                  uint32_t location)
{
    uint32_t home = index / WEFT__BLOCK_SLOTS;
    while (home >= at_load_rlx(&directory->x_block_end)) { /* relaxed: idle */
        weft_result result = weft__directory_grow(directory, 1);
        if (result != WEFT_OK) return result;
    }
    weft__entity_block *block = weft__directory_block(directory, index);
    uint32_t slot = index % WEFT__BLOCK_SLOTS;
    if (block->is_outside) weft__outside_lock(directory);
    int change = slot_force(block, slot, version, location);
    if (block->is_outside) weft__outside_unlock(directory);
    if (change == 0 || block->is_outside) return WEFT_OK;
    uint32_t now = at_load_rlx(&block->x_count) + (uint32_t)change; /* relaxed: idle */
    at_store_rlx(&block->x_count, now);                             /* relaxed: idle */
    weft__directory_hint(directory, home, now == WEFT__BLOCK_SLOTS);
    if (change < 0) {
        if (slot / 64 < block->first_word) block->first_word = slot / 64;
        if (home < directory->first_room) directory->first_room = home;
    }
    return WEFT_OK;
}

void weft__directory_forget(weft__directory *directory)
{
    uint32_t end = at_load_rlx(&directory->x_block_end); /* relaxed: idle */
    for (uint32_t home = 0; home < end; home++) {
        weft__entity_block *block = weft__directory_block(directory, home * WEFT__BLOCK_SLOTS);
        bool is_outside = block->is_outside;
        if (is_outside) weft__outside_lock(directory);
        if (is_outside) at_init(&weft__outside_of(block)->x_alive, 0);
        *block = (weft__entity_block){.is_outside = is_outside};
        if (is_outside) at_init(&block->x_count, WEFT__BLOCK_SLOTS);
        weft__directory_hint(directory, home, is_outside);
        if (is_outside) weft__outside_unlock(directory);
    }
    directory->first_room = 0;
}

bool weft__directory_is_new(const weft__directory *directory)
{
    uint32_t end = weft__directory_end(directory);
    for (uint32_t index = 0; index < end; index++) {
        const weft__entity_block *block = weft__directory_block(directory, index);
        uint32_t slot = index % WEFT__BLOCK_SLOTS;
        bool is_used = (block->used[slot / 64] >> slot % 64 & 1) != 0;
        if (is_used || weft__directory_version(directory, index) != 0) return false;
    }
    return true;
}

/* NULL when the books of a block are right. */
static const char *block_check(weft__entity_block *block)
{
    uint32_t used = 0, alive = 0;
    for (uint32_t slot = 0; slot < WEFT__BLOCK_SLOTS; slot++) {
        bool is_used = (block->used[slot / 64] >> slot % 64 & 1) != 0;
        uint32_t version = (uint32_t)(at_plain(&block->x_slots[slot]) >> 32);
        used += is_used ? 1 : 0;
        alive += version & 1;
        if ((version & 1) != 0 && !is_used) return "an alive slot has no bit";
        if (is_used && (version & 1) == 0 && version != 0) return "a dead slot has its bit set";
        if ((version & 1) == 0 && (uint32_t)at_plain(&block->x_slots[slot]) != 0)
            return "a dead slot has a location";
        if (!is_used && slot / 64 < block->first_word) return "first_word passes over a free slot";
    }
    if (block->is_outside) return weft__outside_check(block);
    if (used != at_plain(&block->x_count)) return "x_count is not the number of bits";
    return alive + at_plain(&block->x_retired) == used
               ? NULL
               : "alive + retired is not the number of bits";
}

bool weft__directory_check(const weft__directory *directory, char *text, size_t text_bytes)
{
    uint32_t end = at_plain(&directory->x_block_end);
    uint32_t lowest = at_plain(&directory->x_lowest_room);
    for (uint32_t i = 0; i < end; i++) {
        weft__entity_block *block = weft__directory_block(directory, i * WEFT__BLOCK_SLOTS);
        const char *broken = block == NULL ? "a block is missing" : block_check(block);
        if (broken == NULL && i < directory->first_room && i < lowest &&
            at_plain(&block->x_count) != WEFT__BLOCK_SLOTS)
            broken = "first_room passes over a block with room";
        if (broken == NULL) continue;
        snprintf(text, text_bytes, "entity block %u: %s", i, broken);
        return false;
    }
    return true;
}
