/* SPDX-License-Identifier: MIT */
/* batch.c: array operations in steps. All reservations come before the first change; all copies
 * before the first close, so that a chunk may be source and destination at once. */
#include "batch.h"

#include "archetype.h"
#include "bits.h"
#include "entity_value.h"
#include "error.h"
#include "move_plan.h"
#include "sparse.h"
#include "tuple.h"

#include <stdlib.h>
#include <string.h>

/* Whether the first entities, more than SAMPLE, follow each other for the most part: then so may
 * their rows, and bit maps take them by the word. */
static bool is_in_order(const weft_entity *entities)
{
    enum { SAMPLE = 16 };
    static_assert(SAMPLE < WEFT__BATCH_FEW, "there are so many");
    uint32_t neighbours = 0;
    for (uint32_t i = 0; i < SAMPLE; i++)
        neighbours += entities[i].index + 1 == entities[i + 1].index;
    return neighbours > SAMPLE / 2;
}

weft__batch weft__batch_begin(weft_world *world, weft__batch_room *room,
                              const weft_entity *entities, uint32_t count)
{
    weft__batch batch = {.room = room, .key_capacity = WEFT__BATCH_FEW};
    if (count <= WEFT__BATCH_FEW) {
        batch.keys = room->keys;
    } else if (count <= WEFT__BATCH_SHORT && !is_in_order(entities)) {
        batch.keys = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, 2 * (size_t)count,
                                 sizeof(uint64_t), 8);
        batch.key_capacity = count;
    }
    return batch; /* without memory for keys there may be some for bit maps */
}

static void keys_fini(weft_world *world, weft__batch *batch)
{
    if (batch->key_capacity != WEFT__BATCH_FEW)
        weft__free(&world->memory, WEFT__MEMORY_COMMANDS, batch->keys,
                   2 * (size_t)batch->key_capacity, sizeof *batch->keys, 8);
    batch->keys = NULL;
}

/* ---- bit maps ---- */

/* Makes the entry of a chunk without one. False: memory. */
static bool entry_open(weft_world *world, weft__batch *batch, weft__chunk *chunk)
{
    if (!weft__list_room(&world->memory, WEFT__MEMORY_COMMANDS, &batch->entries, &batch->capacity,
                         batch->count + 1, sizeof *batch->entries))
        return false;
    uint32_t words = chunk->layout->mask_words, bit_words = words + (words + 63) / 64;
    uint64_t *bits = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, bit_words, sizeof *bits, 8);
    if (bits == NULL) return false;
    memset(bits + words, 0, (bit_words - words) * sizeof *bits);
    batch->entries[batch->count++] = (weft__batch_entry){
        .chunk = chunk, .bits = bits, .summary = bits + words, .bit_words = bit_words};
    chunk->mark = batch->count;
    return true;
}

/* More rows come than the array has entities: from now on with bit maps. False: memory. */
static bool keys_to_bits(weft_world *world, weft__batch *batch)
{
    uint64_t *keys = batch->keys;
    batch->keys = NULL; /* for weft__batch_add */
    bool is_done = true;
    for (uint32_t i = 0; i < batch->key_count && is_done; i++) {
        uint32_t row = (uint32_t)keys[i];
        weft__row_run one = {world->chunks.at[keys[i] >> 32], row, row + 1};
        is_done = weft__batch_add(world, batch, one);
    }
    batch->keys = keys;
    keys_fini(world, batch);
    return is_done;
}

bool weft__batch_add(weft_world *world, weft__batch *batch, weft__row_run run)
{
    if (run.chunk == NULL) return true;
    if (batch->keys != NULL && !keys_to_bits(world, batch)) return false;
    if (run.chunk->mark == 0 && !entry_open(world, batch, run.chunk)) return false;
    const weft__batch_entry *entry = &batch->entries[run.chunk->mark - 1];
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

/* Lists the rows of an entry at `rows`; a run needs no list. */
static bool entry_list(weft__batch_entry *entry, uint32_t *rows)
{
    uint32_t n = 0;
    for (uint32_t s = 0; n < entry->count; s++) {
        for (uint64_t some = entry->summary[s]; some != 0; some &= some - 1) {
            uint32_t w = s * 64 + bits_lowest(some);
            for (uint64_t word = entry->bits[w]; word != 0; word &= word - 1)
                rows[n++] = w * 64 + bits_lowest(word);
        }
    }
    entry->first = rows[0];
    if (rows[n - 1] - rows[0] == n - 1) return false;
    entry->rows = rows;
    return true;
}

static bool bits_finish(weft_world *world, weft__batch *batch)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        weft__batch_entry *entry = &batch->entries[i];
        entry->count = entry_count(entry);
        total += entry->count;
        entry->chunk->mark = 0;
    }
    batch->is_finished = true;
    if (total == 0) return true;
    batch->rows = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, total, sizeof *batch->rows, 4);
    if (batch->rows == NULL) return false;
    batch->row_capacity = total;
    qsort(batch->entries, batch->count, sizeof *batch->entries, entry_compare);
    for (uint32_t i = 0; i < batch->count; i++)
        if (entry_list(&batch->entries[i], batch->rows + batch->row_count))
            batch->row_count += batch->entries[i].count;
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
    if (count <= WEFT__BATCH_FEW) {
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

bool weft__batch_sort(weft_world *world, weft__batch *batch)
{
    uint64_t *keys = keys_sort(batch->keys, batch->keys + batch->key_capacity, batch->key_count);
    batch->sorted = keys;
    batch->key_count = keys_unique(keys, batch->key_count);
    batch->rows = batch->room->rows;
    if (batch->key_count <= WEFT__BATCH_FEW) return true;
    batch->rows = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, batch->key_count,
                              sizeof *batch->rows, 4);
    if (batch->rows == NULL) return false;
    batch->row_capacity = batch->key_count;
    return true;
}

weft__batch_entry weft__batch_next(const weft_world *world, weft__batch *batch)
{
    uint32_t i = (uint32_t)batch->row_count, n = 0;
    uint64_t chunk = batch->sorted[i] >> 32;
    uint32_t *rows = batch->rows + i;
    for (; i + n < batch->key_count && batch->sorted[i + n] >> 32 == chunk; n++)
        rows[n] = (uint32_t)batch->sorted[i + n];
    batch->row_count += n;
    bool is_run = rows[n - 1] - rows[0] == n - 1;
    return (weft__batch_entry){.chunk = world->chunks.at[chunk],
                               .rows = is_run ? NULL : rows,
                               .first = rows[0],
                               .count = n};
}

static uint32_t keys_chunks(const weft__batch *batch)
{
    uint32_t chunks = 0;
    for (uint32_t i = 0; i < batch->key_count; i++)
        chunks += i == 0 || batch->sorted[i] >> 32 != batch->sorted[i - 1] >> 32;
    return chunks;
}

static bool keys_finish(weft_world *world, weft__batch *batch)
{
    if (!weft__batch_sort(world, batch)) return false;
    batch->entries = batch->room->entries;
    uint32_t chunks = batch->key_count > WEFT__BATCH_FEW ? keys_chunks(batch) : 0;
    if (chunks > WEFT__BATCH_FEW &&
        !weft__list_room(&world->memory, WEFT__MEMORY_COMMANDS, &batch->entries, &batch->capacity,
                         chunks, sizeof *batch->entries))
        return false;
    while (batch->row_count < batch->key_count)
        batch->entries[batch->count++] = weft__batch_next(world, batch);
    batch->is_finished = true;
    return true;
}

/* ---- both ---- */

bool weft__batch_finish(weft_world *world, weft__batch *batch)
{
    return batch->keys != NULL ? keys_finish(world, batch) : bits_finish(world, batch);
}

weft_result weft__batch_select(weft_world *world, weft__batch *batch, const weft_entity *entities,
                               uint32_t count, const char *what)
{
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
        if (!weft__batch_join(world, batch, &run, chunk, row))
            return weft__error_memory(world, what);
    }
    if (weft__batch_add(world, batch, run) && weft__batch_finish(world, batch)) return WEFT_OK;
    return weft__error_memory(world, what);
}

const weft__plan *weft__batch_plan(weft_world *world, const weft__batch_entry *entry,
                                   weft__archetype *to)
{
    const weft__chunk *chunk = entry->chunk;
    const weft__plan *plan = weft__plan_obtain(world, chunk->archetype, to);
    if (plan == NULL || !weft__is_residue(chunk) || plan->new_type_count == 0) return plan;
    uint32_t row = entry->rows != NULL ? entry->rows[0] : entry->first;
    weft__error_stale(world, weft__chunk_entities(chunk)[row]);
    return NULL;
}

weft_result weft__batch_target(weft_world *world, weft__batch_entry *entry, weft__archetype *to)
{
    if (to == NULL) return WEFT_OK;
    entry->is_kept = to == entry->chunk->archetype;
    if (entry->is_kept) return WEFT_OK;
    entry->plan = weft__batch_plan(world, entry, to);
    if (entry->plan != NULL) entry->to = weft__tuple_follow(world, entry->chunk->tuple, to);
    return entry->to != NULL ? WEFT_OK : world->error->code;
}

weft_result weft__batch_target_death(weft_world *world, weft__batch_entry *entry)
{
    weft__archetype *archetype = entry->chunk->archetype;
    if ((archetype->flags & WEFT__HAS_CLEANUP) == 0) return WEFT_OK;
    weft__archetype *residue = weft__archetype_residue(world, archetype);
    return residue != NULL ? weft__batch_target(world, entry, residue) : world->error->code;
}

static void entry_copy(weft_world *world, const weft__batch *batch, const weft__batch_entry *entry)
{
    if (entry->to == NULL) return;
    uint32_t done = 0;
    for (uint32_t s = entry->span_first; done < entry->count; s++) {
        weft__span span = batch->spans.at[s];
        weft__rows_copy(world, entry->plan, entry->chunk,
                        entry->rows != NULL ? entry->rows + done : NULL, entry->first + done, span);
        done += span.count;
    }
}

static void ids_free(weft_world *world, const weft__batch_entry *entry)
{
    const weft_entity *entities = weft__chunk_entities(entry->chunk);
    if (entry->rows == NULL && entry->count > 1)
        weft__directory_free_many_owner(&world->directory, entities + entry->first, entry->count);
    else
        weft__directory_free_rows_owner(&world->directory, entities,
                                        entry->rows != NULL ? entry->rows : &entry->first,
                                        entry->count);
}

static bool becomes_residue(const weft__batch_entry *entry)
{
    return entry->to != NULL &&
           (entry->to->archetype->flags & ~entry->chunk->archetype->flags & WEFT__IS_RESIDUE) != 0;
}

static void entry_close(weft_world *world, const weft__batch_entry *entry)
{
    if (becomes_residue(entry))
        weft__rows_retire(world, entry->chunk, entry->rows, entry->first, entry->count);
    if (entry->to == NULL) {
        weft__sparse_forget(world, entry->chunk, entry->rows, entry->first, entry->count);
        ids_free(world, entry);
    }
    weft__rows_discard(world, entry->plan, entry->chunk, entry->rows, entry->first, entry->count);
    weft__rows_close(world, entry->chunk, entry->rows, entry->first, entry->count);
}

/* Room for all entries: each chunk is made for the rows of all that go to its tuple. */
static weft_result reserve_all(weft_world *world, weft__batch *batch)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < batch->count; i++)
        if (batch->entries[i].to != NULL) batch->entries[i].to->coming += batch->entries[i].count;
    for (uint32_t i = 0; i < batch->count; i++) {
        weft__batch_entry *entry = &batch->entries[i];
        entry->span_first = batch->spans.count;
        if (entry->to == NULL) continue;
        entry->to->coming -= entry->count;
        if (result == WEFT_OK)
            result = weft__rows_reserve(world, entry->to, entry->count, &batch->spans);
    }
    if (result != WEFT_OK) weft__rows_unreserve(world, &batch->spans, 0);
    return result;
}

weft_result weft__batch_apply(weft_world *world, weft__batch *batch)
{
    weft_result result = reserve_all(world, batch);
    if (result != WEFT_OK) return result;
    for (uint32_t i = 0; i < batch->count; i++) entry_copy(world, batch, &batch->entries[i]);
    for (uint32_t i = 0; i < batch->count; i++)
        if (!batch->entries[i].is_kept) entry_close(world, &batch->entries[i]);
    for (uint32_t i = 0; i < batch->count; i++)
        if (!batch->entries[i].is_kept)
            weft__chunk_settle(world, batch->entries[i].chunk, batch->entries[i].count);
    return WEFT_OK;
}

void weft__batch_fini(weft_world *world, weft__batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        weft__batch_entry *entry = &batch->entries[i];
        if (entry->to != NULL) weft__tuple_release(world, entry->to);
        if (!batch->is_finished) entry->chunk->mark = 0;
        weft__free(&world->memory, WEFT__MEMORY_COMMANDS, entry->bits, entry->bit_words,
                   sizeof *entry->bits, 8);
    }
    if (batch->capacity != 0)
        weft__list_free(&world->memory, WEFT__MEMORY_COMMANDS, batch->entries, batch->capacity,
                        sizeof *batch->entries);
    if (batch->row_capacity != 0)
        weft__free(&world->memory, WEFT__MEMORY_COMMANDS, batch->rows, batch->row_capacity,
                   sizeof *batch->rows, 4);
    weft__spans_fini(world, &batch->spans);
    keys_fini(world, batch);
    *batch = (weft__batch){0};
}
