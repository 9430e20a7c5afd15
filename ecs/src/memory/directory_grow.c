/* SPDX-License-Identifier: MIT */
/* directory_grow.c: the beginning, the growth and the end of the entity directory: slabs of blocks,
 * and the tables that they are published in. Nothing here is hot but the growth of worlds, and
 * nothing is given back before the end. The protocol and its edges (D1 to D4) are at the top of
 * directory.c. */
#include "directory_grow.h"
#include "directory.h"

#include "bits.h"
#include "directory_outside.h"

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
        weft__free(directory->memory, WEFT__MEMORY_ENTITIES, slab->blocks, slab->count,
                   sizeof *slab->blocks, 64);
    }
    weft__free(directory->memory, WEFT__MEMORY_ENTITIES, slab, 1, sizeof *slab,
               _Alignof(weft__block_slab));
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
    weft__outside_fini(directory);
    weft__free(directory->memory, WEFT__MEMORY_ENTITIES, directory->stand_in, 1,
               sizeof *directory->stand_in, _Alignof(weft__entity_block));
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
        return weft__alloc_zeroed(directory->memory, WEFT__MEMORY_ENTITIES, count,
                                  sizeof(weft__entity_block), 64);
    size_t bytes = slab_bytes(directory, count);
    size_t alignment = directory->with_huge_pages ? HUGE_PAGE_BYTES : 4096;
    void *memory = directory->os->map(directory->os->user, bytes, alignment);
    if (memory != NULL)
        weft__memory_count(directory->memory, WEFT__MEMORY_ENTITIES, (int64_t)bytes);
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

weft_result weft__directory_publish(weft__directory *directory, weft__entity_block *block,
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
    weft__block_slab *slab = slab_create(directory, count);
    if (slab != NULL) slab_publish(directory, slab, end, &spare);
    table_free(directory, spare);
    return slab == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
}

/* ---- memory made ahead ---- */

weft__block_slab *weft__directory_slab_make(weft__directory *directory, uint32_t count)
{
    return slab_create(directory, count);
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
