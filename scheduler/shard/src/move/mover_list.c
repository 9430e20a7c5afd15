/* SPDX-License-Identifier: MIT */
/* mover_list.c: the owner lists chunks to look at, jobs compute the sectors of their rows and note
 * the rows that are elsewhere, the owner sorts those. What happens to them is left to
 * sector_move.c. */
#include "mover_list.h"

#include <stdlib.h>

#include "archetype_state.h"
#include "gid_sort.h"
#include "ranks_error.h"
#include "world_front.h"

#define SECTOR_BITS 24 /* weft_shard_create refuses more sectors */
#define FIELD_BITS 20  /* of a rank, and of an archetype among those of movers */

/* Rows of a chunk whose keys are looked at. Borrowed from the world, for the time of a pass. */
typedef struct weft__key_run {
    weft__row_place place; /* of its first row */
    const uint64_t *gids;
    const unsigned char *keys;
    uint32_t count, stored; /* value of ShardSector */
    uint64_t begin;         /* of its rows in list->rows */
    uint32_t found;         /* movers among them, from `begin` on */
} key_run;

/* A mover. */
typedef struct weft__key_row {
    uint32_t row; /* of its chunk */
    uint32_t sector;
} key_row;

/* What the jobs share. */
typedef struct key_pass {
    weft_shard *shard;
    weft__mover_list *list;
    uint32_t run_count;
    uint32_t key_bytes;
} key_pass;

static bool collect_runs(key_pass *pass, uint64_t *rows)
{
    const weft_shard *shard = pass->shard;
    weft__mover_list *list = pass->list;
    const uint32_t since = shard->keys_version;
    weft_cursor cursor;
    bool is_done = weft__shard_loop_begin(shard, shard->key_query, &cursor);
    while (is_done && weft_query_next(&cursor)) {
        const weft_slice *slice = &cursor.slice;
        if (!weft_slice_changed_since(slice, 2, since) &&
            !weft_slice_order_changed_since(slice, since))
            continue;
        is_done = weft__array_grow(&list->runs, &list->run_capacity, pass->run_count + UINT64_C(1),
                                   sizeof *list->runs);
        if (!is_done) break;
        key_run *run = &list->runs[pass->run_count++];
        *run = (key_run){.place = weft__slice_place(slice),
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

enum { ROWS_AT_ONCE = 256 };

/* Notes which of the rows [begin, begin + count) of a run move: those that surely stay are left out
 * first. No branches: what moves is not to be foreseen; so every row is written, which must not
 * wait for memory. */
static void note_movers(const key_pass *pass, key_run *run, uint32_t begin, uint32_t count)
{
    const weft__sector_map *map = &pass->shard->map;
    const uint64_t *gids = run->gids + begin;
    uint32_t sectors[ROWS_AT_ONCE], rows[ROWS_AT_ONCE];
    key_row moving[ROWS_AT_ONCE];
    weft__sector_keys keys = {.keys = run->keys + (size_t)begin * pass->key_bytes,
                              .bytes = pass->key_bytes,
                              .count = count};
    const bool is_mine = run->stored != 0 && map->rank_of[run->stored - 1] == map->rank;
    const uint32_t home = is_mine ? run->stored - 1 : UINT32_MAX; /* all of the others move */
    if (is_mine) {
        keys.count = weft__sectors_doubt(map, home, &keys, gids, rows);
        keys.rows = rows;
    }
    weft__sectors_at(map, &keys, sectors);
    uint32_t found = 0;
    const uint32_t first = run->place.row + begin;
    for (uint32_t i = 0; i < keys.count; i++) {
        const uint32_t row = is_mine ? rows[i] : i;
        moving[found] = (key_row){first + row, sectors[i]};
        found += (uint32_t)(sectors[i] != home) | (uint32_t)(gids[row] == 0);
    }
    if (found != 0)
        memcpy(pass->list->rows + run->begin + run->found, moving, found * sizeof *moving);
    run->found += found;
}

static int find_movers(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    const key_pass *pass = user;
    (void)job;
    for (uint32_t k = begin; k < end; k++) {
        key_run *run = &pass->list->runs[k];
        for (uint32_t done = 0; done < run->count; done += ROWS_AT_ONCE)
            note_movers(pass, run, done,
                        run->count - done < ROWS_AT_ONCE ? run->count - done : ROWS_AT_ONCE);
    }
    return 0;
}

/* ---- sorting ---- */

static bool reserve(weft__mover_list *list, uint64_t count)
{
    return weft__array_grow(&list->places, &list->capacity[0], 2 * count, sizeof *list->places) &&
           weft__array_grow(&list->entities, &list->capacity[1], count, sizeof *list->entities) &&
           weft__array_grow(&list->gids, &list->capacity[2], count, sizeof *list->gids) &&
           weft__array_grow(&list->sectors, &list->capacity[3], count, sizeof *list->sectors) &&
           weft__array_grow(&list->pairs, &list->pair_capacity, 2 * count, sizeof *list->pairs);
}

/* Keys of all movers, in the order of the walk; their places behind those of the sorted ones. */
static bool make_pairs(const key_pass *pass)
{
    const weft__sector_map *map = &pass->shard->map;
    const weft__archetype *last = NULL;
    weft__mover_list *list = pass->list;
    weft__row_place *places = list->places + list->count;
    uint64_t at = 0, archetypes = 0;
    for (uint32_t k = 0; k < pass->run_count; k++) {
        const key_run *run = &list->runs[k];
        if (run->found != 0 && run->place.chunk->archetype != last) archetypes++;
        if (run->found != 0) last = run->place.chunk->archetype;
        for (const key_row *row = list->rows + run->begin, *end = row + run->found; row < end;
             row++, at++) {
            const uint64_t rank = map->rank_of[row->sector];
            list->pairs[at].key =
                rank << (SECTOR_BITS + FIELD_BITS) | archetypes << SECTOR_BITS | row->sector;
            list->pairs[at].number = (uint32_t)at;
            places[at] = (weft__row_place){run->place.chunk, row->row};
        }
    }
    return archetypes >> FIELD_BITS == 0 && map->ranks >> FIELD_BITS == 0;
}

static weft_result sort_movers(const key_pass *pass)
{
    weft__mover_list *list = pass->list;
    uint64_t count = 0;
    for (uint32_t k = 0; k < pass->run_count; k++) count += list->runs[k].found;
    if (count > UINT32_MAX / 2)
        return weft__ranks_fail(WEFT_LIMIT, "more than 2^31 rows of a rank move: use more ranks");
    list->count = (uint32_t)count;
    if (!reserve(list, count)) return weft__ranks_no_memory();
    if (!make_pairs(pass))
        return weft__ranks_fail(WEFT_LIMIT, "more than 2^20 ranks or archetypes of rows");
    const weft__gid_pair *sorted = weft__gid_sort(list->pairs, list->pairs + count, list->count);
    const weft__row_place *unsorted = list->places + count;
    const uint32_t gid = pass->shard->gid.id;
    const weft__chunk *chunk = NULL;
    const uint64_t *gids = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const weft__row_place place = unsorted[sorted[i].number];
        if (place.chunk != chunk) {
            chunk = place.chunk;
            const uint32_t column = weft__archetype_slot(chunk->archetype, gid)->column;
            gids = (const uint64_t *)(const void *)weft__chunk_column(chunk, column);
        }
        list->places[i] = place;
        list->entities[i] = weft__row_entity(place);
        list->gids[i] = gids[place.row];
        list->sectors[i] = (uint32_t)(sorted[i].key & ((UINT64_C(1) << SECTOR_BITS) - 1));
    }
    return WEFT_OK;
}

weft_result weft__movers_collect(weft_shard *shard, weft__mover_list *list)
{
    key_pass pass = {.shard = shard,
                     .list = list,
                     .key_bytes = (uint32_t)weft_component_info(shard->world, shard->key)->size};
    uint64_t rows = 0;
    list->count = 0;
    if (!collect_runs(&pass, &rows) ||
        !weft__array_grow(&list->rows, &list->row_capacity, rows + 1, sizeof *list->rows))
        return weft__ranks_no_memory();
    const weft_job_for_desc loop = {
        .fn = find_movers, .argument = &pass, .count = pass.run_count, .name = "shard keys"};
    weft_result result = WEFT_OK;
    if (pass.run_count != 0)
        result = weft_job_for(weft__front(shard->world)->host.owner, &loop, NULL);
    if (result != WEFT_OK) return weft__ranks_fail(result, "finding sectors: weft_job_for failed");
    return sort_movers(&pass);
}

void weft__movers_free(weft__mover_list *list)
{
    free(list->places);
    free(list->entities);
    free(list->gids);
    free(list->sectors);
    free(list->runs);
    free(list->rows);
    free(list->pairs);
    *list = (weft__mover_list){0};
}

/* ---- what goes together ---- */

uint32_t weft__movers_to_rank(const weft_shard *shard, const weft__mover_list *list, uint32_t begin)
{
    const uint32_t *rank_of = shard->map.rank_of, rank = rank_of[list->sectors[begin]];
    uint32_t end = begin + 1;
    while (end < list->count && rank_of[list->sectors[end]] == rank) end++;
    return end;
}

uint32_t weft__movers_alike(const weft__mover_list *list, uint32_t begin, uint32_t end)
{
    const weft__row_place *places = list->places;
    const weft__archetype *archetype = places[begin].chunk->archetype;
    uint32_t next = begin + 1;
    while (next < end && (places[next].chunk == places[next - 1].chunk ||
                          places[next].chunk->archetype == archetype))
        next++;
    return next;
}

weft_result weft__movers_write(const weft_shard *shard, const weft__mover_list *list,
                               uint32_t begin, uint32_t end, weft__bytes *out)
{
    weft_result result = WEFT_OK;
    for (uint32_t next; begin < end && result == WEFT_OK; begin = next) {
        next = weft__movers_alike(list, begin, end);
        const weft__row_list rows = {
            weft_entity_archetype(shard->world, list->entities[begin]),
            next - begin,
            list->places + begin,
            list->gids + begin,
            list->sectors + begin,
        };
        result = weft__block_write(shard, &rows, out);
    }
    return result;
}
