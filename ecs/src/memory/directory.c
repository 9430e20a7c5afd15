/* SPDX-License-Identifier: MIT */
/* directory.c: the protocol of the entity directory.
 *
 * The word x_count of a block is its lock: a caller of the _any family takes it by CAS count ->
 * BUSY, changes bits and versions, and lets go by storing the new count. A busy block is passed
 * over, but never taken for full: a round that met one and found nothing is repeated. Nothing is
 * allocated while a block is held. Slots are read by look-ups without the lock; a thread that
 * passes a handle on orders its creation before the look-up.
 *
 * Blocks are found through a table, which never loses one: blocks are published at ascending
 * indices (who finds an entry taken goes on to the next one), and a table is followed by a larger
 * one only by a thread that came past its last entry; so all of its entries are made, and the copy
 * in the larger table is complete. An entry that is there changes where a block is lent
 * (directory_lend.h): no worker makes blocks then, and the lock of directory.h is held.
 *
 * Edges:
 * D1  let go: store of x_count (release) -> take: CAS of x_count (acquire); covers used,
 *     first_word, retired, slots
 * D2  make a table or a slab: filled, then CAS of its pointer (release) -> acquire load
 * D3  make a block: zeroed, then CAS of its pointer (release) -> CAS that finds it taken, or load
 *     (acquire); then CAS of x_block_end past it (release) -> acquire load, which makes the block
 *     and a table with it visible
 * D4  hints: or and and of x_full -> with itself: no hint of another block is lost
 *
 * The _owner family runs alone (world idle; what others did before is ordered by the sync point)
 * and uses relaxed loads and stores of the same words. x_full and x_lowest_room are hints for
 * them: a stale x_full bit only makes a scan that ignores hints necessary.
 *
 * Blocks of recorders outside of systems (directory.h) look full to both families; what
 * frees entities finds them where it finds full ones.
 *
 * Who may run with whom: _any with _any and look-ups; _owner only with look-ups of
 * entities it does not change; both with weft__outside_take and _return. */
#include "directory.h"
#include "bits.h"
#include "invariant.h"

#include <stdio.h>

static void outside_fini(weft__directory *directory);

/* ---- slots that come to life: the lowest first, runs two at a time, scattered ones singly ---- */

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

/* ---- slots ---- */

void weft__directory_hint(weft__directory *directory, uint32_t index, bool is_full)
{
    weft_a64 *x_full = &directory->x_full[index / 64];
    uint64_t bit = UINT64_C(1) << index % 64;
    if (is_full)
        at_or_ar(x_full, bit); /* D4: any order would do, also below: a hint */
    else
        at_and_ar(x_full, ~bit); /* D4 */
}

/* The lowest free slot of a block with room, which is held. */
static inline void slot_take(weft__entity_block *block, uint32_t index_bits, weft_entity *out)
{
    uint32_t word = block->first_word % WEFT__BLOCK_WORDS;
    while (~block->used[word] == 0) word = (word + 1) % WEFT__BLOCK_WORDS;
    uint32_t slot = word * 64 + bits_lowest(~block->used[word]);
    block->used[word] |= block->used[word] + 1; /* sets the lowest zero */
    block->first_word = word;
    slot_fill(&block->x_slots[slot], 0, slot ^ index_bits, out);
}

/* Bits of one word of a block that are to be cleared: gathered over a run of kills, so that the
 * word is written once. On the stack of one call, which holds the block. */
typedef struct clearing {
    uint64_t bits;
    uint32_t word;
    uint32_t freed;   /* slots free again */
    uint32_t retired; /* slots that died for ever */
} clearing;

static inline void clearing_end(weft__entity_block *block, const clearing *cleared)
{
    if (cleared->bits == 0) return;
    block->used[cleared->word % WEFT__BLOCK_WORDS] &= ~cleared->bits;
    if (cleared->word < block->first_word) block->first_word = cleared->word;
}

/* `count` slots of one word of bits are free again. */
static inline void clearing_add(weft__entity_block *block, clearing *cleared, uint32_t slot,
                                uint32_t count)
{
    if (slot / 64 != cleared->word) {
        clearing_end(block, cleared);
        cleared->word = slot / 64;
        cleared->bits = 0;
    }
    cleared->bits |= bits_mask(count) << slot % 64;
    cleared->freed += count;
}

/* Kills a slot when it is alive with this version. The block is held or the world idle; the caller
 * ends the clearing before it lets go. */
static inline __attribute__((always_inline)) void
slot_kill(weft__entity_block *block, uint32_t slot, uint32_t version, clearing *cleared)
{
    weft_a64 *x_slot = &block->x_slots[slot];
    /* relaxed: guarded by the block (D1) */
    bool is_match = at_load_rlx(x_slot) >> 32 == version && (version & 1) != 0;
    if (__builtin_expect(!is_match, 0)) return;
    if (__builtin_expect(version == WEFT__VERSION_LAST, 0)) {
        at_store_rlx(x_slot, 0); /* relaxed: as slot_fill */
        /* relaxed: guarded by the block (D1); statistics read it at any time */
        at_store_rlx(&block->x_retired, at_load_rlx(&block->x_retired) + 1);
        cleared->retired++;
        return;
    }
    at_store_rlx(x_slot, (uint64_t)(version + 1) << 32); /* relaxed: as slot_fill */
    clearing_add(block, cleared, slot, 1);
}

#define GROUP 32u /* kills that are checked, then done, together: at most */
static_assert(WEFT__BLOCK_SLOTS < 64 || WEFT__VERSION_LAST >> 31 != 0,
              "versions that may be the last one have their top bit set");

/* How many entities, of `count`, may be neighbours from an even slot on in one word of bits. */
static inline uint32_t group_size(const weft_entity *entities, ptrdiff_t count)
{
    uint32_t index = entities->index, size = 64 - index % 64;
    if (count < 2 || entities[1].index != index + 1) return 0; /* ids are often scattered */
    if (size > GROUP) size = GROUP;
    if (size > count) size = (uint32_t)count;
    size &= ~1u;
    bool is_group = WEFT__BLOCK_SLOTS >= 64 && index % 2 == 0 && size != 0 &&
                    entities[size - 1].index == index + size - 1;
    return is_group ? size : 0;
}

/* Kills `size` entities when they are alive, neighbours, and far from their last version: what
 * batches mostly give back. False: nothing was done. The block is held or the world idle. */
static inline bool group_kill(weft__entity_block *block, const weft_entity *entities, uint32_t size,
                              clearing *cleared)
{
    const weft_pair version_bits = {~UINT64_C(0) << 32, ~UINT64_C(0) << 32};
    uint32_t index = entities->index, slot = index % WEFT__BLOCK_SLOTS;
    weft_a64 *x_slots = &block->x_slots[slot];
    weft_pair handles, indices = {index, index + 1}, odd = ~(weft_pair){0}, high = {0}, other = {0};
#pragma GCC unroll 4
    for (uint32_t i = 0; i < size; i += 2, indices += 2) {
        memcpy(&handles, entities + i, sizeof handles);
        /* relaxed: guarded by the block (D1) */
        other |= ((at_load_pair_rlx(&x_slots[i]) & version_bits) | indices) ^ handles;
        odd &= handles;
        high |= handles;
    }
    if ((other[0] | other[1]) != 0 || (odd[0] & odd[1] & WEFT__VERSION_ONE) == 0 ||
        (high[0] | high[1]) >> 63 != 0)
        return false;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < size; i += 2) {
        memcpy(&handles, entities + i, sizeof handles);
        /* relaxed: as slot_fill */
        at_store_pair_rlx(&x_slots[i], (handles & version_bits) + WEFT__VERSION_ONE);
    }
    clearing_add(block, cleared, slot, size);
    return true;
}

/* Kills entities[0..] as long as they are in the block of the first; returns how many were looked
 * at. The block is held or the world idle. Apart, so that its loop runs in registers. */
static __attribute__((noinline)) uint32_t
run_kill(weft__entity_block *block, const weft_entity *entities, uint32_t count, clearing *out)
{
    clearing cleared = {0};
    uint32_t first = entities[0].index;
    const weft_entity *at = entities, *end = entities + count;
    do { /* the tag of the world and the block are in the bits above a slot */
        uint32_t size = group_size(at, end - at);
        if (size != 0 && group_kill(block, at, size, &cleared)) {
            at += size;
            continue;
        }
        slot_kill(block, at->index % WEFT__BLOCK_SLOTS, at->version, &cleared);
        at++;
    } while (at != end && (at->index ^ first) < WEFT__BLOCK_SLOTS);
    clearing_end(block, &cleared);
    at_store_rlx(&block->x_had_deaths, 1u); /* relaxed: guarded by the block (D1) */
    *out = cleared;
    return (uint32_t)(at - entities);
}

/* run_kill in a block of recorders outside of systems. */
static uint32_t outside_kill(weft__directory *directory, weft__entity_block *block,
                             const weft_entity *entities, uint32_t count, clearing *out)
{
    weft__outside_lock(directory);
    uint32_t n = run_kill(block, entities, count, out);
    weft__outside_count(block, 0u - out->freed - out->retired);
    weft__outside_unlock(directory);
    return n;
}

/* ---- owner ---- */

static void lowest_room_merge(weft__directory *directory)
{
    uint32_t lowest = at_load_rlx(&directory->x_lowest_room); /* relaxed: the world is idle */
    if (lowest < directory->first_room) directory->first_room = lowest;
    if (lowest != WEFT__BLOCK_LIMIT)
        at_store_rlx(&directory->x_lowest_room, WEFT__BLOCK_LIMIT); /* relaxed: idle */
}

weft_result weft__directory_reserve_owner(weft__directory *directory, uint32_t count)
{
    lowest_room_merge(directory);
    uint64_t room = 0;
    for (uint32_t i = directory->first_room; room < count;) {
        weft__entity_block *block = weft__directory_block(directory, i * WEFT__BLOCK_SLOTS);
        if (block != NULL && i < directory->block_limit) {
            room += WEFT__BLOCK_SLOTS - at_load_rlx(&block->x_count); /* relaxed: idle */
            i++;
            continue;
        }
        uint64_t end = at_load_rlx(&directory->x_block_end); /* relaxed: looked at again */
        uint64_t needed = (count - room + WEFT__BLOCK_SLOTS - 1) / WEFT__BLOCK_SLOTS;
        if (needed > directory->block_limit - end) return WEFT_LIMIT;
        weft_result result =
            weft__directory_grow(directory, weft__directory_ahead(directory, (uint32_t)needed));
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

void weft__directory_allocate_owner(weft__directory *directory, uint32_t count, weft_entity *out,
                                    weft_entity *copy, uint32_t location)
{
    uint32_t step = location == 0 ? 0 : 1;
    for (uint32_t done = 0; done < count;) {
        uint32_t index = directory->first_room;
        weft__entity_block *block = weft__directory_block(directory, index * WEFT__BLOCK_SLOTS);
        WEFT_ASSERT(block != NULL);                   /* reserved */
        uint32_t used = at_load_rlx(&block->x_count); /* relaxed: idle */
        uint32_t room = WEFT__BLOCK_SLOTS - used;
        if (room == 0) {
            directory->first_room++;
            continue;
        }
        uint32_t n = count - done < room ? count - done : room;
        placing place = placing_of(directory, index, step);
        block_take(block, n, &place, location + step * done, out + done);
        at_store_rlx(&block->x_count, used + n); /* relaxed: idle */
        if (n == room) weft__directory_hint(directory, index, true);
        if (copy != NULL) memcpy(copy + done, out + done, n * sizeof *copy);
        done += n;
    }
}

void weft__directory_foresee_owner(const weft__directory *directory, uint32_t count,
                                   weft_entity *out)
{
    const weft_entity *end = out + count;
    for (uint32_t i = directory->first_room; out != end; i++) {
        weft__entity_block *block = weft__directory_block(directory, i * WEFT__BLOCK_SLOTS);
        const uint32_t index_bits = placing_of(directory, i, 0).index_bits;
        if (at_load_rlx(&block->x_count) == WEFT__BLOCK_SLOTS) continue; /* relaxed: idle; lent */
        for (uint32_t word = 0; word < WEFT__BLOCK_WORDS && out != end; word++)
            for (uint64_t free = word_free(block, word); free != 0 && out != end;
                 free &= free - 1) {
                uint32_t slot = word * 64 + bits_lowest(free);
                uint64_t version = at_load_rlx(&block->x_slots[slot]) >> 32; /* relaxed: idle */
                *out++ = (weft_entity){slot ^ index_bits, (uint32_t)version + 1};
            }
    }
}

uint32_t weft__directory_shares(const weft__directory *directory, uint32_t count,
                                weft__id_share *out)
{
    uint32_t shares = 0;
    for (uint32_t i = directory->first_room, done = 0; done < count; i++) {
        const weft__entity_block *block = weft__directory_block(directory, i * WEFT__BLOCK_SLOTS);
        uint32_t room = WEFT__BLOCK_SLOTS - at_load_rlx(&block->x_count); /* relaxed: idle */
        uint32_t n = count - done < room ? count - done : room;
        if (n != 0 && out != NULL) out[shares] = (weft__id_share){i, n, done};
        shares += n != 0 ? 1 : 0;
        done += n;
    }
    return shares;
}

void weft__directory_deal_owner(weft__directory *directory, uint32_t count, weft__id_share *shares)
{
    const uint32_t share_count = weft__directory_shares(directory, count, shares);
    for (uint32_t i = 0; i < share_count; i++) {
        weft__entity_block *block =
            weft__directory_block(directory, shares[i].block * WEFT__BLOCK_SLOTS);
        uint32_t used = at_load_rlx(&block->x_count) + shares[i].count; /* relaxed: idle */
        at_store_rlx(&block->x_count, used);                            /* relaxed: idle */
        directory->first_room = shares[i].block;
        if (used != WEFT__BLOCK_SLOTS) continue;
        weft__directory_hint(directory, shares[i].block, true);
        directory->first_room++;
    }
}

void weft__directory_fill(weft__directory *directory, const weft__id_share *share, uint32_t count,
                          weft_entity *out, uint32_t location)
{
    weft__entity_block *block = weft__directory_block(directory, share->block * WEFT__BLOCK_SLOTS);
    placing place = placing_of(directory, share->block, 1);
    uint32_t taken = block_take(block, count, &place, location, out);
    WEFT_ASSERT(taken == count);
    (void)taken;
}

bool weft__directory_room_find(weft__directory *directory)
{
    lowest_room_merge(directory);
    for (;; directory->first_room++) {
        uint32_t home = directory->first_room;
        weft__entity_block *block = weft__directory_block(directory, home * WEFT__BLOCK_SLOTS);
        if (block == NULL) return false;
        uint32_t count = at_load_rlx(&block->x_count); /* relaxed: idle */
        if (count == WEFT__BLOCK_SLOTS) continue;
        if (count + 1 == WEFT__BLOCK_SLOTS) return false;
        uint32_t word = block->first_word;
        while (~block->used[word] == 0) word++;
        block->first_word = word;
        directory->room_index = home;
        directory->room_block = block;
        return true;
    }
}

void weft__directory_free_owner(weft__directory *directory, weft_entity entity)
{
    weft__directory_free_many_owner(directory, &entity, 1);
}

void weft__directory_free_many_owner(weft__directory *directory, const weft_entity *entities,
                                     uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t index = entities[i].index ^ directory->tag_bits, home = index / WEFT__BLOCK_SLOTS;
        weft__entity_block *block = weft__directory_block(directory, index);
        uint32_t used = at_load_rlx(&block->x_count); /* relaxed: idle */
        clearing cleared;
        if (__builtin_expect(block->is_outside, 0)) {
            i += outside_kill(directory, block, entities + i, count - i, &cleared);
            continue;
        }
        uint32_t n = run_kill(block, entities + i, count - i, &cleared);
        WEFT_ASSERT(cleared.freed + cleared.retired == n);
        i += n;
        at_store_rlx(&block->x_count, used - cleared.freed); /* relaxed: idle */
        if (cleared.freed != 0 && home < directory->first_room) directory->first_room = home;
        if (cleared.freed != 0 && used == WEFT__BLOCK_SLOTS)
            weft__directory_hint(directory, home, false);
    }
}

void weft__directory_free_rows_owner(weft__directory *directory, const weft_entity *entities,
                                     const uint32_t *rows, uint32_t count)
{
    const uint32_t ahead = WEFT__PREFETCH_AHEAD;
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > 2 * ahead) __builtin_prefetch(&entities[rows[i + 2 * ahead]]);
        if (count - i > ahead)
            __builtin_prefetch(weft__directory_slot(directory, entities[rows[i + ahead]].index));
        weft_entity entity = entities[rows[i]];
        uint32_t index = entity.index ^ directory->tag_bits;
        weft__entity_block *block = weft__directory_block(directory, index);
        if (!weft__directory_kill_owner(directory, block, index, entity.version))
            weft__directory_free_owner(directory, entity);
    }
}

/* ---- any thread ---- */

/* Takes the lock of a block whose count was *used a moment ago, if it is not held. */
static inline bool block_try(weft__entity_block *block, uint32_t *used)
{
    /* D1 */
    return *used != WEFT__BLOCK_BUSY && at_cas_ar(&block->x_count, used, WEFT__BLOCK_BUSY);
}

/* Lets go of a block of which slots were taken. */
static inline void block_leave(weft__directory *directory, weft__entity_block *block,
                               uint32_t index, uint32_t used)
{
    at_store_rel(&block->x_count, used); /* D1 */
    if (__builtin_expect(used == WEFT__BLOCK_SLOTS, 0))
        weft__directory_hint(directory, index, true);
}

/* Takes slots of one block if it is neither held nor full. */
static uint32_t block_allocate_any(weft__directory *directory, uint32_t index, uint32_t count,
                                   weft_entity *out, bool *met_busy)
{
    weft__entity_block *block = weft__directory_block(directory, index * WEFT__BLOCK_SLOTS);
    if (block == NULL) return 0;
    uint32_t used = at_load_rlx(&block->x_count); /* relaxed: the CAS acquires */
    if (used == WEFT__BLOCK_SLOTS) return 0;
    if (!block_try(block, &used)) {
        *met_busy = true; /* held, or changed under us: not full as far as we know */
        return 0;
    }
    uint32_t room = WEFT__BLOCK_SLOTS - used;
    placing place = placing_of(directory, index, 0);
    uint32_t taken = block_take(block, count < room ? count : room, &place, 0, out);
    WEFT_ASSERT(taken != 0);
    block_leave(directory, block, index, used + taken);
    return taken;
}

/* One round over all blocks from `home` on; returns how many ids it took. */
static uint32_t round_any(weft__directory *directory, uint32_t *home, uint32_t count,
                          weft_entity *out, bool ignores_hints, bool *met_busy)
{
    /* relaxed would do: a look-up acquires the end again */
    uint32_t done = 0, end = at_load_acq(&directory->x_block_end); /* D3 */
    uint32_t start = *home < end ? *home : 0;
    for (uint32_t i = 0; i < end && done < count; i++) {
        uint32_t index = start + i < end ? start + i : start + i - end;
        if (!ignores_hints && i != 0) {
            /* relaxed: a hint */
            if ((at_load_rlx(&directory->x_full[index / 64]) >> index % 64 & 1) != 0) continue;
        }
        uint32_t taken = block_allocate_any(directory, index, count - done, out + done, met_busy);
        if (taken != 0) *home = index;
        done += taken;
    }
    return done;
}

/* Whatever the home block cannot give at once. */
static __attribute__((noinline)) weft_result
allocate_slowly(weft__directory *directory, uint32_t *home, uint32_t count, weft_entity *out)
{
    uint32_t done = 0;
    bool ignores_hints = false, met_home_busy = false;
    if (count != 0) /* mostly the home block serves all */
        done = block_allocate_any(directory, *home, count, out, &met_home_busy);
    if (done == count) return WEFT_OK;
    for (;;) {
        bool met_busy = false;
        /* relaxed would do, also below: a look-up acquires the end again */
        uint32_t end = at_load_acq(&directory->x_block_end); /* D3 */
        done += round_any(directory, home, count - done, out + done, ignores_hints, &met_busy);
        if (done == count) return WEFT_OK;
        if (at_load_acq(&directory->x_block_end) != end) continue; /* D3: others made some */
        bool at_limit = end >= directory->block_limit;
        if (at_limit && met_busy) {
            at_stall(); /* busy is not full: its holder will let go */
        } else if (at_limit && !ignores_hints) {
            ignores_hints = true;
        } else {
            weft_result result = at_limit ? WEFT_LIMIT : weft__directory_grow(directory, 1);
            if (result == WEFT_OK || (result == WEFT_LIMIT && !at_limit)) continue;
            weft__directory_free_any(directory, out, done);
            return result;
        }
    }
}

weft_result weft__directory_allocate_any(weft__directory *directory, uint32_t *home, uint32_t count,
                                         weft_entity *out)
{
    /* one id of the home block: without a stack frame, whose stores delay the locked CAS */
    uint32_t index = *home;
    weft__entity_block *block = weft__directory_block(directory, index * WEFT__BLOCK_SLOTS);
    if (__builtin_expect(count != 1 || block == NULL, 0))
        return allocate_slowly(directory, home, count, out);
    uint32_t used = at_load_rlx(&block->x_count); /* relaxed: the CAS acquires */
    if (__builtin_expect(used == WEFT__BLOCK_SLOTS || !block_try(block, &used), 0))
        return allocate_slowly(directory, home, count, out);
    slot_take(block, index * WEFT__BLOCK_SLOTS ^ directory->tag_bits, out);
    block_leave(directory, block, index, used + 1);
    return WEFT_OK;
}

/* Waits for the block's lock; 0: no entity lives there. */
static uint32_t block_hold(weft__entity_block *block)
{
    for (;;) {
        uint32_t used = at_load_rlx(&block->x_count); /* relaxed: the CAS acquires */
        if (used == 0) return 0;
        if (block_try(block, &used)) return used;
        at_stall();
    }
}

/* Lets go of a block in which slots became free, and tells: it has room, it may be the lowest. */
static inline void block_let_go(weft__directory *directory, weft__entity_block *block,
                                uint32_t home, uint32_t used, uint32_t freed)
{
    at_store_rel(&block->x_count, used - freed); /* D1 */
    if (freed == 0) return;
    if (__builtin_expect(used == WEFT__BLOCK_SLOTS, 0))
        weft__directory_hint(directory, home, false);
    uint32_t lowest = at_load_rlx(&directory->x_lowest_room); /* relaxed: read when idle */
    /* any order would do: a hint, which the owner reads while nothing else runs */
    while (home < lowest && !at_cas_ar(&directory->x_lowest_room, &lowest, home)) {
    } /* D1 */
}

/* Entities at the front whose index is in the block of the first one. */
static uint32_t run_length(const weft_entity *entities, uint32_t count)
{
    uint32_t i = 1;
    while (i < count && (entities[i].index ^ entities[0].index) < WEFT__BLOCK_SLOTS) i++;
    return i;
}

static __attribute__((noinline)) uint32_t free_many(weft__directory *directory,
                                                    const weft_entity *entities, uint32_t count)
{
    uint32_t died = 0;
    for (uint32_t i = 0; i < count;) {
        uint32_t index = entities[i].index ^ directory->tag_bits;
        weft__entity_block *block = weft__directory_block(directory, index);
        clearing cleared;
        if (block != NULL && block->is_outside) {
            i += outside_kill(directory, block, entities + i, count - i, &cleared);
            died += cleared.freed + cleared.retired;
            continue;
        }
        uint32_t used = block == NULL ? 0 : block_hold(block);
        if (used == 0) {
            i += run_length(entities + i, count - i);
            continue;
        }
        i += run_kill(block, entities + i, count - i, &cleared);
        block_let_go(directory, block, index / WEFT__BLOCK_SLOTS, used, cleared.freed);
        died += cleared.freed + cleared.retired;
    }
    return died;
}

uint32_t weft__directory_free_any(weft__directory *directory, const weft_entity *entities,
                                  uint32_t count)
{
    /* one id: without a stack frame, as weft__directory_allocate_any */
    if (__builtin_expect(count != 1, 0)) return free_many(directory, entities, count);
    weft_entity entity = entities[0];
    uint32_t index = entity.index ^ directory->tag_bits, slot = index % WEFT__BLOCK_SLOTS;
    weft__entity_block *block = weft__directory_block(directory, index);
    if (__builtin_expect(block == NULL, 0)) return 0;
    uint32_t used = at_load_rlx(&block->x_count); /* relaxed: the CAS acquires */
    if (used == 0) return 0;
    if (__builtin_expect(used == WEFT__BLOCK_SLOTS || !block_try(block, &used), 0))
        return free_many(directory, entities, 1);
    clearing cleared = {.word = slot / 64};
    slot_kill(block, slot, entity.version, &cleared);
    clearing_end(block, &cleared);
    at_store_rlx(&block->x_had_deaths, 1u); /* relaxed: guarded by the block (D1) */
    block_let_go(directory, block, index / WEFT__BLOCK_SLOTS, used, cleared.freed);
    return cleared.freed + cleared.retired;
}

/* ---- growth: nothing is given back before the end ---- */

static_assert(sizeof(weft_a64) == 8, "eight slots share one cache line");

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
/* Slabs from this on are mapped: as many blocks as a huge page holds. */
#define SLAB_BLOCKS_MAPPED (HUGE_PAGE_BYTES / sizeof(weft__entity_block))
#define SLAB_BLOCKS_MAX 128u /* blocks made ahead at most */

/* Memory of some blocks. Owner: the directory, to its end. Constant after it was pushed. */
struct weft__block_slab {
    weft__block_slab *next;
    weft__entity_block *blocks;
    uint32_t count;
    bool is_mapped;
};

void weft__directory_init(weft__directory *directory, weft__memory *memory, const weft_os *os,
                          const weft_world_desc *desc)
{
    uint32_t limit = desc->entity_block_limit;
    if (limit == 0 || limit > WEFT__BLOCK_LIMIT) limit = WEFT__BLOCK_LIMIT;
    directory->memory = memory;
    directory->os = os;
    directory->block_limit = limit;
    directory->tag_bits = (desc->entity_tag & 15u) << WEFT__ENTITY_TAG_SHIFT;
    directory->with_huge_pages = !desc->without_huge_pages;
    directory->first_room = 0;
    directory->room_index = UINT32_MAX;
    directory->room_block = NULL;
    directory->stand_in = NULL;
    at_init(&directory->x_block_end, 0);
    at_init(&directory->x_lowest_room, WEFT__BLOCK_LIMIT);
    at_init(&directory->x_slabs, NULL);
    at_init(&directory->x_table, NULL);
    for (uint32_t i = 0; i < WEFT__BLOCK_HINTS; i++) at_init(&directory->x_full[i], 0);
    memset(directory->taken, 0, sizeof directory->taken);
    directory->outside = (weft__outside){0};
    weft__lock_init(&directory->outside.lock, os);
}

/* Bytes of a mapped slab. The last huge page is a whole one: look-ups of what lies on small pages
 * behind it would each cost a walk. */
static size_t slab_bytes(const weft__directory *directory, uint32_t count)
{
    return bits_align_up(count * sizeof(weft__entity_block),
                         directory->with_huge_pages ? HUGE_PAGE_BYTES : 4096);
}

static void slab_release(weft__directory *directory, weft__block_slab *slab)
{
    if (slab->is_mapped) {
        directory->os->unmap(directory->os->user, slab->blocks, slab_bytes(directory, slab->count));
        weft__memory_count(directory->memory, WEFT__MEMORY_ENTITIES,
                           -(int64_t)slab_bytes(directory, slab->count));
    } else {
        WEFT__FREE(directory->memory, WEFT__MEMORY_ENTITIES, slab->blocks, slab->count);
    }
    WEFT__FREE(directory->memory, WEFT__MEMORY_ENTITIES, slab, 1);
}

static void table_free(weft__directory *directory, weft__block_table *table)
{
    if (table == NULL) return;
    weft__free(directory->memory, WEFT__MEMORY_ENTITIES, table, 1,
               sizeof *table + table->capacity * sizeof table->x_blocks[0],
               _Alignof(weft__block_table));
}

void weft__directory_fini(weft__directory *directory)
{
    outside_fini(directory);
    WEFT__FREE(directory->memory, WEFT__MEMORY_ENTITIES, directory->stand_in, 1);
    for (weft__block_slab *slab = at_plain(&directory->x_slabs), *next; slab != NULL; slab = next) {
        next = slab->next;
        slab_release(directory, slab);
    }
    for (weft__block_table *table = at_plain(&directory->x_table), *next; table != NULL;
         table = next) {
        next = table->previous;
        table_free(directory, table);
    }
}

/* ---- making blocks ---- */

static weft__entity_block *slab_memory(weft__directory *directory, uint32_t count, bool *is_mapped)
{
    *is_mapped = count >= SLAB_BLOCKS_MAPPED;
    if (!*is_mapped)
        return WEFT__NEW_ZEROED(directory->memory, WEFT__MEMORY_ENTITIES, count,
                                weft__entity_block);
    size_t bytes = slab_bytes(directory, count);
    size_t alignment = directory->with_huge_pages ? HUGE_PAGE_BYTES : 4096;
    void *memory = directory->os->map(directory->os->user, bytes, alignment);
    if (memory != NULL)
        weft__memory_count(directory->memory, WEFT__MEMORY_ENTITIES, (int64_t)bytes);
    return memory;
}

weft__block_slab *weft__directory_slab_make(weft__directory *directory, uint32_t count)
{
    weft__block_slab *slab = WEFT__NEW(directory->memory, WEFT__MEMORY_ENTITIES, 1, *slab);
    if (slab == NULL) return NULL;
    bool is_mapped;
    weft__entity_block *blocks = slab_memory(directory, count, &is_mapped);
    if (blocks == NULL) {
        WEFT__FREE(directory->memory, WEFT__MEMORY_ENTITIES, slab, 1);
        return NULL;
    }
    *slab = (weft__block_slab){.blocks = blocks, .count = count, .is_mapped = is_mapped};
    return slab;
}

/* A table for at least `count` blocks (at most the limit), not published. */
static weft__block_table *table_make(weft__directory *directory, uint32_t count)
{
    uint32_t capacity = WEFT__BLOCK_TABLE;
    while (capacity < count) capacity *= 2;
    weft__block_table *table = weft__alloc_zeroed(
        directory->memory, WEFT__MEMORY_ENTITIES, 1,
        sizeof *table + capacity * sizeof table->x_blocks[0], _Alignof(weft__block_table));
    if (table != NULL) table->capacity = capacity;
    return table;
}

/* Puts *spare in the place of a table all of whose entries are made; NULL then. */
static void table_follow(weft__directory *directory, weft__block_table *table,
                         weft__block_table **spare)
{
    weft__block_table *larger = *spare;
    for (uint32_t i = 0; table != NULL && i < table->capacity; i++)
        /* relaxed: a walk past an entry has acquired it, or the end beyond it */
        at_init(&larger->x_blocks[i], at_load_rlx(&table->x_blocks[i]));
    larger->previous = table;
    void *found = table;
    if (at_cas_ar(&directory->x_table, &found, larger)) *spare = NULL; /* D2 */
}

/* The table that has an entry `index`, to which the caller came past all entries below. `spare`
 * is what it may publish for that; NULL: no memory. */
static weft__block_table *table_obtain(weft__directory *directory, uint32_t index,
                                       weft__block_table **spare)
{
    for (;;) {
        weft__block_table *table = at_load_acq(&directory->x_table); /* D2 */
        if (table != NULL && index < table->capacity) return table;
        if (*spare != NULL && (*spare)->capacity <= index) { /* others made that many */
            table_free(directory, *spare);
            *spare = NULL;
        }
        if (*spare == NULL) *spare = table_make(directory, index + 1);
        if (*spare == NULL) return NULL;
        table_follow(directory, table, spare);
    }
}

/* Raises the end past a block that is there; every thread that meets it helps. */
static void end_raise(weft__directory *directory, uint32_t index)
{
    /* relaxed would do: the CAS that raises it, or a look-up, acquires it again */
    uint32_t end = at_load_acq(&directory->x_block_end); /* D3 */
    while (end <= index && !at_cas_ar(&directory->x_block_end, &end, index + 1)) {
    } /* D3 */
}

/* Puts a block at the lowest index that has none, from `index` on, and returns it. UINT32_MAX:
 * others were faster, no index below the limit (or no table) is left. */
static uint32_t block_publish(weft__directory *directory, weft__entity_block *block, uint32_t index,
                              weft__block_table **spare)
{
    for (; index < directory->block_limit; index++) {
        weft__block_table *table = table_obtain(directory, index, spare);
        if (table == NULL) return UINT32_MAX;
        void *found = NULL;
        bool is_ours = at_cas_ar(&table->x_blocks[index], &found, block); /* D3 */
        end_raise(directory, index);
        if (is_ours) return index;
    }
    return UINT32_MAX;
}

static void slab_push(weft__directory *directory, weft__block_slab *slab)
{
    /* any order would do: a stale head fails the CAS, and the list is read when all is quiet */
    void *head = at_load_acq(&directory->x_slabs); /* D2 */
    do slab->next = head;
    while (!at_cas_ar(&directory->x_slabs, &head, slab)); /* D2 */
}

/* A block that another thread has published but not yet counted is counted. */
static bool end_help(weft__directory *directory, uint32_t end)
{
    const weft__block_table *table = at_load_acq(&directory->x_table); /* D2 */
    if (table == NULL || end >= table->capacity || at_load_acq(&table->x_blocks[end]) == NULL)
        return false; /* D3 */
    end_raise(directory, end);
    return true;
}

uint32_t weft__directory_ahead(const weft__directory *directory, uint32_t needed)
{
    uint64_t end = at_load_rlx(&directory->x_block_end); /* relaxed: the world is idle */
    uint64_t ahead = end / 8 < SLAB_BLOCKS_MAX ? end / 8 : SLAB_BLOCKS_MAX;
    if (end >= SLAB_BLOCKS_MAPPED && ahead < SLAB_BLOCKS_MAPPED) ahead = SLAB_BLOCKS_MAPPED;
    if (ahead < needed) ahead = needed;
    if (ahead >= SLAB_BLOCKS_MAPPED) /* as many as the last page has room for */
        ahead = slab_bytes(directory, (uint32_t)ahead) / sizeof(weft__entity_block);
    if (ahead > directory->block_limit - end) ahead = directory->block_limit - end;
    return needed > ahead ? needed : (uint32_t)ahead;
}

/* Puts the blocks of a slab at the ends of the directory, and keeps it; frees one of which no block
 * could be published. Returns how many could. */
static uint32_t slab_publish(weft__directory *directory, weft__block_slab *slab, uint32_t end,
                             weft__block_table **spare)
{
    uint32_t published = 0;
    while (published < slab->count &&
           block_publish(directory, &slab->blocks[published], end, spare) != UINT32_MAX)
        published++;
    if (published != 0)
        slab_push(directory, slab);
    else
        slab_release(directory, slab);
    return published;
}

/* The block, whose memory is the caller's to the end of the directory, becomes the last one: full,
 * as its x_count says. Errors: LIMIT, OUT_OF_MEMORY. Threads: any. */
static weft_result directory_publish(weft__directory *directory, weft__entity_block *block,
                                     uint32_t *index)
{
    weft__block_table *spare = NULL;
    uint32_t end = at_load_acq(&directory->x_block_end); /* D3 */
    *index = block_publish(directory, block, end, &spare);
    table_free(directory, spare);
    if (*index != UINT32_MAX) return WEFT_OK;
    end = at_load_acq(&directory->x_block_end); /* D3 */
    return end >= directory->block_limit ? WEFT_LIMIT : WEFT_OUT_OF_MEMORY;
}

weft_result weft__directory_grow(weft__directory *directory, uint32_t count)
{
    uint32_t end = at_load_acq(&directory->x_block_end); /* D3 */
    if (end >= directory->block_limit) return WEFT_LIMIT;
    if (end_help(directory, end)) return WEFT_OK;
    if (count > directory->block_limit - end) count = directory->block_limit - end;
    const weft__block_table *table = at_load_acq(&directory->x_table); /* D2 */
    weft__block_table *spare = NULL;
    if (table == NULL || table->capacity < end + count) { /* before the blocks: it may fail */
        spare = table_make(directory, end + count);
        if (spare == NULL) return WEFT_OUT_OF_MEMORY;
    }
    weft__block_slab *slab = weft__directory_slab_make(directory, count);
    if (slab != NULL) slab_publish(directory, slab, end, &spare);
    table_free(directory, spare);
    return slab == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
}

void weft__directory_slab_free(weft__directory *directory, weft__block_slab *slab)
{
    if (slab != NULL) slab_release(directory, slab);
}

void weft__directory_slab_use(weft__directory *directory, weft__block_slab *slab)
{
    weft__block_table *spare = NULL;
    slab_publish(directory, slab, at_load_rlx(&directory->x_block_end), &spare); /* relaxed: idle */
    table_free(directory, spare);
}

/* ---- ids for recorders outside of systems: reserved, given back, settled ---- */

void weft__outside_lock(weft__directory *directory)
{
    if (!directory->outside.is_closed) weft__lock_lock(&directory->outside.lock);
}

void weft__outside_unlock(weft__directory *directory)
{
    if (!directory->outside.is_closed) weft__lock_unlock(&directory->outside.lock);
}

bool weft__outside_close(weft__directory *directory)
{
    weft__lock_lock(&directory->outside.lock);
    directory->outside.is_closed = directory->outside.taken == 0;
    if (!directory->outside.is_closed) weft__lock_unlock(&directory->outside.lock);
    return directory->outside.is_closed;
}

void weft__outside_open(weft__directory *directory)
{
    directory->outside.is_closed = false;
    weft__lock_unlock(&directory->outside.lock);
}

static void outside_fini(weft__directory *directory)
{
    for (weft__outside_block *o = directory->outside.first, *next; o != NULL; o = next) {
        next = o->next;
        WEFT__FREE(directory->memory, WEFT__MEMORY_ENTITIES, o, 1);
    }
}

bool weft__outside_has(weft__directory *directory, uint32_t index)
{
    weft__outside_lock(directory);
    const weft__outside_block *o = directory->outside.first;
    while (o != NULL && o->index != index) o = o->next;
    weft__outside_unlock(directory);
    return o != NULL;
}

static uint32_t index_of(const weft__directory *directory, weft_entity entity)
{
    return entity.index ^ directory->tag_bits;
}

/* Slots that are neither alive, retired nor taken. */
static uint32_t room_of(const weft__outside_block *o)
{
    /* relaxed: guarded by the lock (U1) */
    return WEFT__BLOCK_SLOTS - o->taken - at_load_rlx(&o->x_alive) -
           at_load_rlx(&o->block.x_retired);
}

/* Adds to the slots of a block that are taken. */
static void taken_add(weft__directory *directory, weft__outside_block *o, int32_t count)
{
    o->taken += (uint32_t)count;
    directory->outside.taken += (uint32_t)count;
}

/* Reserves the lowest slots of a block, at most `count`; returns how many. */
static uint32_t block_reserve(weft__directory *directory, weft__outside_block *o, uint32_t count,
                              weft_entity *out)
{
    uint32_t taken = 0, first = o->index * WEFT__BLOCK_SLOTS;
    if (count > room_of(o)) count = room_of(o);
    for (uint32_t word = 0; taken < count; word++) {
        uint64_t free = ~(o->block.used[word] | o->reserved[word]);
        free &= bits_mask(WEFT__BLOCK_SLOTS < 64 ? WEFT__BLOCK_SLOTS : 64);
        for (; free != 0 && taken < count; free &= free - 1) {
            uint32_t slot = word * 64 + bits_lowest(free);
            /* relaxed: guarded by the lock (U1) */
            uint32_t version = (uint32_t)(at_load_rlx(&o->block.x_slots[slot]) >> 32) + 1;
            out[taken++] = (weft_entity){(first + slot) ^ directory->tag_bits, version};
            o->reserved[word] |= free & -free;
        }
    }
    taken_add(directory, o, (int32_t)taken);
    return taken;
}

/* A new block, the first of the chain. */
static weft_result block_make(weft__directory *directory)
{
    weft__outside_block *o = WEFT__NEW_ZEROED(directory->memory, WEFT__MEMORY_ENTITIES, 1, *o);
    if (o == NULL) return WEFT_OUT_OF_MEMORY;
    o->block.is_outside = true;
    at_init(&o->block.x_count, WEFT__BLOCK_SLOTS);
    weft_result result = directory_publish(directory, &o->block, &o->index);
    if (result != WEFT_OK) {
        WEFT__FREE(directory->memory, WEFT__MEMORY_ENTITIES, o, 1);
        return result;
    }
    weft__directory_hint(directory, o->index, true);
    o->next = directory->outside.first;
    directory->outside.first = directory->outside.room = o;
    return WEFT_OK;
}

static void slots_return(weft__directory *directory, const weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (entities[i].version == 0) continue;
        uint32_t index = index_of(directory, entities[i]), slot = index % WEFT__BLOCK_SLOTS;
        weft__outside_block *o = weft__outside_of(weft__directory_block(directory, index));
        WEFT_ASSERT((o->reserved[slot / 64] >> slot % 64 & 1) != 0);
        o->reserved[slot / 64] &= ~(UINT64_C(1) << slot % 64);
        taken_add(directory, o, -1);
    }
}

weft_result weft__outside_take(weft__directory *directory, uint32_t count, weft_entity *out)
{
    weft__lock_lock(&directory->outside.lock);
    weft__outside_block *o = directory->outside.room;
    uint32_t done = o == NULL ? 0 : block_reserve(directory, o, count, out);
    for (o = directory->outside.first; o != NULL && done < count; o = o->next) {
        done += block_reserve(directory, o, count - done, out + done);
        directory->outside.room = o;
    }
    weft_result result = WEFT_OK;
    while (done < count && (result = block_make(directory)) == WEFT_OK)
        done += block_reserve(directory, directory->outside.first, count - done, out + done);
    if (result != WEFT_OK) slots_return(directory, out, done);
    weft__lock_unlock(&directory->outside.lock);
    return result;
}

void weft__outside_return(weft__directory *directory, const weft_entity *entities, uint32_t count)
{
    weft__lock_lock(&directory->outside.lock);
    slots_return(directory, entities, count);
    weft__lock_unlock(&directory->outside.lock);
}

void weft__outside_settle(weft__directory *directory, const weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t index = index_of(directory, entities[i]);
        weft__entity_block *block = weft__directory_block(directory, index);
        if (!block->is_outside) {
            i++;
            continue;
        }
        weft__outside_block *o = weft__outside_of(block);
        weft__lock_lock(&directory->outside.lock);
        for (; i < count && index_of(directory, entities[i]) / WEFT__BLOCK_SLOTS == o->index; i++) {
            uint32_t slot = index_of(directory, entities[i]) % WEFT__BLOCK_SLOTS;
            uint64_t bit = UINT64_C(1) << slot % 64;
            WEFT_ASSERT((o->reserved[slot / 64] & bit) != 0 && (block->used[slot / 64] & bit) == 0);
            WEFT_ASSERT(weft__directory_version(directory, index_of(directory, entities[i])) + 1 ==
                        entities[i].version);
            o->reserved[slot / 64] &= ~bit;
            block->used[slot / 64] |= bit;
            /* relaxed: guarded by the lock (U1); look-ups follow the playback */
            at_store_rlx(&block->x_slots[slot], (uint64_t)entities[i].version << 32);
            weft__outside_count(block, 1);
            taken_add(directory, o, -1);
        }
        weft__lock_unlock(&directory->outside.lock);
    }
}

/* NULL when the books of a block are right. */
static const char *outside_check(weft__entity_block *block)
{
    const weft__outside_block *o = weft__outside_of(block);
    uint32_t used = 0, reserved = 0;
    for (uint32_t word = 0; word < WEFT__BLOCK_WORDS; word++) {
        used += bits_count(block->used[word]);
        reserved += bits_count(o->reserved[word]);
        if ((block->used[word] & o->reserved[word]) != 0) return "a slot in use is taken";
    }
    if (at_plain(&block->x_count) != WEFT__BLOCK_SLOTS) return "a block of recorders has room";
    if (used != at_plain(&o->x_alive) + at_plain(&block->x_retired))
        return "alive + retired is not all in use";
    return reserved == o->taken ? NULL : "taken is not the number of bits";
}

/* ---- counts, and the check ---- */

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
    if (block->is_outside) return outside_check(block);
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

/* ---- indices that are not alive ---- */

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
