/* directory.c: the protocol of the entity directory.
 *
 * The word x_count of a block is its lock: a caller of the _any family takes it by CAS count ->
 * BUSY, changes bits and versions, and lets go by storing the new count. A busy block is passed
 * over, but never taken for full: a round that met one and found nothing is repeated. Nothing is
 * allocated while a block is held. Versions and locations are read by look-ups without the lock;
 * whoever passes a handle on orders its creation before the look-up.
 *
 * Edges: D1  let go: store of x_count (release) -> take: CAS of x_count (acquire); covers used,
 * first_word,
 *     retired, versions
 * D2  make a page or a slab: filled, then CAS of its pointer (release) -> acquire load
 * D3  make a block: zeroed, then CAS of its pointer (release) -> acquire load of page and block,
 *     also through x_block_end (release CAS -> acquire load)
 * D4  hints: or and and of x_full -> with itself: no hint of another block is lost
 *
 * The _owner family runs alone (world idle; what others did before is ordered by the sync point)
 * and uses relaxed loads and stores of the same words. x_full and x_lowest_room are hints for
 * them: a stale x_full bit only makes a scan that ignores hints necessary.
 *
 * Who may run with whom: _any with _any and look-ups; _owner with nobody but look-ups of
 * entities it does not change. */
#include "directory.h"

#include "bits.h"
#include "invariant.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert(WEFT__BLOCK_PAGE <= 64 && WEFT__BLOCK_LIMIT % WEFT__BLOCK_PAGE == 0,
              "a page has one word of hints");
static_assert(sizeof(weft__slot_line) == 64, "five slots share one cache line");

#define SLAB_MAPPED_BYTES ((size_t)2 << 20) /* slabs of this size on are mapped (huge pages) */
#define SLAB_BLOCKS_MAPPED (SLAB_MAPPED_BYTES / sizeof(weft__entity_block) + 1)
#define SLAB_BLOCKS_MAX 64u /* blocks made ahead at most */

/* Memory of some blocks. Constant after it was pushed. */
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
    directory->room_index = 0;
    directory->room_block = NULL;
    at_init(&directory->x_block_end, 0);
    at_init(&directory->x_lowest_room, WEFT__BLOCK_LIMIT);
    at_init(&directory->x_slabs, NULL);
    for (uint32_t i = 0; i < WEFT__BLOCK_PAGES; i++) at_init(&directory->x_pages[i], NULL);
}

static size_t slab_bytes(uint32_t count)
{
    return bits_align_up(count * sizeof(weft__entity_block), 4096);
}

static void slab_release(weft__directory *directory, weft__block_slab *slab)
{
    if (slab->is_mapped) {
        directory->os->unmap(directory->os->user, slab->blocks, slab_bytes(slab->count));
        weft__memory_count(directory->memory, WEFT__MEMORY_ENTITIES,
                           -(int64_t)slab_bytes(slab->count));
    } else {
        weft__free(directory->memory, WEFT__MEMORY_ENTITIES, slab->blocks, slab->count,
                   sizeof *slab->blocks, 64);
    }
    weft__free(directory->memory, WEFT__MEMORY_ENTITIES, slab, 1, sizeof *slab,
               _Alignof(weft__block_slab));
}

void weft__directory_fini(weft__directory *directory)
{
    for (weft__block_slab *slab = at_plain(&directory->x_slabs), *next; slab != NULL; slab = next) {
        next = slab->next;
        slab_release(directory, slab);
    }
    for (uint32_t i = 0; i < WEFT__BLOCK_PAGES; i++)
        weft__free(directory->memory, WEFT__MEMORY_ENTITIES, at_plain(&directory->x_pages[i]), 1,
                   sizeof(weft__block_page), _Alignof(weft__block_page));
}

/* ---- making blocks ---- */

static weft__entity_block *slab_memory(weft__directory *directory, uint32_t count, bool *is_mapped)
{
    *is_mapped = slab_bytes(count) >= SLAB_MAPPED_BYTES;
    if (!*is_mapped)
        return weft__alloc_zeroed(directory->memory, WEFT__MEMORY_ENTITIES, count,
                                  sizeof(weft__entity_block), 64);
    size_t alignment = directory->with_huge_pages ? SLAB_MAPPED_BYTES : 4096;
    void *memory = directory->os->map(directory->os->user, slab_bytes(count), alignment);
    if (memory != NULL)
        weft__memory_count(directory->memory, WEFT__MEMORY_ENTITIES, (int64_t)slab_bytes(count));
    return memory;
}

static weft__block_slab *slab_create(weft__directory *directory, uint32_t count)
{
    weft__block_slab *slab = weft__alloc(directory->memory, WEFT__MEMORY_ENTITIES, 1, sizeof *slab,
                                         _Alignof(weft__block_slab));
    if (slab == NULL) return NULL;
    bool is_mapped;
    weft__entity_block *blocks = slab_memory(directory, count, &is_mapped);
    if (blocks == NULL) {
        weft__free(directory->memory, WEFT__MEMORY_ENTITIES, slab, 1, sizeof *slab,
                   _Alignof(weft__block_slab));
        return NULL;
    }
    *slab = (weft__block_slab){.blocks = blocks, .count = count, .is_mapped = is_mapped};
    return slab;
}

static weft__block_page *page_obtain(weft__directory *directory, uint32_t index)
{
    weft_aptr *x_page = &directory->x_pages[index];
    weft__block_page *page = at_load_acq(x_page); /* D2 */
    if (page != NULL) return page;
    page = weft__alloc_zeroed(directory->memory, WEFT__MEMORY_ENTITIES, 1, sizeof *page,
                              _Alignof(weft__block_page));
    if (page == NULL) return NULL;
    void *found = NULL;
    if (at_cas_ar(x_page, &found, page)) return page; /* D2 */
    weft__free(directory->memory, WEFT__MEMORY_ENTITIES, page, 1, sizeof *page,
               _Alignof(weft__block_page));
    return found;
}

/* Raises the end past a block that is there; whoever meets it helps. */
static void end_raise(weft__directory *directory, uint32_t index)
{
    uint32_t end = at_load_acq(&directory->x_block_end); /* D3 */
    while (end <= index && !at_cas_ar(&directory->x_block_end, &end, index + 1)) {
    } /* D3 */
}

/* Puts a block at the lowest index that has none, from `index` on. False: others were faster, no
 * index below the limit (or no page) is left. */
static bool block_publish(weft__directory *directory, weft__entity_block *block, uint32_t index)
{
    for (; index < directory->block_limit; index++) {
        weft__block_page *page = page_obtain(directory, index / WEFT__BLOCK_PAGE);
        if (page == NULL) return false;
        void *found = NULL;
        bool is_ours = at_cas_ar(&page->x_blocks[index % WEFT__BLOCK_PAGE], &found, block); /* D3 */
        end_raise(directory, index);
        if (is_ours) return true;
    }
    return false;
}

static void slab_push(weft__directory *directory, weft__block_slab *slab)
{
    void *head = at_load_acq(&directory->x_slabs); /* D2 */
    do slab->next = head;
    while (!at_cas_ar(&directory->x_slabs, &head, slab)); /* D2 */
}

/* Makes `count` blocks, fewer when the limit is near; at least one more is there after it, or an
 * error. A block that another thread has published but not yet counted is counted instead. */
static weft_result blocks_make(weft__directory *directory, uint32_t count)
{
    uint32_t end = at_load_acq(&directory->x_block_end); /* D3 */
    if (end >= directory->block_limit) return WEFT_LIMIT;
    if (weft__directory_block(directory, end * WEFT__BLOCK_SLOTS) != NULL) {
        end_raise(directory, end);
        return WEFT_OK;
    }
    if (count > directory->block_limit - end) count = directory->block_limit - end;
    for (uint32_t page = end / WEFT__BLOCK_PAGE; page <= (end + count - 1) / WEFT__BLOCK_PAGE;
         page++)
        if (page_obtain(directory, page) == NULL) return WEFT_OUT_OF_MEMORY;
    weft__block_slab *slab = slab_create(directory, count);
    if (slab == NULL) return WEFT_OUT_OF_MEMORY;
    uint32_t published = 0;
    while (published < count && block_publish(directory, &slab->blocks[published], end))
        published++;
    if (published != 0)
        slab_push(directory, slab);
    else
        slab_release(directory, slab);
    return WEFT_OK;
}

/* ---- slots ---- */

static void hint_full(weft__directory *directory, uint32_t index, bool is_full)
{
    weft__block_page *page = at_load_acq(&directory->x_pages[index / WEFT__BLOCK_PAGE]); /* D2 */
    uint64_t bit = UINT64_C(1) << index % WEFT__BLOCK_PAGE;
    if (is_full)
        at_or_ar(&page->x_full, bit); /* D4 */
    else
        at_and_ar(&page->x_full, ~bit); /* D4 */
}

/* How new slots of a block are filled: what makes a handle's index of a slot number, and by how
 * much the location grows from one to the next. On the stack of one call. */
typedef struct placing {
    uint32_t index_bits;
    uint64_t step;
} placing;

static placing placing_of(const weft__directory *directory, uint32_t block, uint64_t step)
{
    return (placing){block * WEFT__BLOCK_SLOTS ^ directory->tag_bits, step};
}

/* Brings the free slots [slot, slot + count) to life. The block is held or the world idle. */
static void slots_fill(weft__entity_block *block, uint32_t slot, uint32_t count,
                       const placing *place, uint64_t location, weft_entity *out)
{
    weft__slot_line *line = &block->lines[slot / WEFT__LINE_SLOTS];
    uint32_t position = slot % WEFT__LINE_SLOTS;
    for (uint32_t i = 0; i < count; i++) {
        /* relaxed: guarded by the block (D1); look-ups follow whoever passes the handle on */
        uint32_t version = at_load_rlx(&line->x_version[position]) + 1;
        at_store_rlx(&line->x_version[position], version);   /* relaxed: above */
        at_store_rlx(&line->x_location[position], location); /* relaxed: above */
        out[i] = (weft_entity){(slot + i) ^ place->index_bits, version};
        location += place->step;
        if (++position == WEFT__LINE_SLOTS) position = 0, line++;
    }
}

/* Takes up to `count` lowest free slots of a block with room; returns how many. The block is held
 * or the world idle. */
static uint32_t block_take(weft__entity_block *block, uint32_t count, const placing *place,
                           uint64_t location, weft_entity *out)
{
    uint32_t taken = 0, word = block->first_word;
    while (taken < count && word < WEFT__BLOCK_WORDS) {
        uint64_t free = ~block->used[word] & bits_mask(WEFT__BLOCK_SLOTS - word * 64);
        if (free == 0) {
            word++;
            continue;
        }
        uint32_t first = bits_lowest(free), run = count - taken;
        uint64_t rest = ~(free >> first);
        uint32_t length = rest != 0 ? bits_lowest(rest) : 64;
        if (length > 64 - first) length = 64 - first;
        if (run > length) run = length;
        block->used[word] |= bits_mask(run) << first;
        slots_fill(block, word * 64 + first, run, place, location, out + taken);
        location += place->step * run;
        taken += run;
    }
    block->first_word = word;
    return taken;
}

/* Kills a slot when it is alive with this version. The block is held or the world idle. Returns the
 * change of the block's count: 0 or -1; *died tells a retired one too. */
static uint32_t slot_kill(weft__entity_block *block, uint32_t slot, uint32_t version, bool *died)
{
    weft__slot_line *line = &block->lines[slot / WEFT__LINE_SLOTS];
    uint32_t position = slot % WEFT__LINE_SLOTS;
    weft_a32 *x_version = &line->x_version[position];
    /* relaxed: guarded by the block (D1) */
    *died = at_load_rlx(x_version) == version && (version & 1) != 0;
    if (!*died) return 0;
    at_store_rlx(&line->x_location[position], 0); /* relaxed: as slots_fill */
    if (version == WEFT__VERSION_LAST) {
        at_store_rlx(x_version, 0); /* relaxed: as slots_fill */
        /* relaxed: guarded by the block (D1); statistics read it at any time */
        at_store_rlx(&block->x_retired, at_load_rlx(&block->x_retired) + 1);
        return 0;
    }
    at_store_rlx(x_version, version + 1); /* relaxed: as slots_fill */
    block->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    if (slot / 64 < block->first_word) block->first_word = slot / 64;
    return 1;
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
    if (count == 0) return WEFT_OK;
    uint64_t room = 0;
    for (uint32_t i = directory->first_room;; i++) {
        weft__entity_block *block = weft__directory_block(directory, i * WEFT__BLOCK_SLOTS);
        if (block == NULL || i >= directory->block_limit) break;
        room += WEFT__BLOCK_SLOTS - at_load_rlx(&block->x_count); /* relaxed: idle */
        if (room >= count) return WEFT_OK;
    }
    uint64_t end = at_load_rlx(&directory->x_block_end); /* relaxed: idle */
    uint64_t needed = (count - room + WEFT__BLOCK_SLOTS - 1) / WEFT__BLOCK_SLOTS;
    if (needed > directory->block_limit - end) return WEFT_LIMIT;
    uint64_t ahead = end / 8 < SLAB_BLOCKS_MAX ? end / 8 : SLAB_BLOCKS_MAX;
    if (end >= SLAB_BLOCKS_MAPPED && ahead < SLAB_BLOCKS_MAPPED) ahead = SLAB_BLOCKS_MAPPED;
    if (ahead > directory->block_limit - end) ahead = directory->block_limit - end;
    return blocks_make(directory, (uint32_t)(needed > ahead ? needed : ahead));
}

void weft__directory_allocate_owner(weft__directory *directory, uint32_t count, weft_entity *out,
                                    weft_entity *copy, uint64_t location)
{
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
        placing place = placing_of(directory, index, 1);
        block_take(block, n, &place, location + done, out + done);
        at_store_rlx(&block->x_count, used + n); /* relaxed: idle */
        if (n == room) hint_full(directory, index, true);
        if (copy != NULL) memcpy(copy + done, out + done, n * sizeof *copy);
        done += n;
    }
}

bool weft__directory_room_find(weft__directory *directory)
{
    lowest_room_merge(directory);
    directory->room_index = directory->first_room;
    directory->room_block =
        weft__directory_block(directory, directory->first_room * WEFT__BLOCK_SLOTS);
    return directory->room_block != NULL;
}

void weft__directory_hint(weft__directory *directory, uint32_t block, bool is_full)
{
    hint_full(directory, block, is_full);
}

void weft__directory_free_owner(weft__directory *directory, weft_entity entity)
{
    uint32_t index = entity.index ^ directory->tag_bits;
    weft__entity_block *block = weft__directory_block(directory, index);
    bool died;
    uint32_t freed = slot_kill(block, index % WEFT__BLOCK_SLOTS, entity.version, &died);
    WEFT_ASSERT(died);
    if (freed == 0) return;
    uint32_t used = at_load_rlx(&block->x_count); /* relaxed: idle */
    at_store_rlx(&block->x_count, used - 1);      /* relaxed: idle */
    index /= WEFT__BLOCK_SLOTS;
    if (index < directory->first_room) directory->first_room = index;
    if (used == WEFT__BLOCK_SLOTS) hint_full(directory, index, false);
}

void weft__directory_free_many_owner(weft__directory *directory, const weft_entity *entities,
                                     uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t index = entities[i].index ^ directory->tag_bits, home = index / WEFT__BLOCK_SLOTS;
        weft__entity_block *block = weft__directory_block(directory, index);
        uint32_t used = at_load_rlx(&block->x_count), freed = 0; /* relaxed: idle */
        do {
            bool died;
            freed += slot_kill(block, index % WEFT__BLOCK_SLOTS, entities[i].version, &died);
            WEFT_ASSERT(died);
            if (++i == count) break;
            index = entities[i].index ^ directory->tag_bits;
        } while (index / WEFT__BLOCK_SLOTS == home);
        at_store_rlx(&block->x_count, used - freed); /* relaxed: idle */
        if (freed != 0 && home < directory->first_room) directory->first_room = home;
        if (freed != 0 && used == WEFT__BLOCK_SLOTS) hint_full(directory, home, false);
    }
}

/* ---- any thread ---- */

/* Takes slots of one block if it is neither held nor full. */
static uint32_t block_allocate_any(weft__directory *directory, uint32_t index, uint32_t count,
                                   weft_entity *out, bool *met_busy)
{
    weft__entity_block *block = weft__directory_block(directory, index * WEFT__BLOCK_SLOTS);
    if (block == NULL) return 0;
    uint32_t used = at_load_rlx(&block->x_count); /* relaxed: the CAS acquires */
    if (used == WEFT__BLOCK_SLOTS) return 0;
    if (used == WEFT__BLOCK_BUSY || !at_cas_ar(&block->x_count, &used, WEFT__BLOCK_BUSY)) { /* D1 */
        *met_busy = true; /* held, or changed under us: not full as far as we know */
        return 0;
    }
    uint32_t room = WEFT__BLOCK_SLOTS - used;
    placing place = placing_of(directory, index, 0);
    uint32_t taken = block_take(block, count < room ? count : room, &place, 0, out);
    WEFT_ASSERT(taken != 0);
    at_store_rel(&block->x_count, used + taken); /* D1 */
    if (used + taken == WEFT__BLOCK_SLOTS) hint_full(directory, index, true);
    return taken;
}

/* One round over all blocks from `home` on; returns how many ids it took. */
static uint32_t round_any(weft__directory *directory, uint32_t *home, uint32_t count,
                          weft_entity *out, bool ignores_hints, bool *met_busy)
{
    uint32_t done = 0, end = at_load_acq(&directory->x_block_end); /* D3 */
    uint32_t start = *home < end ? *home : 0;
    for (uint32_t i = 0; i < end && done < count; i++) {
        uint32_t index = start + i < end ? start + i : start + i - end;
        if (!ignores_hints && i != 0) {
            const weft__block_page *page =
                at_load_acq(&directory->x_pages[index / WEFT__BLOCK_PAGE]); /* D2 */
            /* relaxed: a hint */
            if ((at_load_rlx(&page->x_full) >> index % WEFT__BLOCK_PAGE & 1) != 0) continue;
        }
        uint32_t taken = block_allocate_any(directory, index, count - done, out + done, met_busy);
        if (taken != 0) *home = index;
        done += taken;
    }
    return done;
}

weft_result weft__directory_allocate_any(weft__directory *directory, uint32_t *home, uint32_t count,
                                         weft_entity *out)
{
    uint32_t done = 0;
    bool ignores_hints = false, met_home_busy = false;
    if (count != 0) /* mostly the home block serves all */
        done = block_allocate_any(directory, *home, count, out, &met_home_busy);
    if (done == count) return WEFT_OK;
    for (;;) {
        bool met_busy = false;
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
            weft_result result = at_limit ? WEFT_LIMIT : blocks_make(directory, 1);
            if (result == WEFT_OK || (result == WEFT_LIMIT && !at_limit)) continue;
            weft__directory_free_any(directory, out, done);
            return result;
        }
    }
}

/* Waits for the block's lock. 0: nobody lives in it. */
static uint32_t block_hold(weft__entity_block *block)
{
    for (;;) {
        uint32_t used = at_load_rlx(&block->x_count); /* relaxed: the CAS acquires */
        if (used == 0) return 0;
        if (used != WEFT__BLOCK_BUSY && at_cas_ar(&block->x_count, &used, WEFT__BLOCK_BUSY))
            return used; /* D1 */
        at_stall();
    }
}

/* Kills entities[0..] as long as they are in one block; returns how many were looked at. */
static uint32_t run_free_any(weft__directory *directory, const weft_entity *entities,
                             uint32_t count, uint32_t *died)
{
    uint32_t index = entities[0].index ^ directory->tag_bits;
    weft__entity_block *block = weft__directory_block(directory, index);
    uint32_t home = index / WEFT__BLOCK_SLOTS, used = block == NULL ? 0 : block_hold(block);
    uint32_t i = 0, freed = 0;
    for (; i < count; i++) {
        index = entities[i].index ^ directory->tag_bits;
        if (index / WEFT__BLOCK_SLOTS != home) break;
        bool is_dead = false;
        if (used != 0)
            freed += slot_kill(block, index % WEFT__BLOCK_SLOTS, entities[i].version, &is_dead);
        *died += is_dead ? 1 : 0;
    }
    if (used == 0) return i;
    at_store_rel(&block->x_count, used - freed); /* D1 */
    if (freed == 0) return i;
    if (used == WEFT__BLOCK_SLOTS) hint_full(directory, home, false);
    uint32_t lowest = at_load_rlx(&directory->x_lowest_room); /* relaxed: read when idle */
    while (home < lowest && !at_cas_ar(&directory->x_lowest_room, &lowest, home)) {
    } /* D1 */
    return i;
}

uint32_t weft__directory_free_any(weft__directory *directory, const weft_entity *entities,
                                  uint32_t count)
{
    uint32_t died = 0;
    for (uint32_t i = 0; i < count;) i += run_free_any(directory, entities + i, count - i, &died);
    return died;
}

/* ---- the rest: owner ---- */

uint32_t weft__directory_end(const weft__directory *directory)
{
    return at_load_acq(&directory->x_block_end) * WEFT__BLOCK_SLOTS; /* D3 */
}

uint64_t weft__directory_alive(const weft__directory *directory)
{
    uint64_t alive = 0;
    uint32_t end = weft__directory_end(directory);
    for (uint32_t index = 0; index < end; index += WEFT__BLOCK_SLOTS) {
        const weft__entity_block *block = weft__directory_block(directory, index);
        uint32_t used = block == NULL ? 0 : at_load_rlx(&block->x_count); /* relaxed: statistic */
        /* relaxed: statistic */
        if (used != WEFT__BLOCK_BUSY && used != 0) alive += used - at_load_rlx(&block->x_retired);
    }
    return alive;
}

uint32_t weft__directory_version(const weft__directory *directory, uint32_t index)
{
    uint32_t position;
    const weft__slot_line *line =
        weft__directory_slot(directory, index ^ directory->tag_bits, &position);
    return line == NULL ? 0 : at_load_rlx(&line->x_version[position]); /* relaxed: idle */
}

weft_result weft__directory_force(weft__directory *directory, uint32_t index, uint32_t version,
                                  uint64_t location)
{
    uint32_t home = index / WEFT__BLOCK_SLOTS;
    while (home >= at_load_rlx(&directory->x_block_end)) { /* relaxed: idle */
        weft_result result = blocks_make(directory, 1);
        if (result != WEFT_OK) return result;
    }
    weft__entity_block *block = weft__directory_block(directory, index);
    uint32_t slot = index % WEFT__BLOCK_SLOTS,
             used = at_load_rlx(&block->x_count); /* relaxed: idle */
    uint64_t bit = UINT64_C(1) << slot % 64;
    weft__slot_line *line = &block->lines[slot / WEFT__LINE_SLOTS];
    at_store_rlx(&line->x_version[slot % WEFT__LINE_SLOTS], version);   /* relaxed: idle */
    at_store_rlx(&line->x_location[slot % WEFT__LINE_SLOTS], location); /* relaxed: idle */
    if (((block->used[slot / 64] & bit) != 0) == ((version & 1) != 0)) return WEFT_OK;
    block->used[slot / 64] ^= bit;
    uint32_t now = (version & 1) != 0 ? used + 1 : used - 1;
    at_store_rlx(&block->x_count, now); /* relaxed: idle */
    hint_full(directory, home, now == WEFT__BLOCK_SLOTS);
    if ((version & 1) == 0) {
        if (slot / 64 < block->first_word) block->first_word = slot / 64;
        if (home < directory->first_room) directory->first_room = home;
    }
    return WEFT_OK;
}

/* NULL when the books of a block are right. */
static const char *block_check(const weft__entity_block *block)
{
    uint32_t used = 0, alive = 0;
    for (uint32_t slot = 0; slot < WEFT__BLOCK_SLOTS; slot++) {
        bool is_used = (block->used[slot / 64] >> slot % 64 & 1) != 0;
        const weft_a32 *x_version =
            &block->lines[slot / WEFT__LINE_SLOTS].x_version[slot % WEFT__LINE_SLOTS];
        uint32_t version = at_plain(x_version);
        used += is_used ? 1 : 0;
        alive += version & 1;
        if ((version & 1) != 0 && !is_used) return "an alive slot has no bit";
        if (is_used && (version & 1) == 0 && version != 0) return "a dead slot has its bit set";
        if (!is_used && slot / 64 < block->first_word) return "first_word passes over a free slot";
    }
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
        const weft__entity_block *block = weft__directory_block(directory, i * WEFT__BLOCK_SLOTS);
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
