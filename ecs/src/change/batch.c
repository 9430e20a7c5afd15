/* SPDX-License-Identifier: MIT */
/* batch.c: the rows of an array of handles, as bit maps or as sorted keys. See batch.h.
 *
 * Chunks are numbered by their mark while their bits are collected; what becomes of the rows is not
 * known here. */
#include "batch.h"

#include "bits.h"
#include "entity_value.h"
#include "error.h"

#include <stdlib.h>
#include <string.h>

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

void weft__batch_begin(weft__batch *batch, weft__change *change, const weft_entity *entities,
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
    batch->keys = weft__alloc(memory_of(batch), WEFT__MEMORY_COMMANDS, 2 * (size_t)count,
                              sizeof(uint64_t), 8);
}

static void keys_fini(weft__batch *batch)
{
    if (batch->key_capacity != WEFT__CHANGE_FEW)
        weft__free(memory_of(batch), WEFT__MEMORY_COMMANDS, batch->keys,
                   2 * (size_t)batch->key_capacity, sizeof *batch->keys, 8);
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
    uint64_t *bits = weft__alloc(memory, WEFT__MEMORY_COMMANDS, bit_words, sizeof *bits, 8);
    if (bits == NULL) return false;
    memset(bits + words, 0, (bit_words - words) * sizeof *bits);
    batch->entries.at[batch->entries.count++] =
        (weft__batch_entry){chunk, bits, bits + words, bit_words, 0};
    chunk->mark = batch->entries.count;
    return true;
}

/* More rows come than the array has entities: from now on with bit maps. False: memory. */
static bool keys_to_bits(weft__batch *batch)
{
    const weft_world *world = batch->change->world;
    uint64_t *keys = batch->keys;
    batch->keys = NULL; /* for weft__batch_add */
    bool is_done = true;
    for (uint32_t i = 0; i < batch->key_count && is_done; i++) {
        uint32_t row = (uint32_t)keys[i];
        weft__row_run one = {world->chunks.at[keys[i] >> 32], row, row + 1};
        is_done = weft__batch_add(batch, one);
    }
    batch->keys = keys;
    keys_fini(batch);
    return is_done;
}

bool weft__batch_add(weft__batch *batch, weft__row_run run)
{
    if (run.chunk == NULL) return true;
    if (batch->keys != NULL && !keys_to_bits(batch)) return false;
    if (run.chunk->mark == 0 && !entry_open(batch, run.chunk)) return false;
    const weft__batch_entry *entry = &batch->entries.at[run.chunk->mark - 1];
    for (uint32_t row = run.first; row < run.end;) {
        uint32_t part = 64 - row % 64 < run.end - row ? 64 - row % 64 : run.end - row;
        weft__batch_entry_add(entry, row / 64, bits_mask(part) << row % 64);
        row += part;
    }
    return true;
}

static int entry_compare(const void *a, const void *b)
{
    const weft__batch_entry *x = a, *y = b;
    return x->chunk->id < y->chunk->id ? -1 : 1;
}

/* Counts the rows of an entry. Words without any are not looked at: there are many where a short
 * array is spread over large chunks. */
static uint32_t entry_count(const weft__batch_entry *entry)
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
static void entry_list(weft__change *change, const weft__batch_entry *entry)
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
        weft__batch_entry *entry = &batch->entries.at[i];
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

/* Drops keys that stand twice in sorted ones; returns how many there are. */
static uint32_t keys_unique(uint64_t *keys, uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (n == 0 || keys[i] != keys[n - 1]) keys[n++] = keys[i];
    return n;
}

static uint32_t keys_chunks(const weft__batch *batch)
{
    uint32_t chunks = 0;
    for (uint32_t i = 0; i < batch->key_count; i++)
        chunks += i == 0 || batch->sorted[i] >> 32 != batch->sorted[i - 1] >> 32;
    return chunks;
}

bool weft__batch_sort(weft__batch *batch)
{
    uint64_t *keys = keys_sort(batch->keys, batch->keys + batch->key_capacity, batch->key_count);
    batch->sorted = keys;
    batch->key_count = keys_unique(keys, batch->key_count);
    return lists_take(batch->change, 0, batch->key_count);
}

weft__change_part weft__batch_next(const weft__batch *batch)
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

bool weft__batch_finish(weft__batch *batch)
{
    weft__change *change = batch->change;
    if (batch->keys == NULL) return bits_finish(batch);
    batch->is_finished = true;
    if (!weft__batch_sort(batch) || !lists_take(change, keys_chunks(batch), batch->key_count))
        return false;
    while (change->rows.count < batch->key_count)
        change->parts.at[change->parts.count++] = weft__batch_next(batch);
    return true;
}

/* Collects the rows of the entities. */
static weft_result select_rows(weft__batch *batch, const weft_entity *entities, uint32_t count,
                               const char *what)
{
    weft_world *world = batch->change->world;
    weft__row_run run = {0};
    weft_entity before = WEFT__NO_ENTITY;
    weft__chunk *chunk = NULL;
    uint32_t row = 0;
    weft__directory_prefetch_first(&world->directory, entities, count);
    for (uint32_t i = 0; i < count; i++) {
        weft__directory_prefetch(&world->directory, entities, count, i);
        chunk = weft__entity_chunk_after(world, entities[i], before, chunk, &row);
        if (chunk == NULL) return weft__error_stale(world, entities[i]);
        before = entities[i];
        if (!weft__batch_join(batch, &run, chunk, row)) return weft__error_memory(world, what);
    }
    if (weft__batch_add(batch, run) && weft__batch_finish(batch)) return WEFT_OK;
    return weft__error_memory(world, what);
}

weft_result weft__batch_select(weft__change *change, const weft_entity *entities, uint32_t count,
                               const char *what)
{
    weft__batch batch;
    weft__batch_begin(&batch, change, entities, count);
    weft_result result = select_rows(&batch, entities, count, what);
    weft__batch_fini(&batch);
    return result;
}

void weft__batch_fini(weft__batch *batch)
{
    for (uint32_t i = 0; i < batch->entries.count; i++) {
        const weft__batch_entry *entry = &batch->entries.at[i];
        if (!batch->is_finished) entry->chunk->mark = 0;
        weft__free(memory_of(batch), WEFT__MEMORY_COMMANDS, entry->bits, entry->bit_words,
                   sizeof *entry->bits, 8);
    }
    WEFT__LIST_FREE(memory_of(batch), WEFT__MEMORY_COMMANDS, &batch->entries);
    keys_fini(batch);
}
