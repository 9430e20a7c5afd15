/* SPDX-License-Identifier: MIT */
/* directory_lend.c: blocks of the entity directory that are out, and what their borrower does. See
 * directory_lend.h; the protocol of the directory is at the top of directory.c. */
#include "directory_lend.h"
#include "bits.h"
#include "invariant.h"

/* ---- owner ---- */

/* The block that stands for lent ones: full of retired slots. */
static bool stand_in_obtain(weft__directory *directory)
{
    if (directory->stand_in != NULL) return true;
    weft__entity_block *block =
        WEFT__NEW_ZEROED(directory->memory, WEFT__MEMORY_ENTITIES, 1, *block);
    if (block == NULL) return false;
    for (uint32_t word = 0; word < WEFT__BLOCK_WORDS; word++)
        block->used[word] = bits_mask(WEFT__BLOCK_SLOTS < 64 ? WEFT__BLOCK_SLOTS : 64);
    block->first_word = WEFT__BLOCK_WORDS;
    at_init(&block->x_count, WEFT__BLOCK_SLOTS);
    at_init(&block->x_retired, WEFT__BLOCK_SLOTS);
    directory->stand_in = block;
    return true;
}

static void entry_put(weft__directory *directory, uint32_t index, weft__entity_block *block)
{
    weft__outside_lock(directory); /* no recorder copies the table meanwhile */
    weft__block_table *table = at_load_acq(&directory->x_table); /* D2 */
    at_store_rel(&table->x_blocks[index], block);                /* D3 */
    weft__outside_unlock(directory);
    if (directory->room_index == index) directory->room_index = UINT32_MAX;
}

static void taken_put(weft__directory *directory, uint32_t index, bool is_taken)
{
    uint64_t bit = UINT64_C(1) << index % 64;
    directory->taken[index / 64] =
        is_taken ? directory->taken[index / 64] | bit : directory->taken[index / 64] & ~bit;
}

/* Nothing lives there, nothing ever ended for good, and it is not lent. */
static bool is_free(const weft__entity_block *block)
{
    return at_load_rlx(&block->x_count) == 0; /* relaxed: idle */
}

weft__lent_block weft__directory_withdraw(weft__directory *directory, uint32_t index)
{
    weft__lent_block lent = {weft__directory_block(directory, index * WEFT__BLOCK_SLOTS), index, 0};
    WEFT_ASSERT(directory->stand_in != NULL && lent.block != directory->stand_in);
    entry_put(directory, index, directory->stand_in);
    weft__directory_hint(directory, index, true);
    taken_put(directory, index, true);
    return lent;
}

/* The lowest block from `index` on that can be lent; `end`: none. Blocks of sections are passed
 * over by their bits: to look at each took 1.3 ms of a frame with 1,400 of them. */
static uint32_t next_free(const weft__directory *directory, uint32_t index, uint32_t end)
{
    while (index < end) {
        uint64_t open = ~directory->taken[index / 64] & ~bits_mask(index % 64);
        if (open == 0) {
            index = (index | 63u) + 1;
            continue;
        }
        index = (index & ~63u) + bits_lowest(open);
        if (index < end && is_free(weft__directory_block(directory, index * WEFT__BLOCK_SLOTS)))
            return index;
        index++;
    }
    return end;
}

static uint32_t lowest_room(const weft__directory *directory)
{
    uint32_t lowest = at_load_rlx(&directory->x_lowest_room); /* relaxed: idle */
    return lowest < directory->first_room ? lowest : directory->first_room;
}

uint32_t weft__directory_lendable(const weft__directory *directory, uint32_t most)
{
    uint32_t end = at_load_rlx(&directory->x_block_end), found = 0; /* relaxed: idle */
    uint32_t index = next_free(directory, lowest_room(directory), end);
    for (; index < end && found < most; index = next_free(directory, index + 1, end)) found++;
    return found;
}

weft_result weft__directory_lend(weft__directory *directory, uint32_t count, weft__lent_block *out)
{
    if (!stand_in_obtain(directory)) return WEFT_OUT_OF_MEMORY;
    uint32_t end = at_load_rlx(&directory->x_block_end), found = 0; /* relaxed: idle */
    uint32_t index = next_free(directory, lowest_room(directory), end);
    for (; index < end && found < count; index = next_free(directory, index + 1, end))
        out[found++].index = index;
    if (count - found > directory->block_limit - end) return WEFT_LIMIT;
    while (found < count) {
        /* relaxed: looked at again */
        if (end == at_load_rlx(&directory->x_block_end)) {
            weft_result result =
                weft__directory_grow(directory, weft__directory_ahead(directory, count - found));
            if (result != WEFT_OK) return result;
            continue;
        }
        /* new: not looked at, so not touched */
        if (!weft__outside_has(directory, end)) out[found++].index = end;
        end++;
    }
    for (uint32_t i = 0; i < count; i++) out[i] = weft__directory_withdraw(directory, out[i].index);
    return WEFT_OK;
}

void weft__directory_put_back(weft__directory *directory, const weft__lent_block *lent)
{
    WEFT_ASSERT(weft__directory_block(directory, lent->index * WEFT__BLOCK_SLOTS) ==
                directory->stand_in);
    entry_put(directory, lent->index, lent->block);
    bool is_full = at_load_rlx(&lent->block->x_count) == WEFT__BLOCK_SLOTS; /* relaxed: idle */
    weft__directory_hint(directory, lent->index, is_full);
    taken_put(directory, lent->index, !is_free(lent->block));
    if (!is_full && lent->index < directory->first_room) directory->first_room = lent->index;
}

void weft__directory_leave(weft__directory *directory, uint32_t index)
{
    taken_put(directory, index, false);
}

/* ---- borrower ---- */

void weft__lent_level(weft__lent_block *lent)
{
    const weft_a64 *x_slots = lent->block->x_slots;
    uint32_t known = at_plain(&lent->block->x_had_deaths);
    uint64_t most = known > 1 ? (uint64_t)known << 32 : 0;
    for (uint32_t slot = 0; slot < WEFT__BLOCK_SLOTS && known <= 1; slot++) {
        uint64_t now = at_plain(&x_slots[slot]);
        most = now > most ? now : most;
    }
    WEFT_ASSERT((uint32_t)most == 0 && (most >> 32 & 1) == 0); /* dead */
    lent->version = (uint32_t)(most >> 32) + 1;
}

void weft__lent_fill(const weft__directory *directory, const weft__lent_block *lent, uint32_t slot,
                     uint32_t count, uint32_t location, weft_entity *out)
{
    WEFT_ASSERT(lent->version != 0);
    uint32_t index = (lent->index * WEFT__BLOCK_SLOTS + slot) ^ directory->tag_bits;
    uint64_t born = (uint64_t)lent->version << 32;
    weft_a64 *x_slot = &lent->block->x_slots[slot];
    for (uint32_t i = 0; i < count; i++) {
        /* relaxed: the slots are this thread's until the block is handed over */
        at_store_rlx(&x_slot[i], born | (location + i));
        uint64_t handle = born | (index + i);
        memcpy(&out[i], &handle, sizeof handle);
    }
}

void weft__lent_settle(weft__entity_block *block, uint32_t count)
{
    for (uint32_t word = 0; word < WEFT__BLOCK_WORDS; word++) {
        uint32_t first = word * 64, here = count > first ? count - first : 0;
        block->used[word] = bits_mask(here < 64 ? here : 64);
    }
    block->first_word = count / 64;
    at_store_rlx(&block->x_count, count); /* relaxed: handed over later */
}

void weft__lent_kill(weft__entity_block *block)
{
    uint32_t retired = 0, most = 0;
    memset(block->used, 0, sizeof block->used);
    for (uint32_t slot = 0; slot < WEFT__BLOCK_SLOTS; slot++) {
        /* relaxed, also below: the block is of this thread alone */
        uint32_t version = (uint32_t)(at_load_rlx(&block->x_slots[slot]) >> 32);
        bool is_last = version == WEFT__VERSION_LAST;
        uint32_t next = is_last ? 0 : version + (version & 1);
        most = next > most ? next : most;
        if ((version & 1) == 0) continue;
        at_store_rlx(&block->x_slots[slot], (uint64_t)next << 32); /* relaxed: above */
        if (!is_last) continue;
        block->used[slot / 64] |= UINT64_C(1) << slot % 64;
        retired++;
    }
    block->first_word = 0;
    at_store_rlx(&block->x_count, retired);                  /* relaxed: above */
    at_store_rlx(&block->x_retired, retired);                /* relaxed: above */
    at_store_rlx(&block->x_had_deaths, most > 1 ? most : 1); /* relaxed: above */
}
