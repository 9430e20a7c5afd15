/* SPDX-License-Identifier: MIT */
/* directory_outside.c: blocks of the entity directory for recorders outside of systems: slots are
 * reserved, given back, settled. What dies there is in directory.c, what files and snapshots set in
 * directory_check.c. See directory_outside.h. */
#include "directory_outside.h"
#include "bits.h"
#include "directory_check.h"
#include "directory_grow.h"
#include "invariant.h"

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

void weft__outside_fini(weft__directory *directory)
{
    for (weft__outside_block *o = directory->outside.first, *next; o != NULL; o = next) {
        next = o->next;
        weft__free(directory->memory, WEFT__MEMORY_ENTITIES, o, 1, sizeof *o,
                   _Alignof(weft__outside_block));
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
    weft__outside_block *o = weft__alloc_zeroed(directory->memory, WEFT__MEMORY_ENTITIES, 1,
                                                sizeof *o, _Alignof(weft__outside_block));
    if (o == NULL) return WEFT_OUT_OF_MEMORY;
    o->block.is_outside = true;
    at_init(&o->block.x_count, WEFT__BLOCK_SLOTS);
    weft_result result = weft__directory_publish(directory, &o->block, &o->index);
    if (result != WEFT_OK) {
        weft__free(directory->memory, WEFT__MEMORY_ENTITIES, o, 1, sizeof *o,
                   _Alignof(weft__outside_block));
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

const char *weft__outside_check(weft__entity_block *block)
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
