/* batch.c: array operations in steps. All reservations come before the first change; all copies
 * before the first close, so that a chunk may be source and destination at once. */
#include "batch.h"

#include "bits.h"

#include <stdlib.h>
#include <string.h>

/* Makes the entry of a chunk without one. False: memory. */
static bool entry_open(weft_world *world, weft__batch *batch, weft__chunk *chunk)
{
    if (batch->count == batch->capacity) {
        uint32_t grown = batch->capacity == 0 ? 8 : 2 * batch->capacity;
        void *entries = weft__realloc(&world->memory, WEFT__MEMORY_COMMANDS, batch->entries,
                                      batch->capacity, grown, sizeof *batch->entries, 8);
        if (entries == NULL) return false;
        batch->entries = entries;
        batch->capacity = grown;
    }
    uint32_t words = chunk->layout->mask_words, bit_words = words + (words + 63) / 64;
    uint64_t *bits = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, bit_words, sizeof *bits, 8);
    if (bits == NULL) return false;
    memset(bits + words, 0, (bit_words - words) * sizeof *bits);
    batch->entries[batch->count++] = (weft__batch_entry){
        .chunk = chunk, .bits = bits, .summary = bits + words, .bit_words = bit_words};
    chunk->mark = batch->count;
    return true;
}

bool weft__batch_add(weft_world *world, weft__batch *batch, weft__row_run run)
{
    if (run.chunk == NULL) return true;
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

bool weft__batch_finish(weft_world *world, weft__batch *batch)
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

weft_result weft__batch_select(weft_world *world, weft__batch *batch, const weft_entity *entities,
                               uint32_t count, const char *what)
{
    weft__row_run run = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row;
        weft__directory_prefetch(&world->directory, entities, count, i);
        weft__chunk *chunk = weft__entity_chunk(world, entities[i], &row);
        if (chunk == NULL) return weft__error_stale(world, entities[i]);
        if (!weft__batch_join(world, batch, &run, chunk, row))
            return weft__error_memory(world, what);
    }
    if (weft__batch_add(world, batch, run) && weft__batch_finish(world, batch)) return WEFT_OK;
    return weft__error_memory(world, what);
}

weft_result weft__batch_target(weft_world *world, weft__batch_entry *entry, weft__archetype *to)
{
    if (to == NULL) return WEFT_OK;
    entry->is_kept = to == entry->chunk->archetype;
    if (entry->is_kept) return WEFT_OK;
    entry->plan = weft__plan_obtain(world, entry->chunk->archetype, to);
    if (entry->plan != NULL) entry->to = weft__tuple_follow(world, entry->chunk->tuple, to);
    return entry->to != NULL ? WEFT_OK : world->error->code;
}

weft_result weft__batch_target_death(weft_world *world, weft__batch_entry *entry)
{
    weft__archetype *archetype = entry->chunk->archetype;
    if ((archetype->flags & WEFT__IS_RESIDUE) != 0) {
        entry->is_kept = true;
        return WEFT_OK;
    }
    if ((archetype->flags & WEFT__HAS_CLEANUP) == 0) return WEFT_OK;
    weft__archetype *residue = weft__archetype_residue(world, archetype);
    return residue != NULL ? weft__batch_target(world, entry, residue) : world->error->code;
}

static void entry_copy(weft_world *world, const weft__batch *batch, const weft__batch_entry *entry)
{
    if (entry->to == NULL) return;
    uint32_t done = 0;
    for (uint32_t s = entry->span_first; done < entry->count; s++) {
        weft__span span = batch->spans.items[s];
        weft__rows_copy(world, entry->plan, entry->chunk,
                        entry->rows != NULL ? entry->rows + done : NULL, entry->first + done, span);
        done += span.count;
    }
}

static void ids_free(weft_world *world, const weft__batch_entry *entry)
{
    const weft_entity *entities = weft__chunk_entities(entry->chunk);
    if (entry->rows == NULL) {
        weft__directory_free_many_owner(&world->directory, entities + entry->first, entry->count);
        return;
    }
    weft__directory_free_rows_owner(&world->directory, entities, entry->rows, entry->count);
}

static void entry_close(weft_world *world, const weft__batch_entry *entry)
{
    if (entry->to == NULL) ids_free(world, entry);
    weft__rows_discard(world, entry->plan, entry->chunk, entry->rows, entry->first, entry->count);
    weft__rows_close(world, entry->chunk, entry->rows, entry->first, entry->count);
}

weft_result weft__batch_apply(weft_world *world, weft__batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        weft__batch_entry *entry = &batch->entries[i];
        entry->span_first = batch->spans.count;
        if (entry->to == NULL) continue;
        weft_result result = weft__rows_reserve(world, entry->to, entry->count, &batch->spans);
        if (result == WEFT_OK) continue;
        weft__rows_unreserve(world, &batch->spans, 0);
        return result;
    }
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
    weft__free(&world->memory, WEFT__MEMORY_COMMANDS, batch->entries, batch->capacity,
               sizeof *batch->entries, 8);
    weft__free(&world->memory, WEFT__MEMORY_COMMANDS, batch->rows, batch->row_capacity,
               sizeof *batch->rows, 4);
    weft__spans_fini(world, &batch->spans);
    *batch = (weft__batch){0};
}
