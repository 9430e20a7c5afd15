/* SPDX-License-Identifier: MIT */
/* sector_rows.c: a walk notes the chunks; sorting them by sector and kind list makes the order
 * that does not depend on ranks. Rows are sorted by gid when a block is written. */
#include "sector_rows.h"

#include <stdlib.h>

#include "gid_sort.h"
#include "hash.h"
#include "ranks_error.h"

/* A hash of the kind list: the same on all ranks. */
static weft_result order_of(const weft_shard *shard, weft_archetype archetype, uint64_t *order)
{
    weft__row_component list[WEFT__ROW_COMPONENTS];
    uint32_t count = 0;
    weft_result result = weft__row_components(shard, archetype, list, &count);
    uint64_t hash = hash_start(count, 0);
    for (uint32_t i = 0; i < count; i++)
        hash = hash_word(hash, weft_component_hash(shard->world, list[i].component));
    *order = hash_end(hash);
    return result;
}

static int by_sector(const void *a, const void *b)
{
    const weft__sector_run *left = a, *right = b;
    if (left->sector != right->sector) return left->sector < right->sector ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

weft_result weft__sector_rows_collect(const weft_shard *shard, weft__sector_rows *out)
{
    weft_archetype last = {0};
    uint64_t order = 0;
    weft_cursor cursor;
    const bool is_begun = weft__shard_loop_begin(shard, shard->rows_query, &cursor);
    weft_result result = is_begun ? WEFT_OK : weft__ranks_no_memory();
    while (result == WEFT_OK && weft_query_next(&cursor)) {
        const weft_slice *slice = &cursor.slice;
        uint32_t stored;
        memcpy(&stored, weft_slice_read_shared(slice, 1), sizeof stored);
        if (stored == 0) continue;
        const weft_archetype archetype = weft_entity_archetype(shard->world, slice->entities[0]);
        if (archetype.id != last.id) result = order_of(shard, archetype, &order);
        last = archetype;
        if (!weft__array_grow(&out->runs, &out->capacity, out->count + UINT64_C(1),
                              sizeof *out->runs))
            result = weft__ranks_no_memory();
        if (result != WEFT_OK) break;
        out->runs[out->count++] = (weft__sector_run){.order = order,
                                                     .sector = stored - 1,
                                                     .count = slice->count,
                                                     .archetype = archetype,
                                                     .place = weft__slice_place(slice),
                                                     .gids = weft_slice_read(slice, 0)};
    }
    weft_query_end(&cursor);
    if (out->count != 0) qsort(out->runs, out->count, sizeof *out->runs, by_sector);
    return result;
}

void weft__sector_rows_free(weft__sector_rows *rows)
{
    free(rows->runs);
    *rows = (weft__sector_rows){0};
}

uint32_t weft__sector_rows_group(const weft__sector_rows *rows, uint32_t begin)
{
    uint32_t end = begin + 1;
    while (end < rows->count && by_sector(&rows->runs[begin], &rows->runs[end]) == 0) end++;
    return end;
}

/* Rows of runs in the order of gids. Owner: one writing. Always: the arrays have `count` places. */
typedef struct row_order {
    weft__gid_pair *pairs; /* twice as many; the one block of memory */
    weft__row_place *unsorted, *places;
    uint64_t *gids;
    uint32_t *sectors;
} row_order;

static bool reserve(row_order *order, size_t count)
{
    const size_t row = 2 * sizeof *order->pairs + 2 * sizeof *order->places + sizeof *order->gids +
                       sizeof *order->sectors;
    order->pairs = malloc(count * row + 1);
    order->unsorted = (weft__row_place *)(void *)(order->pairs + 2 * count);
    order->places = order->unsorted + count;
    order->gids = (uint64_t *)(void *)(order->places + count);
    order->sectors = (uint32_t *)(void *)(order->gids + count);
    return order->pairs != NULL;
}

static void sort_rows(const weft__sector_rows *rows, uint32_t begin, uint32_t end, uint32_t count,
                      row_order *order)
{
    uint32_t at = 0;
    for (uint32_t k = begin; k < end; k++) {
        const weft__sector_run *run = &rows->runs[k];
        for (uint32_t i = 0; i < run->count; i++, at++) {
            order->pairs[at] = (weft__gid_pair){run->gids[i], at};
            order->unsorted[at] = (weft__row_place){run->place.chunk, run->place.row + i};
        }
    }
    const weft__gid_pair *sorted = weft__gid_sort(order->pairs, order->pairs + count, count);
    for (uint32_t i = 0; i < count; i++) {
        const weft__row_place place = order->unsorted[sorted[i].number];
        order->gids[i] = sorted[i].key;
        order->places[i] = place;
        order->sectors[i] = rows->runs[begin].sector;
    }
}

weft_result weft__sector_rows_write(const weft_shard *shard, const weft__sector_rows *rows,
                                    uint32_t begin, uint32_t end, weft__bytes *out)
{
    uint32_t count = 0;
    for (uint32_t k = begin; k < end; k++) count += rows->runs[k].count;
    row_order order = {0};
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (reserve(&order, count)) {
        sort_rows(rows, begin, end, count, &order);
        result = weft__block_write(shard,
                                   &(weft__row_list){rows->runs[begin].archetype, count,
                                                     order.places, order.gids, order.sectors},
                                   out);
    } else {
        (void)weft__ranks_no_memory();
    }
    free(order.pairs);
    return result;
}
