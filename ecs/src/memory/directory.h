/* SPDX-License-Identifier: MIT */
/* directory.h: the entity directory: who lives at which index, with which version, and where.
 *
 * Indices come in blocks of 4,096 slots. A slot is one 64-bit word: version << 32 | location; the
 * version is odd when the entity is alive, the location (chunk.h) 0 when it is not placed or dead.
 * Eight slots share a cache line, and a look-up touches one. The count word of a block is its lock:
 * CAS count -> BUSY, then bits and slots are changed, then the new count is stored. No allocation
 * happens while a block is held. Blocks are never given back before the world dies: versions must
 * survive.
 *
 * Two families: the functions ending in _any may run on any number of threads at once; those ending
 * in _owner need the world idle, take no locked instruction, and always use the lowest free index,
 * so that ids depend on the history of the world only. Protocol: top of directory.c. */
#pragma once

#include "heap.h"
#include "lock.h"

#include <assert.h>
#include <string.h>
#include <weft/world.h>

/* Build-time parameters, so that models and the explorer can be tiny. */
#ifndef WEFT__BLOCK_SLOTS
#define WEFT__BLOCK_SLOTS 4096u /* power of two; a multiple of 64 unless below 64 */
#endif
#ifndef WEFT__BLOCK_LIMIT
#define WEFT__BLOCK_LIMIT 32768u
#endif
#ifndef WEFT__BLOCK_TABLE
#define WEFT__BLOCK_TABLE 128u /* blocks in the first table; each next one has twice as many */
#endif
#ifndef WEFT__VERSION_LAST
#define WEFT__VERSION_LAST UINT32_MAX /* odd; a slot that dies with this version is retired */
#endif

#define WEFT__BLOCK_WORDS ((WEFT__BLOCK_SLOTS + 63) / 64)
#define WEFT__BLOCK_HINTS ((WEFT__BLOCK_LIMIT + 63) / 64)
#define WEFT__BLOCK_BUSY UINT32_MAX
#define WEFT__VERSION_ONE (UINT64_C(1) << 32) /* of a slot */
#define WEFT__ENTITY_INDEX_BITS 27 /* the 4 bits above bit 28 of a handle hold the world's tag */
#define WEFT__ENTITY_TAG_SHIFT WEFT_ENTITY_TAG_SHIFT
#define WEFT__ENTITY_TAG_LAST 15u

/* 4,096 slots. Guarded by x_count among _any callers (BUSY = held), owner only otherwise: `used`,
 * `first_word`, `x_retired` and changes of versions. Invariants: count == bits set in `used` ==
 * alive slots + retired; a slot's bit is set exactly when it is alive or retired; the location of a
 * slot whose version is even is 0; words below first_word have no free slot. */
typedef struct weft__entity_block {
    _Alignas(64) weft_a32 x_count;
    uint32_t first_word;
    weft_a32 x_retired; /* slots whose version came to its end: bit set, never alive again */
    /* not 0: a slot died since the owner took it back to 0 (relations). Above 1: all of them died
     * at once (directory_lend.h), none has lived since, and this is the highest version */
    weft_a32 x_had_deaths;
    bool is_outside; /* its free slots are for recorders outside of systems (directory.h):
                        x_count is that of a full block, first_word 0; constant */
    uint64_t used[WEFT__BLOCK_WORDS];
    _Alignas(64) weft_a64 x_slots[WEFT__BLOCK_SLOTS]; /* version << 32 | location */
} weft__entity_block;

/* Where the blocks are. Owner: the directory. A full table is followed by one twice as large
 * that starts with the same blocks; it stays readable until the directory ends. Constant after
 * it was published, but for entries that go from NULL to a block. Always: previous == NULL or
 * capacity >= 2 * previous->capacity. */
typedef struct weft__block_table {
    struct weft__block_table *previous;
    uint32_t capacity;
    weft_aptr x_blocks[]; /* weft__entity_block *, NULL until made */
} weft__block_table;

typedef struct weft__block_slab weft__block_slab;

/* Blocks whose ids are for recorders outside of systems. Part of the directory; guarded by the
 * lock, but is_closed: owner. */
typedef struct weft__outside {
    weft__lock lock;
    struct weft__outside_block *first; /* of the chain of all; NULL until one is needed */
    struct weft__outside_block *room;  /* where slots were taken last */
    uint32_t taken;                    /* slots of all blocks that are reserved */
    bool is_closed;                    /* the owner has the lock */
} weft__outside;

/* Owned by the world. Always, while no thread allocates or frees:
 *   blocks [0, x_block_end) are made, those beyond are not; x_block_end <= block_limit; recorders
 *   outside of systems may make more at any time;
 *   a block below first_room and x_lowest_room is full;
 *   room_index == UINT32_MAX, or room_block is block room_index. */
typedef struct weft__directory {
    /* what look-ups read: one line, which changes only when a block is made; see directory.c */
    _Alignas(64) weft_a32 x_block_end; /* one past the highest block made; only grows */
    uint32_t tag_bits; /* entity_tag << WEFT__ENTITY_TAG_SHIFT, xor-ed into indices */
    weft_aptr x_table; /* weft__block_table *, NULL until the first block */
    /* constant after init */
    weft__memory *memory;
    const weft_os *os;
    uint32_t block_limit;
    bool with_huge_pages;
    /* shared atomic: see directory.c */
    weft_aptr x_slabs; /* stack of weft__block_slab, freed at the end */
    /* owner only */
    _Alignas(64) uint32_t first_room; /* no block below it has room, but for x_lowest_room's */
    uint32_t room_index;              /* block that room_block points to; UINT32_MAX: none yet */
    weft__entity_block *room_block;   /* cache for single allocations */
    weft__entity_block *stand_in;     /* for blocks that are lent (directory_lend.h), or NULL */
    /* shared atomic */
    weft_a32 x_lowest_room; /* lowest block _any gave slots back to since the owner looked */
    weft_a64 x_full[WEFT__BLOCK_HINTS]; /* hint: bit per block without room */
    /* owner only */
    uint64_t taken[WEFT__BLOCK_HINTS]; /* bit per block that is lent, or came with a section */
    weft__outside outside;
} weft__directory;

/* ---- owner, world idle: deterministic ids, lowest first ---- */

/* Makes sure `count` more entities can be allocated without failing. Errors: LIMIT, OUT_OF_MEMORY.
 */
weft_result weft__directory_reserve_owner(weft__directory *directory, uint32_t count);
/* `count` new ids with ascending index at locations location, location + 1, ... (0: none of them is
 * placed). `copy` (may be NULL) gets the handles too. Cannot fail after a reserve of as many. */
void weft__directory_allocate_owner(weft__directory *directory, uint32_t count, weft_entity *out,
                                    weft_entity *copy, uint32_t location);
/* The ids that weft__directory_allocate_owner will give next, after a reserve of as many. */
void weft__directory_foresee_owner(const weft__directory *directory, uint32_t count,
                                   weft_entity *out);
/* The ids of a creation that several threads fill in: slots of one block. A value; the list is the
 * caller's. Always: first of the next share == first + count. */
typedef struct weft__id_share {
    uint32_t block;
    uint32_t count;
    uint32_t first; /* ids of the shares before it */
} weft__id_share;

/* How many shares `count` ids will have, after a reserve of as many; `out` (may be NULL) gets
 * them. */
uint32_t weft__directory_shares(const weft__directory *directory, uint32_t count,
                                weft__id_share *out);
/* Deals `count` ids out, the same that weft__directory_allocate_owner would give, in the same
 * order. They count as alive at once; every share must be filled before anything else is done. */
void weft__directory_deal_owner(weft__directory *directory, uint32_t count, weft__id_share *shares);
/* The next `count` ids of a share: out[i] is at location + i. Threads: one per share; any number of
 * shares at once. */
void weft__directory_fill(weft__directory *directory, const weft__id_share *share, uint32_t count,
                          weft_entity *out, uint32_t location);
/* One id as bits (version << 32 | index), when the lowest block with room is the cached one and has
 * a free slot in its current word and two in all; 0: ask weft__directory_room_find, or use the
 * functions above. */
static inline uint64_t weft__directory_allocate_one_owner(weft__directory *directory,
                                                          uint32_t location);
/* Kills an entity known to be alive. */
void weft__directory_free_owner(weft__directory *directory, weft_entity entity);
void weft__directory_free_many_owner(weft__directory *directory, const weft_entity *entities,
                                     uint32_t count);
/* The same for entities[rows[0..count)], in any order. */
void weft__directory_free_rows_owner(weft__directory *directory, const weft_entity *entities,
                                     const uint32_t *rows, uint32_t count);

/* ---- any thread ---- */

/* `count` new ids, not placed (location 0). `home` (in/out, a block index, per worker) says where
 * to look first. All or none. Errors: LIMIT, OUT_OF_MEMORY. Which ids depends on timing. */
weft_result weft__directory_allocate_any(weft__directory *directory, uint32_t *home, uint32_t count,
                                         weft_entity *out);
/* Kills those that are alive and match; runs in one block take its lock once. Returns how many
 * died by this call: of several callers with the same handle exactly one counts it. */
uint32_t weft__directory_free_any(weft__directory *directory, const weft_entity *entities,
                                  uint32_t count);

/* ---- look-ups: any thread ---- */

static inline weft__entity_block *weft__directory_block(const weft__directory *directory,
                                                        uint32_t index)
{
    uint32_t block = index / WEFT__BLOCK_SLOTS;
    /* D3: the block was made, and is in the table, before the end passed it */
    if (__builtin_expect(block >= at_load_acq(&directory->x_block_end), 0)) return NULL;
    const weft__block_table *table = at_load_acq(&directory->x_table); /* D2 */
    weft__entity_block *found =
        at_load_rlx(&table->x_blocks[block]); /* relaxed: the end was acquired after it */
    if (found == NULL) __builtin_unreachable();
    return found;
}

/* The slot of an index, or NULL for one that was never made or is another world's. */
static inline weft_a64 *weft__directory_slot(const weft__directory *directory,
                                             uint32_t handle_index)
{
    uint32_t index = handle_index ^ directory->tag_bits;
    weft__entity_block *block = weft__directory_block(directory, index);
    return __builtin_expect(block == NULL, 0) ? NULL : &block->x_slots[index % WEFT__BLOCK_SLOTS];
}

#define WEFT__PREFETCH_AHEAD 16u
#define WEFT__BLOCKS_CACHED 8u /* the slots of fewer blocks, half a MiB, stay in the cache */

/* In a loop over `count` handles, at number i: fetches the slot of one some way ahead, so that the
 * misses overlap; not that of a neighbour, which is there already. Inlined early: gcc takes a
 * function that only prefetches for one that does nothing. */
static inline __attribute__((always_inline)) void
weft__directory_prefetch(const weft__directory *directory, const weft_entity *entities,
                         uint32_t count, uint32_t i)
{
    /* relaxed: a hint */
    if (at_load_rlx(&directory->x_block_end) < WEFT__BLOCKS_CACHED ||
        count - i <= WEFT__PREFETCH_AHEAD)
        return;
    uint32_t index = entities[i + WEFT__PREFETCH_AHEAD].index;
    if ((index ^ entities[i + WEFT__PREFETCH_AHEAD - 1].index) < 8) return;
    const weft_a64 *x_slot = weft__directory_slot(directory, index);
    if (x_slot != NULL) __builtin_prefetch(x_slot);
}

/* Before that loop: fetches the slots of the first ones. */
static inline __attribute__((always_inline)) void
weft__directory_prefetch_first(const weft__directory *directory, const weft_entity *entities,
                               uint32_t count)
{
    /* relaxed: a hint */
    if (at_load_rlx(&directory->x_block_end) < WEFT__BLOCKS_CACHED) return;
    uint32_t end = count < WEFT__PREFETCH_AHEAD ? count : WEFT__PREFETCH_AHEAD;
    for (uint32_t i = 0; i < end; i++) {
        const weft_a64 *x_slot = weft__directory_slot(directory, entities[i].index);
        if (x_slot != NULL) __builtin_prefetch(x_slot);
    }
}

/* True when alive; *location is then its place. relaxed: the hand-over of the handle ordered the
 * creation before this look-up (a sync point, or the same thread). */
static inline bool weft__directory_find(const weft__directory *directory, weft_entity entity,
                                        uint32_t *location)
{
    const weft_a64 *x_slot = weft__directory_slot(directory, entity.index);
    if (x_slot == NULL) return false;
    uint64_t slot = at_load_rlx(x_slot); /* relaxed: see above */
    *location = (uint32_t)slot;
    return slot >> 32 == entity.version && (entity.version & 1) != 0;
}

/* Moves an entity (version << 32 | index) known to be alive, so that its block is there. Threads:
 * the one that moves its row. */
static inline void weft__directory_place_bits(weft__directory *directory, uint64_t entity,
                                              uint32_t location)
{
    uint32_t index = (uint32_t)entity ^ directory->tag_bits;
    const weft__block_table *table = at_load_acq(&directory->x_table); /* D2 */
    /* relaxed: the hand-over of the handle ordered the making of its block before this */
    weft__entity_block *block = at_load_rlx(&table->x_blocks[index / WEFT__BLOCK_SLOTS]);
    /* relaxed: as weft__directory_find */
    at_store_rlx(&block->x_slots[index % WEFT__BLOCK_SLOTS], entity >> 32 << 32 | location);
}

static inline void weft__directory_place(weft__directory *directory, weft_entity entity,
                                         uint32_t location)
{
    weft__directory_place_bits(directory, (uint64_t)entity.version << 32 | entity.index, location);
}

/* ---- the hot single operations of the owner ---- */

/* After it one id can be had the short way; false: the lowest block with room has one slot left, or
 * no block has. */
bool weft__directory_room_find(weft__directory *directory);
/* Tells the hint of a block that became full, or is not full any more. */
void weft__directory_hint(weft__directory *directory, uint32_t block, bool is_full);

static inline uint64_t weft__directory_allocate_one_owner(weft__directory *directory,
                                                          uint32_t location)
{
    /* relaxed: the world is idle; so are all below */
    if (__builtin_expect(at_load_rlx(&directory->x_lowest_room) != WEFT__BLOCK_LIMIT ||
                             directory->room_index != directory->first_room,
                         0))
        return 0;
    weft__entity_block *block = directory->room_block;
    uint32_t word = block->first_word, count = at_load_rlx(&block->x_count); /* relaxed: idle */
    if (__builtin_expect(word >= WEFT__BLOCK_WORDS || count + 1 == WEFT__BLOCK_SLOTS, 0)) return 0;
    uint64_t used = block->used[word];
    if (__builtin_expect(~used == 0, 0)) return 0;
    uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(~used);
    if (slot >= WEFT__BLOCK_SLOTS) return 0;
    block->used[word] = used | (used + 1); /* sets the lowest zero */
    weft_a64 *x_slot = &block->x_slots[slot];
    uint64_t born = at_load_rlx(x_slot) + WEFT__VERSION_ONE; /* relaxed: idle; dead: location 0 */
    at_store_rlx(x_slot, born | location);                   /* relaxed: idle */
    at_store_rlx(&block->x_count, count + 1);                /* relaxed: idle */
    static_assert(offsetof(weft_entity, version) == 4 && sizeof(weft_entity) == 8, "packed");
    return born | ((directory->room_index * WEFT__BLOCK_SLOTS + slot) ^ directory->tag_bits);
}

/* Kills the entity whose block was found; false: its version is the last one, or the block was full
 * (then use weft__directory_free_owner, nothing was done). `index` is without the tag. */
static inline bool weft__directory_kill_owner(weft__directory *directory, weft__entity_block *block,
                                              uint32_t index, uint32_t version)
{
    uint32_t home = index / WEFT__BLOCK_SLOTS, slot = index % WEFT__BLOCK_SLOTS;
    uint32_t count = at_load_rlx(&block->x_count); /* relaxed: idle */
    if (version == WEFT__VERSION_LAST || count == WEFT__BLOCK_SLOTS) return false;
    at_store_rlx(&block->x_slots[slot], (uint64_t)(version + 1) << 32); /* relaxed: idle */
    at_store_rlx(&block->x_count, count - 1);                           /* relaxed: idle */
    at_store_rlx(&block->x_had_deaths, 1u);                             /* relaxed: idle */
    block->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    if (slot / 64 < block->first_word) block->first_word = slot / 64;
    if (home < directory->first_room) directory->first_room = home;
    return true;
}

/* ---- the rest ---- */

/* Whether a block found in the table stands for one that is lent (directory_lend.h). */
static inline bool weft__directory_is_lent(const weft__directory *directory,
                                           const weft__entity_block *block)
{
    return block == directory->stand_in;
}

/* ---- growth ---- */

/* The directory begins, gets blocks, ends.
 *
 * Edges: directory.h. */

/* Block limit 0 means the maximum. Allocates nothing. */
void weft__directory_init(weft__directory *directory, weft__memory *memory, const weft_os *os,
                          const weft_world_desc *desc);
void weft__directory_fini(weft__directory *directory);
/* Makes `count` blocks, fewer when the limit is near; at least one more is there after it, or an
 * error: LIMIT, OUT_OF_MEMORY. A block that another thread has published but not yet counted is
 * counted instead. Threads: any. */
weft_result weft__directory_grow(weft__directory *directory, uint32_t count);
/* How many blocks a growing world makes when it needs some: as many, or an eighth more than it has.
 * Owner. */
uint32_t weft__directory_ahead(const weft__directory *directory, uint32_t needed);

/* Memory of `count` blocks that are not in the directory yet: mapping it can take the owner
 * milliseconds while other threads map and touch memory, so one of them does. NULL: no memory.
 * Threads: any. */
weft__block_slab *weft__directory_slab_make(weft__directory *directory, uint32_t count);
/* Gives it back unused; NULL is ignored. Threads: any. */
void weft__directory_slab_free(weft__directory *directory, weft__block_slab *slab);
/* Its blocks become the last ones, as many as the limit allows; the directory owns it. Owner. */
void weft__directory_slab_use(weft__directory *directory, weft__block_slab *slab);

/* ---- ids for recorders outside of systems ---- */

/* Ids for rows that recorders outside of systems make, on any thread, while
 * the owner works with the world.
 *
 * The owner's functions take no lock and count on the room that they have found. So these ids come
 * from blocks of their own: x_count of such a block is that of a full one for ever, and all that
 * allocates passes over it. A thread reserves slots there, which are free for all others to see,
 * until playback settles them: then the handles that it got are alive. A lock guards the books of
 * these blocks; entities that die there are the owner's only reason to take it.
 *
 * Edges:
 * U1  the lock (lock.h): `used` of these blocks, their books, and the chain
 * D3  a block is made as any other (directory.c), with the lock: who has seen the end pass it and
 *     takes the lock finds it in the chain */

/* A block whose free slots only weft__outside_take gives out. Guarded by the lock of the directory;
 * `block.used` is changed by the owner alone, with the lock. Always: x_count == WEFT__BLOCK_SLOTS;
 * reserved and used have no bit in common; x_alive + x_retired == bits of used; taken == bits of
 * reserved. */
typedef struct weft__outside_block {
    weft__entity_block block;
    struct weft__outside_block *next;
    uint32_t index;
    weft_a32 x_alive; /* statistics read it at any time */
    uint32_t taken;
    uint64_t reserved[WEFT__BLOCK_WORDS];
} weft__outside_block;

/* Reserves `count` slots and writes the handles that they will have. All or none. Errors: LIMIT,
 * OUT_OF_MEMORY. Threads: any. Cost: now and then a look at each of these blocks. */
weft_result weft__outside_take(weft__directory *directory, uint32_t count, weft_entity *out);
/* Gives slots back that were not settled. Null handles are passed over. Threads: any. */
void weft__outside_return(weft__directory *directory, const weft_entity *entities, uint32_t count);
/* Handles that were taken are alive, not placed; others are passed over. Owner. */
void weft__outside_settle(weft__directory *directory, const weft_entity *entities, uint32_t count);

/* Keeps slots from being taken until weft__outside_open: the owner changes versions as it likes.
 * False: some are taken, and nothing is kept. Owner. */
bool weft__outside_close(weft__directory *directory);
void weft__outside_open(weft__directory *directory);

/* ---- for the directory alone ---- */

/* Whether a block that was made is one of these. */
bool weft__outside_has(weft__directory *directory, uint32_t index);

static inline weft__outside_block *weft__outside_of(weft__entity_block *block)
{
    return (weft__outside_block *)(void *)block;
}

/* Adds to the entities that live in a block, with the lock. */
static inline void weft__outside_count(weft__entity_block *block, uint32_t count)
{
    weft_a32 *x_alive = &weft__outside_of(block)->x_alive;
    at_store_rlx(x_alive, at_load_rlx(x_alive) + count); /* relaxed: guarded by the lock (U1) */
}

/* Takes the lock, unless it is closed: then the owner has it. */
void weft__outside_lock(weft__directory *directory);
void weft__outside_unlock(weft__directory *directory);

/* ---- counts, and the check ---- */

/* The directory is looked at, and set, by statistics, snapshots, files, checks.
 *
 * World idle, unless said otherwise. */

/* Alive entities. Threads: any; exact while no thread allocates. */
uint64_t weft__directory_alive(const weft__directory *directory);
/* Sets the version of an index (both parities; one that is retired comes back): snapshots,
 * files, and tests of the wrap. World idle. The bit and count follow the parity. */
weft_result weft__directory_force(weft__directory *directory, uint32_t index, uint32_t version,
                                  uint32_t location);
/* Back to the beginning: no index was ever alive. World idle and without rows. */
void weft__directory_forget(weft__directory *directory);
/* Whether no index was ever alive. O(indices made). */
bool weft__directory_is_new(const weft__directory *directory);
/* Indices made so far: 0..end-1. */
uint32_t weft__directory_end(const weft__directory *directory);
/* Version of an index below the end. */
uint32_t weft__directory_version(const weft__directory *directory, uint32_t index);
/* Every invariant that holds while no thread allocates or frees. */
bool weft__directory_check(const weft__directory *directory, char *text, size_t text_bytes);

/* ---- indices that are not alive, for files and snapshots ---- */

/* An index that is not alive. A value. */
typedef struct weft__dead {
    uint32_t index;
    uint32_t version; /* even, not 0; WEFT__VERSION_LAST: retired */
} weft__dead;

/* The first index from *from on that is not alive, but was; false: there is none. *from is where to
 * go on. World idle. Cost of all: a word per 64 alive or new indices, a slot per dead one. */
bool weft__directory_dead_next(const weft__directory *directory, uint32_t *from, weft__dead *out);
/* Makes every index that is not alive as `dead` lists it, ascending; those not in it become new
 * again. World idle. Cost: as above. */
void weft__directory_dead_put(weft__directory *directory, const weft__dead *dead, uint32_t count);
/* Makes an index that is new what `dead` says. World idle. Errors: of weft__directory_force. */
weft_result weft__directory_dead_enter(weft__directory *directory, weft__dead dead);
/* Whether an index that is not alive can have the version. */
static inline bool weft__dead_is_right(uint32_t version)
{
    return version == WEFT__VERSION_LAST || (version != 0 && (version & 1) == 0);
}
