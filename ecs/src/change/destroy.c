/* SPDX-License-Identifier: MIT */
/* destroy.c: which rows the handles of an array mean; death of rows: ids, destructors, holes; rows
 * with cleanup components move to their residue instead; linked groups are followed. Arrays of
 * entities go through a batch, so that nothing has happened when memory runs out. Owner, serial. */
#include "destroy.h"
#include "entity_tag.h"
#include "entity_value.h"
#include "instantiate.h"
#include "name_table.h"
#include "unmake.h"

#include <stdlib.h>

/* Arrays up to SHORT entities are collected by keys, up to WEFT__CHANGE_FEW without taking memory.
 */
#define WEFT__BATCH_SHORT 2048u
#define WEFT__BATCH_FETCHED 8u /* columns of a row that are fetched early */

/* The rows of one chunk as bits. Owner: the batch; chunk->mark - 1 is its index. */
typedef struct batch_entry {
    weft__chunk *chunk;
    uint64_t *bits;     /* a word is undefined while its bit of the summary is clear */
    uint64_t *summary;  /* bit per word of `bits` that has any; behind them, in the same block */
    uint32_t bit_words; /* of both; the chunk may be gone when the batch ends */
    uint32_t count;     /* of the rows, when the batch is finished */
} batch_entry;

/* Neighbouring rows of entities that follow each other in an array. A value: chunk == NULL is the
 * empty one, else first < end <= chunk->count. */
typedef struct row_run {
    weft__chunk *chunk;
    uint32_t first;
    uint32_t end;
} row_run;

/* One array operation. Owner: the stack of the operation; made by batch_begin. Always:
 *   keys != NULL or is_finished: no chunk is marked; key_count <= key_capacity. */
typedef struct weft__batch {
    weft__change *change;
    WEFT__LIST(batch_entry) entries;
    bool is_finished;
    /* a short array, until it turns to bit maps; else NULL */
    uint64_t *keys;        /* of the rows so far: chunk id << 32 | row */
    uint64_t *sorted;      /* the same in order, each once; after batch_sort */
    uint32_t key_count;    /* never above key_capacity: one for each entity of the array */
    uint32_t key_capacity; /* there is room for twice as many, for sorting */
    uint64_t few[2 * WEFT__CHANGE_FEW]; /* not initialised: more than a small batch writes */
} weft__batch;

/* Adds rows that are in one word of bits. */
static inline void batch_entry_add(const batch_entry *entry, uint32_t word_index, uint64_t rows)
{
    uint64_t *word = &entry->bits[word_index], *some = &entry->summary[word_index / 64];
    uint64_t word_bit = UINT64_C(1) << word_index % 64;
    if (__builtin_expect((*some & word_bit) == 0, 0)) {
        *some |= word_bit;
        *word = rows;
    } else {
        *word |= rows;
    }
}

/* ---- the rows of an array of handles ----
 *
 * As bit maps or as sorted keys. Chunks are numbered by their mark while their bits are
 * collected; what becomes of the rows is not known here. */

/* Whether the first entities, more than SAMPLE, follow each other for the most part: then so may
 * their rows, and bit maps take them by the word. */
static bool is_in_order(const weft_entity *entities)
{
    enum { SAMPLE = 16 };
    static_assert(SAMPLE < WEFT__CHANGE_FEW, "there are so many");
    uint32_t neighbours = 0;
    for (uint32_t i = 0; i < SAMPLE; i++)
        neighbours += entities[i].index + 1 == entities[i + 1].index;
    return neighbours > SAMPLE / 2;
}

static weft__memory *memory_of(const weft__batch *batch)
{
    return &batch->change->world->memory;
}

static void batch_begin(weft__batch *batch, weft__change *change, const weft_entity *entities,
                        uint32_t count)
{
    batch->change = change;
    batch->entries.at = NULL;
    batch->entries.count = batch->entries.capacity = 0;
    batch->is_finished = false;
    batch->keys = batch->few;
    batch->key_count = 0;
    batch->key_capacity = WEFT__CHANGE_FEW;
    if (count <= WEFT__CHANGE_FEW) return;
    batch->keys = NULL;
    if (count > WEFT__BATCH_SHORT || is_in_order(entities)) return;
    batch->key_capacity = count; /* without memory for keys there may be some for bit maps */
    batch->keys = WEFT__NEW(memory_of(batch), WEFT__MEMORY_COMMANDS, 2 * (size_t)count, uint64_t);
}

static void keys_fini(weft__batch *batch)
{
    if (batch->key_capacity != WEFT__CHANGE_FEW)
        WEFT__FREE(memory_of(batch), WEFT__MEMORY_COMMANDS, batch->keys,
                   2 * (size_t)batch->key_capacity);
    batch->keys = NULL;
}

/* ---- bit maps ---- */

/* Makes the entry of a chunk without one. False: memory. */
static bool entry_open(weft__batch *batch, weft__chunk *chunk)
{
    weft__memory *memory = memory_of(batch);
    if (!WEFT__LIST_ROOM(memory, WEFT__MEMORY_COMMANDS, &batch->entries, batch->entries.count + 1))
        return false;
    uint32_t words = chunk->layout->mask_words, bit_words = words + (words + 63) / 64;
    uint64_t *bits = WEFT__NEW(memory, WEFT__MEMORY_COMMANDS, bit_words, *bits);
    if (bits == NULL) return false;
    memset(bits + words, 0, (bit_words - words) * sizeof *bits);
    batch->entries.at[batch->entries.count++] =
        (batch_entry){chunk, bits, bits + words, bit_words, 0};
    chunk->mark = batch->entries.count;
    return true;
}

static bool batch_add(weft__batch *batch, row_run run);

/* More rows come than the array has entities: from now on with bit maps. False: memory. */
static bool keys_to_bits(weft__batch *batch)
{
    const weft_world *world = batch->change->world;
    uint64_t *keys = batch->keys;
    batch->keys = NULL; /* for batch_add */
    bool is_done = true;
    for (uint32_t i = 0; i < batch->key_count && is_done; i++) {
        uint32_t row = (uint32_t)keys[i];
        row_run one = {world->chunks.at[keys[i] >> 32], row, row + 1};
        is_done = batch_add(batch, one);
    }
    batch->keys = keys;
    keys_fini(batch);
    return is_done;
}

static __attribute__((noinline)) bool batch_add(weft__batch *batch, row_run run)
{
    if (run.chunk == NULL) return true;
    if (batch->keys != NULL && !keys_to_bits(batch)) return false;
    if (run.chunk->mark == 0 && !entry_open(batch, run.chunk)) return false;
    const batch_entry *entry = &batch->entries.at[run.chunk->mark - 1];
    for (uint32_t row = run.first; row < run.end;) {
        uint32_t part = 64 - row % 64 < run.end - row ? 64 - row % 64 : run.end - row;
        batch_entry_add(entry, row / 64, bits_mask(part) << row % 64);
        row += part;
    }
    return true;
}

static int entry_compare(const void *a, const void *b)
{
    const batch_entry *x = a, *y = b;
    return x->chunk->id < y->chunk->id ? -1 : 1;
}

/* Counts the rows of an entry. Words without any are not looked at: there are many where a short
 * array is spread over large chunks. */
static uint32_t entry_count(const batch_entry *entry)
{
    uint32_t count = 0, words = (uint32_t)(entry->summary - entry->bits);
    for (uint32_t s = 0; s * 64 < words; s++)
        for (uint64_t some = entry->summary[s]; some != 0; some &= some - 1)
            count += bits_count(entry->bits[s * 64 + bits_lowest(some)]);
    return count;
}

/* Room for parts and rows: that of the change, or memory of their own. False: memory. */
static bool lists_take(weft__change *change, uint32_t parts, uint32_t rows)
{
    weft__memory *memory = &change->world->memory;
    if (change->room != NULL && parts <= WEFT__CHANGE_FEW && rows <= WEFT__CHANGE_FEW) {
        change->parts.at = change->room->parts;
        change->rows.at = change->room->rows;
        return true;
    }
    return WEFT__LIST_ROOM(memory, WEFT__MEMORY_COMMANDS, &change->parts, parts) &&
           WEFT__LIST_ROOM(memory, WEFT__MEMORY_COMMANDS, &change->rows, rows);
}

/* The part of rows that stand at the end of the list, which they leave again where they are a run.
 */
static weft__change_part part_of(weft__change *change, weft__chunk *chunk, uint32_t count)
{
    uint32_t *rows = change->rows.at + change->rows.count;
    weft__change_part part = weft__change_run(chunk, rows[0], count);
    if (rows[count - 1] - rows[0] != count - 1) {
        part.rows = change->rows.count;
        change->rows.count += count;
    }
    return part;
}

/* Lists the rows of an entry. */
static void entry_list(weft__change *change, const batch_entry *entry)
{
    uint32_t n = 0, *rows = change->rows.at + change->rows.count;
    for (uint32_t s = 0; n < entry->count; s++) {
        for (uint64_t some = entry->summary[s]; some != 0; some &= some - 1) {
            uint32_t w = s * 64 + bits_lowest(some);
            for (uint64_t word = entry->bits[w]; word != 0; word &= word - 1)
                rows[n++] = w * 64 + bits_lowest(word);
        }
    }
    change->parts.at[change->parts.count++] = part_of(change, entry->chunk, n);
}

static bool bits_finish(weft__batch *batch)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < batch->entries.count; i++) {
        batch_entry *entry = &batch->entries.at[i];
        entry->count = entry_count(entry);
        total += entry->count;
        entry->chunk->mark = 0;
    }
    batch->is_finished = true;
    if (total == 0) return true;
    if (!lists_take(batch->change, batch->entries.count, (uint32_t)total)) return false;
    qsort(batch->entries.at, batch->entries.count, sizeof *batch->entries.at, entry_compare);
    for (uint32_t i = 0; i < batch->entries.count; i++)
        entry_list(batch->change, &batch->entries.at[i]);
    return true;
}

/* ---- keys ---- */

static void insertion_sort(uint64_t *keys, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        uint32_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* Sorts by the byte at `shift`, into `out`; keys that have it in common stay in order. */
static void digit_sort(const uint64_t *keys, uint32_t count, uint32_t shift, uint64_t *out)
{
    uint32_t starts[256] = {0}, start = 0;
    for (uint32_t i = 0; i < count; i++) starts[keys[i] >> shift & 255]++;
    for (uint32_t d = 0; d < 256; d++) {
        uint32_t n = starts[d];
        starts[d] = start;
        start += n;
    }
    for (uint32_t i = 0; i < count; i++) out[starts[keys[i] >> shift & 255]++] = keys[i];
}

/* Sorts keys; `other` is room for as many. Returns where they are. */
static uint64_t *keys_sort(uint64_t *keys, uint64_t *other, uint32_t count)
{
    if (count <= WEFT__CHANGE_FEW) {
        insertion_sort(keys, count);
        return keys;
    }
    uint64_t differ = 0;
    for (uint32_t i = 1; i < count; i++) differ |= keys[i] ^ keys[0];
    for (uint32_t shift = 0; shift < 64; shift += 8) {
        if ((differ >> shift & 255) == 0) continue;
        digit_sort(keys, count, shift, other);
        uint64_t *sorted = other;
        other = keys;
        keys = sorted;
    }
    return keys;
}

static uint32_t keys_chunks(const weft__batch *batch)
{
    uint32_t chunks = 0;
    for (uint32_t i = 0; i < batch->key_count; i++)
        chunks += i == 0 || batch->sorted[i] >> 32 != batch->sorted[i - 1] >> 32;
    return chunks;
}

static bool batch_sort(weft__batch *batch)
{
    uint64_t *keys = keys_sort(batch->keys, batch->keys + batch->key_capacity, batch->key_count);
    batch->sorted = keys;
    /* keys that stand twice */
    uint32_t n = 0;
    for (uint32_t i = 0; i < batch->key_count; i++)
        if (n == 0 || keys[i] != keys[n - 1]) keys[n++] = keys[i];
    batch->key_count = n;
    return lists_take(batch->change, 0, batch->key_count);
}

static weft__change_part batch_next(const weft__batch *batch)
{
    weft__change *change = batch->change;
    uint32_t i = change->rows.count, n = 0;
    uint64_t chunk = batch->sorted[i] >> 32;
    uint32_t *rows = change->rows.at + i;
    for (; i + n < batch->key_count && batch->sorted[i + n] >> 32 == chunk; n++)
        rows[n] = (uint32_t)batch->sorted[i + n];
    weft__change_part part = part_of(change, change->world->chunks.at[chunk], n);
    change->rows.count = i + n;
    return part;
}

/* ---- both ---- */

static bool batch_finish(weft__batch *batch)
{
    weft__change *change = batch->change;
    if (batch->keys == NULL) return bits_finish(batch);
    batch->is_finished = true;
    if (!batch_sort(batch) || !lists_take(change, keys_chunks(batch), batch->key_count))
        return false;
    while (change->rows.count < batch->key_count)
        change->parts.at[change->parts.count++] = batch_next(batch);
    return true;
}

/* Notes a row of a short array, and fetches what its removal will write: the misses of many rows
 * overlap. Inlined early: gcc takes a function that only prefetches for one that does nothing. */
static inline __attribute__((always_inline)) void batch_key(weft__batch *batch,
                                                            const weft__chunk *chunk, uint32_t row)
{
    const weft__layout *layout = chunk->layout;
    const weft__column *column = layout->columns, *end = column + layout->column_count;
    if (layout->column_count > WEFT__BATCH_FETCHED) end = column + WEFT__BATCH_FETCHED;
    for (; column < end; column++)
        __builtin_prefetch(chunk->base + column->offset + (size_t)row * column->bytes, 1);
    WEFT_ASSERT(batch->key_count < batch->key_capacity);
    batch->keys[batch->key_count++] = (uint64_t)chunk->id << 32 | row;
}

/* Adds the row of an entity known to be at (chunk, row), but not before it is clear that `run` ends
 * with it: then `run` begins with the row, else it grows by it. Begin with {0}, and add the last
 * one. False: memory. */
static inline bool batch_join(weft__batch *batch, row_run *run, weft__chunk *chunk, uint32_t row)
{
    if (batch->keys != NULL) {
        batch_key(batch, chunk, row);
        return true;
    }
    if (row == run->end && chunk == run->chunk) {
        run->end++;
        return true;
    }
    row_run ended = *run;
    *run = (row_run){chunk, row, row + 1};
    if (ended.end - ended.first != 1 || ended.chunk->mark == 0) return batch_add(batch, ended);
    batch_entry_add(&batch->entries.at[ended.chunk->mark - 1], ended.first / 64,
                    UINT64_C(1) << ended.first % 64);
    return true;
}

static void batch_fini(weft__batch *batch)
{
    for (uint32_t i = 0; i < batch->entries.count; i++) {
        const batch_entry *entry = &batch->entries.at[i];
        if (!batch->is_finished) entry->chunk->mark = 0;
        WEFT__FREE(memory_of(batch), WEFT__MEMORY_COMMANDS, entry->bits, entry->bit_words);
    }
    WEFT__LIST_FREE(memory_of(batch), WEFT__MEMORY_COMMANDS, &batch->entries);
    keys_fini(batch);
}

/* Collects the rows of the entities. */
static weft_result select_rows(weft__batch *batch, const weft_entity *entities, uint32_t count,
                               const char *what)
{
    weft_world *world = batch->change->world;
    row_run run = {0};
    weft_entity before = WEFT__NO_ENTITY;
    weft__chunk *chunk = NULL;
    uint32_t row = 0;
    weft__directory_prefetch_first(&world->directory, entities, count);
    for (uint32_t i = 0; i < count; i++) {
        weft__directory_prefetch(&world->directory, entities, count, i);
        chunk = weft__entity_chunk_after(world, entities[i], before, chunk, &row);
        if (chunk == NULL) return weft__error_stale(world, entities[i]);
        before = entities[i];
        if (!batch_join(batch, &run, chunk, row)) return weft__error_memory(world, what);
    }
    if (batch_add(batch, run) && batch_finish(batch)) return WEFT_OK;
    return weft__error_memory(world, what);
}

weft_result weft__batch_select(weft__change *change, const weft_entity *entities, uint32_t count,
                               const char *what)
{
    weft__batch batch;
    batch_begin(&batch, change, entities, count);
    weft_result result = select_rows(&batch, entities, count, what);
    batch_fini(&batch);
    return result;
}

/* ---- death ---- */

/* Rows end for good, whatever cleanup components they have. */
weft_result weft__rows_die(weft_world *world, weft__chunk *chunk, const uint32_t *rows,
                           uint32_t first, uint32_t count)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    weft__sparse_forget(world, chunk, rows, first, count);
    if (rows == NULL)
        weft__directory_free_many_owner(&world->directory, entities + first, count);
    else
        weft__directory_free_rows_owner(&world->directory, entities, rows, count);
    weft__rows_discard(world, NULL, chunk, rows, first, count);
    weft__rows_close(world, chunk, rows, first, count);
    weft__chunk_settle(world, chunk, count);
    return WEFT_OK;
}

static bool member_add(void *user, weft_entity member, weft__chunk *chunk, uint32_t row)
{
    (void)member;
    return batch_add(user, (row_run){chunk, row, row + 1});
}

/* Adds entities with the members of their linked groups; dead ones are skipped. *flags: all those
 * of the roots' archetypes. */
static bool roots_add(weft__batch *batch, const weft_entity *entities, uint32_t count,
                      uint32_t *flags)
{
    weft_world *world = batch->change->world;
    row_run run = {0};
    weft__directory_prefetch_first(&world->directory, entities, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row;
        weft__directory_prefetch(&world->directory, entities, count, i);
        weft__chunk *chunk = weft__entity_chunk(world, entities[i], &row);
        if (chunk == NULL) continue;
        if (!batch_join(batch, &run, chunk, row)) return false;
        uint32_t own = chunk->archetype->flags;
        *flags |= own;
        if ((own & WEFT__HAS_LINKED_GROUP) != 0 &&
            !weft__group_each(world, chunk, row, member_add, batch))
            return false;
    }
    return batch_add(batch, run);
}

static bool row_die_plainly(weft_world *world, weft__chunk *chunk, uint32_t row)
{
    weft_entity entity = weft__chunk_entities(chunk)[row];
    uint32_t index = entity.index ^ world->directory.tag_bits;
    weft__entity_block *block = weft__directory_block(&world->directory, index);
    uint32_t special = WEFT__IS_SPECIAL;
    if (weft__row_has_bits(chunk, row)) special |= WEFT__HAS_BITS;
    weft__sparse_forget(world, chunk, NULL, row, 1);
    return weft__row_die_plainly(world, chunk, row, block, entity, special);
}

/* The rows of a short array that all end for good: chunk by chunk, without parts. */
static weft_result keys_die(weft__batch *batch)
{
    weft__change *change = batch->change;
    weft_world *world = change->world;
    if (!batch_sort(batch)) return weft__error_memory(world, "destruction of entities");
    const uint64_t *keys = batch->sorted;
    while (change->rows.count < batch->key_count) {
        uint64_t key = keys[change->rows.count];
        bool is_last = change->rows.count + 1 == batch->key_count;
        if ((is_last || (keys[change->rows.count + 1] ^ key) >> 32 != 0) &&
            row_die_plainly(world, world->chunks.at[key >> 32], (uint32_t)key)) {
            change->rows.count++;
            continue;
        }
        weft__change_part part = batch_next(batch);
        weft__rows_die(world, part.chunk, weft__change_rows(change, &part), part.first, part.count);
    }
    return WEFT_OK;
}

static weft_result parts_die(weft__batch *batch)
{
    weft__change *change = batch->change;
    weft_result result = WEFT_OK;
    if (!batch_finish(batch)) return weft__error_memory(change->world, "destruction of entities");
    for (uint32_t i = 0; i < change->parts.count && result == WEFT_OK; i++)
        result = weft__change_destroy(change, &change->parts.at[i]);
    return weft__change_finish(change, result);
}

/* Alive ones among the entities, with their linked groups. All or none. */
static weft_result destroy_all(weft_world *world, const weft_entity *entities, uint32_t count)
{
    weft__change_room room;
    weft__change change = {.world = world, .room = &room, .moves_whole = true};
    weft__batch batch;
    batch_begin(&batch, &change, entities, count);
    weft_result result;
    uint32_t flags = 0;
    if (!roots_add(&batch, entities, count, &flags))
        result = weft__error_memory(world, "destruction of entities");
    else if (batch.keys != NULL && (flags & WEFT__HAS_CLEANUP) == 0)
        result = keys_die(&batch);
    else
        result = parts_die(&batch);
    batch_fini(&batch);
    weft__change_fini(&change);
    return result;
}

/* ---- entities ---- */

void weft__entity_unmake(weft_world *world, weft_entity entity)
{
    const weft__name_key none = {.text = ""};
    uint32_t row, index = entity.index ^ world->directory.tag_bits;
    weft__chunk *chunk = weft__living_chunk(world, entity, &row);
    if (chunk == NULL) return;
    weft__name_set(world, entity, &none); /* cannot fail */
    weft__rows_die(world, chunk, NULL, row, 1);
    weft__directory_force(&world->directory, index, entity.version - 1, 0);
}

static __attribute__((noinline)) weft_result destroy_generally(weft_world *world,
                                                               weft_entity entity)
{
    weft_result result = weft__idle(world, "weft_entity_destroy");
    if (result != WEFT_OK) return result;
    uint32_t row;
    weft__chunk *chunk = weft__living_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    uint32_t slow = WEFT__HAS_CLEANUP | WEFT__HAS_LINKED_GROUP;
    if ((chunk->archetype->flags & slow) != 0) return destroy_all(world, &entity, 1);
    if (row_die_plainly(world, chunk, row)) return WEFT_OK;
    uint32_t index = entity.index ^ world->directory.tag_bits;
    weft__entity_block *block = weft__directory_block(&world->directory, index);
    if (!weft__directory_kill_owner(&world->directory, block, index, entity.version))
        weft__directory_free_owner(&world->directory, entity);
    if ((chunk->archetype->flags & WEFT__NEEDS_DESTRUCT) != 0)
        weft__rows_discard(world, NULL, chunk, NULL, row, 1);
    weft__row_end(world, chunk, row);
    return WEFT_OK;
}

/* The whole destruction where nothing is special; false: it is, and nothing was done. */
static inline __attribute__((always_inline)) bool destroy_leanly(weft_world *world,
                                                                 weft_entity entity)
{
    if (__builtin_expect(world == NULL, 0) || !weft__is_idle(world)) return false;
    if (__builtin_expect(world->types.sparse != NULL, 0)) return false;
    uint32_t index = entity.index ^ world->directory.tag_bits;
    weft__entity_block *block = weft__directory_block(&world->directory, index);
    if (__builtin_expect(block == NULL, 0)) return false;
    uint64_t slot = at_load_rlx(&block->x_slots[index % WEFT__BLOCK_SLOTS]); /* relaxed: idle */
    uint32_t location = (uint32_t)slot;
    if (__builtin_expect(slot >> 32 != entity.version || location == 0, 0)) return false;
    weft__chunk *chunk = world->berths.at[location >> WEFT__BERTH_SHIFT].chunk;
    return weft__row_die_plainly(world, chunk, location - chunk->location, block, entity,
                                 WEFT__IS_SPECIAL | WEFT__HAS_BITS);
}

weft_result weft_entity_destroy(weft_world *world, weft_entity entity)
{
    return destroy_leanly(world, entity) ? WEFT_OK : destroy_generally(world, entity);
}

weft_result weft_entity_destroy_many(weft_world *world, const weft_entity *entities, uint32_t count)
{
    weft_result result = weft__idle(world, "weft_entity_destroy_many");
    if (result != WEFT_OK) return result;
    if (entities == NULL && count != 0)
        return weft__error_argument(world, "weft_entity_destroy_many",
                                    "entities is NULL: give an array of `count`");
    uint32_t foreign = weft__foreign_find(&world->directory, entities, count);
    if (foreign != count) return weft__error_stale(world, entities[foreign]);
    return destroy_all(world, entities, count);
}
