/* SPDX-License-Identifier: MIT */
/* row_pack.c: the owner walks over the chunks and notes what changed; then a job for each sector
 * copies.
 *
 * Gids are sorted by a counting sort for each byte in which keys differ, from the least one up.
 * Sorted input, the most frequent one, is seen by the pass that compares. */
#include "row_pack.h"
#include "hash.h"
#include "messages.h"

#include <stdlib.h>

/* Bits in which keys differ; *is_sorted: whether they ascend. */
static uint64_t differing_bits(const weft__gid_pair *pairs, uint32_t count, bool *is_sorted)
{
    uint64_t differ = 0;
    *is_sorted = true;
    for (uint32_t i = 1; i < count; i++) {
        differ |= pairs[i].key ^ pairs[0].key;
        if (pairs[i].key < pairs[i - 1].key) *is_sorted = false;
    }
    return differ;
}

weft__gid_pair *weft__gid_sort(weft__gid_pair *pairs, weft__gid_pair *room, uint32_t count)
{
    bool is_sorted;
    const uint64_t differ = differing_bits(pairs, count, &is_sorted);
    if (is_sorted) return pairs;
    for (uint32_t shift = 0; shift < 64; shift += 8) {
        if ((differ >> shift & 0xFF) == 0) continue;
        uint32_t begin[257] = {0};
        for (uint32_t i = 0; i < count; i++) begin[(pairs[i].key >> shift & 0xFF) + 1]++;
        for (uint32_t digit = 0; digit < 256; digit++) begin[digit + 1] += begin[digit];
        for (uint32_t i = 0; i < count; i++) room[begin[pairs[i].key >> shift & 0xFF]++] = pairs[i];
        weft__gid_pair *sorted = room;
        room = pairs;
        pairs = sorted;
    }
    return pairs;
}

/* Rows of a chunk. Borrowed from the world, for the time of an update. */
typedef struct pack_run {
    uint32_t sector, count;
    uint32_t changed; /* halo components */
    bool rows_changed;
    const uint64_t *gids;
    const weft_entity *entities;
    const unsigned char *columns[WEFT_SHARD_HALO_LIMIT]; /* NULL: absent */
} pack_run;

/* Memory that is used again by each update. Owner: the shard. */
typedef struct weft__pack_walk {
    pack_run *runs;
    uint64_t run_capacity;
    uint32_t run_count;
    uint32_t *begin; /* [sectors + 1]: runs by sector */
    uint32_t *by_sector;
    uint64_t by_sector_capacity;
} pack_walk;

/* ---- memory ---- */

static bool grow(void *array, uint32_t count, size_t size)
{
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, count * size);
    if (grown != NULL) memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

bool weft__pack_reserve(const weft_shard *shard, weft__pack *pack, uint32_t count)
{
    if (count <= pack->capacity) return true;
    uint32_t room = pack->capacity + pack->capacity / 2;
    if (room < count) room = count;
    if (room < 16) room = 16;
    bool is_done = grow(&pack->gids, room, sizeof *pack->gids) &&
                   grow(&pack->entities, room, sizeof *pack->entities) &&
                   grow(&pack->present, room, sizeof *pack->present) &&
                   grow(&pack->place, room, sizeof *pack->place);
    for (uint32_t i = 0; i < shard->halo_count && is_done; i++)
        is_done = grow(&pack->columns[i], room, shard->halo_bytes[i]);
    if (is_done) pack->capacity = room;
    return is_done;
}

void weft__packs_free(weft_shard *shard)
{
    for (uint32_t s = 0; shard->packs != NULL && s < shard->map.count; s++) {
        weft__pack *pack = &shard->packs[s];
        free(pack->gids);
        free(pack->entities);
        free(pack->present);
        free(pack->place);
        for (uint32_t i = 0; i < WEFT_SHARD_HALO_LIMIT; i++) free(pack->columns[i]);
    }
    free(shard->packs);
    shard->packs = NULL;
    if (shard->walk == NULL) return;
    free(shard->walk->runs);
    free(shard->walk->begin);
    free(shard->walk->by_sector);
    free(shard->walk);
    shard->walk = NULL;
}

void weft__packs_forget_sent(weft_shard *shard)
{
    for (uint32_t s = 0; s < shard->map.count; s++) {
        shard->packs[s].rows_changed = true;
        if (!weft__sector_is_mine(shard, s)) shard->packs[s].count = 0;
    }
    shard->packed_version = 0;
}

/* ---- the walk over chunks ---- */

static void note_run(const weft_shard *shard, const weft_slice *slice, pack_run *run)
{
    const uint32_t since = shard->packed_version;
    run->count = weft_slice_count(slice);
    run->gids = weft_slice_read(slice, 0);
    run->entities = weft_slice_entities(slice);
    run->rows_changed =
        weft_slice_order_changed_since(slice, since) || weft_slice_changed_since(slice, 0, since);
    run->changed = 0;
    for (uint32_t i = 0; i < shard->halo_count; i++) {
        run->columns[i] = weft_slice_read(slice, i + 2);
        if (run->columns[i] != NULL && weft_slice_changed_since(slice, i + 2, since))
            run->changed |= UINT32_C(1) << i;
    }
}

static bool collect_runs(weft_shard *shard, pack_walk *walk)
{
    walk->run_count = 0;
    weft_cursor cursor;
    bool is_done = weft__shard_loop_begin(shard, shard->rows_query, &cursor);
    while (is_done && weft_query_next(&cursor)) {
        uint32_t stored;
        memcpy(&stored, weft_slice_read_shared(&cursor.slice, 1), sizeof stored);
        if (stored == 0) continue;
        is_done = weft__array_grow(&walk->runs, &walk->run_capacity, walk->run_count + UINT64_C(1),
                                   sizeof *walk->runs);
        if (!is_done) break;
        pack_run *run = &walk->runs[walk->run_count++];
        run->sector = stored - 1;
        note_run(shard, &cursor.slice, run);
    }
    weft_query_end(&cursor);
    return is_done;
}

/* Runs by sector, in the order of the walk. */
static bool group_runs(weft_shard *shard, pack_walk *walk)
{
    const uint32_t sectors = shard->map.count;
    if (!weft__array_grow(&walk->by_sector, &walk->by_sector_capacity, walk->run_count,
                          sizeof *walk->by_sector))
        return false;
    memset(walk->begin, 0, (sectors + 1) * sizeof *walk->begin);
    for (uint32_t i = 0; i < walk->run_count; i++) walk->begin[walk->runs[i].sector + 1]++;
    for (uint32_t s = 0; s < sectors; s++) walk->begin[s + 1] += walk->begin[s];
    for (uint32_t i = 0; i < walk->run_count; i++)
        walk->by_sector[walk->begin[walk->runs[i].sector]++] = i;
    for (uint32_t s = sectors; s > 0; s--) walk->begin[s] = walk->begin[s - 1];
    walk->begin[0] = 0;
    return true;
}

/* ---- copying ---- */

/* to[place[i]] = from[i] */
static void scatter(unsigned char *to, const unsigned char *from, const uint32_t *place,
                    uint32_t count, uint32_t bytes)
{
#define SCATTER(size)                                                                              \
    case size:                                                                                     \
        for (uint32_t i = 0; i < count; i++)                                                       \
            memcpy(to + (size_t)place[i] * (size), from + (size_t)i * (size), (size));             \
        break;
    switch (bytes) {
        SCATTER(4)
        SCATTER(8)
        SCATTER(12)
        SCATTER(16)
        SCATTER(24)
    default:
        for (uint32_t i = 0; i < count; i++)
            memcpy(to + (size_t)place[i] * bytes, from + (size_t)i * bytes, bytes);
    }
#undef SCATTER
}

/* Finds the place of each row: by gid. */
static bool sort_rows(weft_shard *shard, weft__pack *pack, const uint32_t *runs, uint32_t run_count,
                      uint32_t rows)
{
    weft__gid_pair *pairs = malloc((size_t)rows * 2 * sizeof *pairs + 1);
    if (pairs == NULL || !weft__pack_reserve(shard, pack, rows)) {
        free(pairs);
        return false;
    }
    uint32_t at = 0;
    for (uint32_t k = 0; k < run_count; k++) {
        const pack_run *run = &shard->walk->runs[runs[k]];
        for (uint32_t i = 0; i < run->count; i++, at++)
            pairs[at] = (weft__gid_pair){run->gids[i], at};
    }
    const weft__gid_pair *sorted = weft__gid_sort(pairs, pairs + rows, rows);
    for (uint32_t i = 0; i < rows; i++) {
        pack->gids[i] = sorted[i].key;
        pack->place[sorted[i].number] = i;
    }
    free(pairs);
    pack->count = rows;
    return true;
}

/* Copies the columns of `mask`, and what rows are where `with_rows`. */
static void copy_columns(weft_shard *shard, weft__pack *pack, const uint32_t *runs,
                         uint32_t run_count, uint32_t mask, bool with_rows)
{
    const uint32_t *place = pack->place;
    for (uint32_t k = 0; k < run_count; k++) {
        const pack_run *run = &shard->walk->runs[runs[k]];
        uint32_t present = 0;
        for (uint32_t c = 0; c < shard->halo_count; c++) {
            const uint32_t bytes = shard->halo_bytes[c];
            if (run->columns[c] != NULL) present |= UINT32_C(1) << c;
            if ((mask >> c & 1) == 0) continue;
            if (run->columns[c] != NULL)
                scatter(pack->columns[c], run->columns[c], place, run->count, bytes);
            else if (with_rows)
                for (uint32_t i = 0; i < run->count; i++)
                    memset(pack->columns[c] + (size_t)place[i] * bytes, 0, bytes);
        }
        for (uint32_t i = 0; i < run->count && with_rows; i++) {
            pack->entities[place[i]] = run->entities[i];
            pack->present[place[i]] = present;
        }
        place += run->count;
    }
}

static bool update_sector(weft_shard *shard, uint32_t sector)
{
    pack_walk *walk = shard->walk;
    weft__pack *pack = &shard->packs[sector];
    const uint32_t *runs = walk->by_sector + walk->begin[sector];
    const uint32_t run_count = walk->begin[sector + 1] - walk->begin[sector];
    uint32_t rows = 0, changed = 0;
    uint64_t chunks = 0; /* whole chunks come, leave and change places by their headers alone */
    bool rows_changed = shard->packed_version == 0;
    for (uint32_t k = 0; k < run_count; k++) {
        const pack_run *run = &walk->runs[runs[k]];
        rows += run->count;
        changed |= run->changed;
        rows_changed |= run->rows_changed;
        chunks = hash_word(hash_word(chunks, (uintptr_t)run->gids), run->count);
    }
    if (chunks != pack->chunks || rows != pack->count) rows_changed = true;
    if (rows_changed) {
        if (!sort_rows(shard, pack, runs, run_count, rows)) return false;
        changed = (UINT32_C(1) << shard->halo_count) - 1;
        pack->rows_changed = true;
        pack->chunks = chunks;
    }
    if (changed != 0 || rows_changed)
        copy_columns(shard, pack, runs, run_count, changed, rows_changed);
    pack->changed |= changed;
    return true;
}

static int update_sectors(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    weft_shard *shard = user;
    (void)job;
    for (uint32_t s = begin; s < end; s++)
        if (weft__sector_is_mine(shard, s) && !update_sector(shard, s)) return 1;
    return 0;
}

static bool make_walk(weft_shard *shard)
{
    if (shard->walk == NULL) shard->walk = calloc(1, sizeof *shard->walk);
    if (shard->walk == NULL) return false;
    if (shard->walk->begin == NULL)
        shard->walk->begin = calloc(shard->map.count + UINT64_C(1), sizeof *shard->walk->begin);
    return shard->walk->begin != NULL;
}

weft_result weft__packs_update(weft_shard *shard)
{
    if (!make_walk(shard) || !collect_runs(shard, shard->walk) || !group_runs(shard, shard->walk))
        return weft__ranks_no_memory();
    const weft_job_for_desc loop = {
        .fn = update_sectors, .argument = shard, .count = shard->map.count, .name = "shard pack"};
    int code = 0;
    weft_result result = weft_job_for(weft__front(shard->world)->host.owner, &loop, &code);
    if (result == WEFT_JOB_FAILED) return weft__ranks_no_memory();
    if (result != WEFT_OK) return weft__ranks_fail(result, "copying rows: weft_job_for failed");
    shard->packed_version = weft_world_change_version(shard->world);
    return WEFT_OK;
}
