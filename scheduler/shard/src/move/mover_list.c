/* SPDX-License-Identifier: MIT */
/* mover_list.c: the owner lists chunks to look at, jobs compute the sectors of their rows, the
 * owner lists the rows that are elsewhere. What happens to them is left to sector_move.c. */
#include "mover_list.h"

#include <stdlib.h>

#include "ranks_error.h"
#include "world_front.h"

/* Rows of a chunk whose keys are looked at. Borrowed from the world, for the time of a pass. */
typedef struct key_run {
    const weft_entity *entities;
    const uint64_t *gids;
    const unsigned char *keys;
    uint32_t count, stored; /* value of ShardSector */
    uint64_t begin;         /* of its rows in `sectors` */
    bool has_movers;
} key_run;

/* Memory of one pass. */
typedef struct key_pass {
    weft_shard *shard;
    key_run *runs;
    uint64_t run_capacity;
    uint32_t run_count;
    uint32_t key_bytes;
    uint32_t *sectors; /* [row] */
} key_pass;

static bool collect_runs(key_pass *pass, uint64_t *rows)
{
    const weft_shard *shard = pass->shard;
    const uint32_t since = shard->keys_version;
    bool is_done = true;
    weft_cursor cursor = weft_query_begin(shard->world, shard->key_query);
    while (is_done && weft_query_next(&cursor)) {
        const weft_slice *slice = &cursor.slice;
        if (since != 0 && !weft_slice_changed_since(slice, 2, since) &&
            !weft_slice_order_changed_since(slice, since))
            continue;
        is_done = weft__array_grow(&pass->runs, &pass->run_capacity, pass->run_count + UINT64_C(1),
                                   sizeof *pass->runs);
        if (!is_done) break;
        key_run *run = &pass->runs[pass->run_count++];
        *run = (key_run){.entities = weft_slice_entities(slice),
                         .gids = weft_slice_read(slice, 0),
                         .keys = weft_slice_read(slice, 2),
                         .count = slice->count,
                         .begin = *rows};
        memcpy(&run->stored, weft_slice_read_shared(slice, 1), sizeof run->stored);
        *rows += slice->count;
    }
    weft_query_end(&cursor);
    return is_done;
}

static int find_sectors(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    const key_pass *pass = user;
    const weft__sector_map *map = &pass->shard->map;
    (void)job;
    for (uint32_t k = begin; k < end; k++) {
        key_run *run = &pass->runs[k];
        for (uint32_t i = 0; i < run->count; i++) {
            const uint32_t sector = weft__sector_at(map, run->keys + (size_t)i * pass->key_bytes);
            pass->sectors[run->begin + i] = sector;
            if (weft__sector_stored(sector) != run->stored || run->gids[i] == 0 ||
                map->rank_of[sector] != map->rank)
                run->has_movers = true;
        }
    }
    return 0;
}

static bool list_movers(const key_pass *pass, weft__mover_list *out)
{
    const weft__sector_map *map = &pass->shard->map;
    for (uint32_t k = 0; k < pass->run_count; k++) {
        const key_run *run = &pass->runs[k];
        if (!run->has_movers) continue;
        const weft_archetype archetype =
            weft_entity_archetype(pass->shard->world, run->entities[0]);
        for (uint32_t i = 0; i < run->count; i++) {
            const uint32_t sector = pass->sectors[run->begin + i];
            if (weft__sector_stored(sector) == run->stored && run->gids[i] != 0 &&
                map->rank_of[sector] == map->rank)
                continue;
            if (!weft__array_grow(&out->movers, &out->capacity, out->count + UINT64_C(1),
                                  sizeof *out->movers))
                return false;
            out->movers[out->count++] = (weft__mover){.entity = run->entities[i],
                                                      .gid = run->gids[i],
                                                      .to = sector,
                                                      .rank = map->rank_of[sector],
                                                      .archetype = archetype,
                                                      .order = run->gids[i]};
        }
    }
    return true;
}

static weft_result collect(key_pass *pass, weft__mover_list *out)
{
    uint64_t rows = 0;
    if (!collect_runs(pass, &rows)) return weft__ranks_no_memory();
    pass->sectors = malloc((size_t)rows * sizeof *pass->sectors + 1);
    if (pass->sectors == NULL) return weft__ranks_no_memory();
    const weft_job_for_desc loop = {
        .fn = find_sectors, .argument = pass, .count = pass->run_count, .name = "shard keys"};
    weft_result result = WEFT_OK;
    if (pass->run_count != 0)
        result = weft_job_for(weft__front(pass->shard->world)->host.owner, &loop, NULL);
    if (result != WEFT_OK) return weft__ranks_fail(result, "finding sectors: weft_job_for failed");
    return list_movers(pass, out) ? WEFT_OK : weft__ranks_no_memory();
}

weft_result weft__movers_collect(weft_shard *shard, weft__mover_list *out)
{
    key_pass pass = {.shard = shard,
                     .key_bytes = (uint32_t)weft_component_info(shard->world, shard->key)->size};
    weft_result result = collect(&pass, out);
    free(pass.runs);
    free(pass.sectors);
    return result;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
    const weft__mover *left = a, *right = b;
    if (left->rank != right->rank) return compare(left->rank, right->rank);
    if (left->archetype.id != right->archetype.id)
        return compare(left->archetype.id, right->archetype.id);
    return compare(left->order, right->order);
}

static int by_sector(const void *a, const void *b)
{
    const weft__mover *left = a, *right = b;
    return left->to != right->to ? compare(left->to, right->to)
                                 : compare(left->order, right->order);
}

void weft__movers_sort(weft__mover_list *list)
{
    if (list->count != 0) qsort(list->movers, list->count, sizeof *list->movers, by_place);
}

void weft__movers_sort_by_sector(weft__mover_list *list)
{
    if (list->count != 0) qsort(list->movers, list->count, sizeof *list->movers, by_sector);
}

void weft__movers_free(weft__mover_list *list)
{
    free(list->movers);
    *list = (weft__mover_list){0};
}

/* ---- blocks ---- */

static weft_result write_block(const weft_shard *shard, const weft__mover *movers, uint32_t count,
                               weft__bytes *out)
{
    weft_entity *entities = malloc(count * sizeof *entities);
    uint64_t *gids = malloc(count * sizeof *gids);
    uint32_t *sectors = malloc(count * sizeof *sectors);
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (entities != NULL && gids != NULL && sectors != NULL) {
        for (uint32_t i = 0; i < count; i++) {
            entities[i] = movers[i].entity;
            gids[i] = movers[i].gid;
            sectors[i] = movers[i].to;
        }
        const weft__row_list rows = {movers->archetype, count, entities, gids, sectors};
        result = weft__block_write(shard, &rows, out);
    } else {
        (void)weft__ranks_no_memory();
    }
    free(entities);
    free(gids);
    free(sectors);
    return result;
}

weft_result weft__movers_write(const weft_shard *shard, const weft__mover_list *list,
                               uint32_t begin, uint32_t end, weft__bytes *out)
{
    weft_result result = WEFT_OK;
    while (begin < end && result == WEFT_OK) {
        uint32_t next = begin + 1;
        while (next < end && list->movers[next].archetype.id == list->movers[begin].archetype.id)
            next++;
        result = write_block(shard, list->movers + begin, next - begin, out);
        begin = next;
    }
    return result;
}
