/* SPDX-License-Identifier: MIT */
/* checkpoint.c: weft_shard_save, _load and _hash: the rows of this rank, sector by sector.
 *
 *     head          checkpoint_head
 *     components    of each component of the world, in the order of registration, as
 *                   weft__file_type_put makes it; padded to words
 *     sectors       checkpoint_sector [sectors], and one of what is kept (not in version 2)
 *     sections      of each sector, by number: blocks of rows (row_block.h) by kind list
 *     kept          resources and private entities: below
 *
 * Numbers are those of the machine that wrote it (little endian, like world files). The head has a
 * hash of components and sectors, and each sector one of its section: damage is found before
 * anything is loaded.
 *
 * Saving: every rank makes the sections of its sectors, and what is kept, which is compared and
 * written by rank 0; one sum over ranks makes the table of all
 * known to all, and prefix sums of it the offsets. Each rank writes at its offsets into
 * "PATH.partial"; when all have written and synced, rank 0 renames it.
 *
 * Loading: every rank reads the front and checks it; the sizes of the sections are the costs by
 * which sectors are cut among the ranks that there are. Then each reads the sections of its sectors
 * and checks all of them; when all ranks have done so, rows are put into the world.
 *
 * Hashing: sums mod 2^64 of the hashes of rows, which are exact in any order and on any number of
 * ranks. Rows are hashed as blocks, as they would travel: references are gids. */
#include "checkpoint.h"
#include "arrival.h"
#include "file_problem.h"
#include "ghost_exchange.h"
#include "hash.h"
#include "messages.h"
#include "row_pack.h"
#include "sector_move.h"
#include "world_view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* ---- rows by sector ---- */

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

weft_result weft__sector_rows_collect(const weft_shard *shard, weft_query query,
                                      weft__sector_rows *out)
{
    const bool is_sharded = query.id == shard->rows_query.id;
    weft_archetype last = {0};
    uint64_t order = 0;
    weft_cursor cursor;
    const bool is_begun = weft__shard_loop_begin(shard, query, &cursor);
    weft_result result = is_begun ? WEFT_OK : weft__ranks_no_memory();
    while (result == WEFT_OK && weft_query_next(&cursor)) {
        const weft_slice *slice = &cursor.slice;
        uint32_t stored = weft__sector_stored(shard->map.count);
        if (is_sharded) memcpy(&stored, weft_slice_read_shared(slice, 1), sizeof stored);
        if (stored == 0) continue;
        const weft_archetype archetype = weft_entity_archetype(shard->world, slice->entities[0]);
        if (archetype.id != last.id) result = order_of(shard, archetype, &order);
        last = archetype;
        if (!weft__array_grow(&out->runs, &out->capacity, out->count + UINT64_C(1),
                              sizeof *out->runs))
            result = weft__ranks_no_memory();
        if (result != WEFT_OK) break;
        out->runs[out->count++] =
            (weft__sector_run){.order = order,
                               .sector = stored - 1,
                               .count = slice->count,
                               .archetype = archetype,
                               .place = weft__slice_place(slice),
                               .gids = is_sharded ? weft_slice_read(slice, 0) : NULL};
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

/* ---- what is kept ----
 *
 *     a word: types; of each: a word: the bytes of its name, the name
 *     a block of one row, whose components are the resources
 *     of each mark blocks of its entities, by kind list; an entity is with the first of its marks
 *
 * Entities have no gid, and lie in chunks in the order in which a rank made them. They are written
 * in the order of hashes of their values and names, so ranks that have the same ones write the same
 * bytes. */

/* What a rank would write. */
typedef struct kept_values {
    weft__bytes bytes;
    uint64_t of[WEFT_SHARD_KEPT_LIMIT][2]; /* how many entities, and a hash of them */
} kept_values;

/* Why values cannot be kept; NULL: they can. */
static const char *reason_against(const weft_component_desc *desc)
{
    if (weft__type_of(desc)->entity_offset_count != 0)
        return "it has references, and handles of other ranks differ: keep a gid in its place "
               "(weft_shard_gid, weft_shard_find)";
    return weft__row_reason(desc);
}

static weft_result make_query(weft_shard *shard, uint32_t i)
{
    weft_term terms[WEFT_SHARD_KEPT_LIMIT + 3] = {{shard->kept[i], .match = WEFT_PRESENT},
                                                  {shard->gid, .match = WEFT_ABSENT},
                                                  {shard->ghost, .match = WEFT_ABSENT},
                                                  {shard->stub, .match = WEFT_ABSENT}};
    uint32_t count = 4;
    for (uint32_t k = 0; k < i; k++)
        if (shard->kept_rows[k].id != 0)
            terms[count++] = (weft_term){shard->kept[k], .match = WEFT_ABSENT};
    const weft_query_desc desc = {.more_terms = terms,
                                  .more_term_count = count,
                                  .with_inactive = true,
                                  .ignores_enabled = true};
    shard->kept_rows[i] = weft_query_create(shard->world, &desc);
    if (shard->kept_rows[i].id != 0) return WEFT_OK;
    return weft__ranks_fail(weft_world_error(shard->world)->code, "kept: %s",
                            weft_world_error(shard->world)->text);
}

weft_result weft__kept_make(weft_shard *shard, const weft_component list[WEFT_SHARD_KEPT_LIMIT])
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < WEFT_SHARD_KEPT_LIMIT && list[i].id != 0 && result == WEFT_OK; i++) {
        const weft_component_desc *desc = weft_component_info(shard->world, list[i]);
        if (desc == NULL)
            return weft__ranks_fail(WEFT_BAD_HANDLE, "kept: no component of this world");
        const bool is_resource = (desc->flags & WEFT_RESOURCE) != 0;
        const char *reason = reason_against(desc);
        if (is_resource && (desc->flags & WEFT_BUFFER) != 0) reason = "it is a BUFFER resource";
        if ((desc->flags & WEFT_SPARSE) != 0) reason = "a mark is no SPARSE component";
        if (reason != NULL)
            return weft__ranks_fail(WEFT_TYPE_MISMATCH, "kept: %s cannot be in a checkpoint: %s",
                                    desc->name, reason);
        for (uint32_t k = 0; k < i; k++)
            if (list[k].id == list[i].id)
                return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "kept: %s is there twice",
                                        desc->name);
        shard->kept[shard->kept_count++] = list[i];
        if (!is_resource) result = make_query(shard, i);
    }
    return result;
}

static const char *name_of(const weft_shard *shard, weft_component component)
{
    return weft_component_info(shard->world, component)->name;
}

static bool write_resource(const weft_shard *shard, uint32_t i, kept_values *out)
{
    const size_t size = weft_component_info(shard->world, shard->kept[i])->size;
    const void *value = weft_resource_read(shard->world, shard->kept[i]);
    out->of[i][1] = hash_bytes(0, value, size);
    return weft__bytes_word(&out->bytes, shard->kept[i].id | (uint64_t)WEFT__VALUE_PLAIN << 32) &&
           weft__bytes_put(&out->bytes, value, size);
}

/* Resources by id, as blocks have them. */
static bool write_front(const weft_shard *shard, kept_values *out)
{
    weft__bytes *bytes = &out->bytes;
    uint32_t order[WEFT_SHARD_KEPT_LIMIT], count = 0;
    bool is_done = weft__bytes_word(bytes, shard->kept_count);
    for (uint32_t i = 0; i < shard->kept_count && is_done; i++) {
        const char *name = name_of(shard, shard->kept[i]);
        is_done =
            weft__bytes_word(bytes, strlen(name)) && weft__bytes_put(bytes, name, strlen(name));
        if (shard->kept_rows[i].id != 0) continue;
        uint32_t at = count++;
        for (; at > 0 && shard->kept[order[at - 1]].id > shard->kept[i].id; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    is_done = is_done && weft__bytes_word(bytes, 1 | (uint64_t)count << 32) &&
              weft__bytes_word(bytes, 0) && weft__bytes_word(bytes, shard->map.count);
    for (uint32_t i = 0; i < count && is_done; i++) is_done = write_resource(shard, order[i], out);
    return is_done && weft__bytes_word(bytes, 0); /* names */
}

/* All components of the entities with a mark, SPARSE ones where one of them has it. */
static weft_result check_rows(const weft_shard *shard, uint32_t i)
{
    weft_cursor cursor;
    weft_component list[WEFT__ROW_COMPONENTS];
    const char *reason = NULL;
    if (!weft__shard_loop_begin(shard, shard->kept_rows[i], &cursor))
        return weft__ranks_no_memory();
    while (reason == NULL && weft_query_next(&cursor)) {
        const weft_archetype of = weft_entity_archetype(shard->world, cursor.slice.entities[0]);
        uint32_t count = weft_archetype_components(shard->world, of, list, WEFT__ROW_COMPONENTS);
        if (count > WEFT__ROW_COMPONENTS) count = WEFT__ROW_COMPONENTS; /* the kind list fails */
        for (weft_component next = weft__sparse_next(shard, (weft_component){0});
             next.id != 0 && count < WEFT__ROW_COMPONENTS; next = weft__sparse_next(shard, next))
            for (uint32_t row = 0; row < cursor.slice.count; row++)
                if (weft_entity_has(shard->world, cursor.slice.entities[row], next)) {
                    list[count++] = next;
                    break;
                }
        for (uint32_t k = 0; k < count && reason == NULL; k++) {
            reason = reason_against(weft_component_info(shard->world, list[k]));
            if (reason != NULL)
                (void)weft__ranks_fail(WEFT_UNSUPPORTED,
                                       "component %s of a private entity with %s, which is kept, "
                                       "cannot be in a checkpoint: %s",
                                       name_of(shard, list[k]), name_of(shard, shard->kept[i]),
                                       reason);
        }
    }
    weft_query_end(&cursor);
    return reason == NULL ? WEFT_OK : WEFT_UNSUPPORTED;
}

/* keys[row], zero before: the hash of values and name. */
static weft_result make_keys(const weft_shard *shard, const weft__sector_rows *rows, uint32_t begin,
                             uint32_t end, uint64_t *keys)
{
    weft__bytes bytes = {0};
    weft__block block = {0};
    weft_result result = weft__sector_rows_write(shard, rows, begin, end, &bytes);
    weft__reader in = {bytes.at, bytes.at + bytes.count};
    if (result == WEFT_OK) result = weft__block_read(shard, &in, NULL, &block);
    uint64_t(*hashes)[2] = malloc((size_t)block.count * sizeof *hashes + 1);
    if (result == WEFT_OK && hashes == NULL) result = weft__ranks_no_memory();
    if (result == WEFT_OK) {
        weft__block_hash(shard, &block, hashes);
        for (uint32_t row = 0; row < block.count; row++) keys[row] = hashes[row][0];
        for (uint64_t i = 0; i < block.name_count; i++) {
            char name[256];
            uint32_t row;
            (void)weft__block_name(&block.names, &row, name);
            keys[row] = hash_word(keys[row], hash_string(name));
        }
    }
    free(hashes);
    weft__block_free(&block);
    weft__bytes_free(&bytes);
    return result;
}

static weft_result write_rows(const weft_shard *shard, uint32_t i, kept_values *out)
{
    const uint64_t at = out->bytes.count;
    uint64_t count = 0, *keys = NULL;
    weft__sector_rows rows = {0};
    weft_result result = check_rows(shard, i);
    if (result == WEFT_OK) result = weft__sector_rows_collect(shard, shard->kept_rows[i], &rows);
    for (uint32_t k = 0; k < rows.count; k++) count += rows.runs[k].count;
    keys = calloc(count + 1, sizeof *keys);
    if (result == WEFT_OK && keys == NULL) result = weft__ranks_no_memory();
    out->of[i][0] = count;
    count = 0;
    for (uint32_t begin = 0, end; begin < rows.count && result == WEFT_OK; begin = end) {
        uint64_t *first = keys + count;
        end = weft__sector_rows_group(&rows, begin);
        for (uint32_t k = begin; k < end; count += rows.runs[k++].count)
            rows.runs[k].gids = keys + count;
        result = make_keys(shard, &rows, begin, end, first);
        if (result == WEFT_OK)
            result = weft__sector_rows_write(shard, &rows, begin, end, &out->bytes);
    }
    free(keys);
    weft__sector_rows_free(&rows);
    if (result == WEFT_OK) out->of[i][1] = hash_bytes(0, out->bytes.at + at, out->bytes.count - at);
    return result;
}

static weft_result kept_write(const weft_shard *shard, kept_values *out)
{
    if (shard->kept_count == 0) return WEFT_OK;
    weft_result result = write_front(shard, out) ? WEFT_OK : weft__ranks_no_memory();
    for (uint32_t i = 0; i < shard->kept_count && result == WEFT_OK; i++)
        if (shard->kept_rows[i].id != 0) result = write_rows(shard, i, out);
    return result;
}

static weft_result kept_compare(const weft_shard *shard, const kept_values *kept)
{
    kept_values first = *kept;
    const uint32_t rank = shard->map.rank;
    if (shard->kept_count == 0) return WEFT_OK;
    weft_result result = weft__transport_broadcast(first.of, sizeof first.of);
    for (uint32_t i = 0; i < shard->kept_count && result == WEFT_OK; i++) {
        const char *name = name_of(shard, shard->kept[i]);
        const uint64_t *own = kept->of[i], *other = first.of[i];
        static const char why[] = "what is kept is the same on all ranks, or a run of another "
                                  "number of them could not go on with it";
        if (memcmp(own, other, sizeof first.of[i]) == 0) continue;
        if (shard->kept_rows[i].id == 0)
            result = weft__ranks_fail(WEFT_UNSUPPORTED,
                                      "resource %s of rank %u differs from that of rank 0: %s",
                                      name, rank, why);
        else
            result = weft__ranks_fail(WEFT_UNSUPPORTED,
                                      "the %llu private entities with %s of rank %u differ from "
                                      "the %llu of rank 0: %s",
                                      (unsigned long long)own[0], name, rank,
                                      (unsigned long long)other[0], why);
    }
    return weft_ranks_agree(result);
}

static weft_result kept_is_new(const weft_shard *shard)
{
    for (uint32_t i = 0; i < shard->kept_count; i++)
        if (shard->kept_rows[i].id != 0 && weft_query_count(shard->world, shard->kept_rows[i]) != 0)
            return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                    "the world has private entities with %s: load a checkpoint, "
                                    "which brings its own, before they are made",
                                    name_of(shard, shard->kept[i]));
    return WEFT_OK;
}

static bool is_kept(const weft_shard *shard, weft_component component, bool is_resource)
{
    for (uint32_t i = 0; i < shard->kept_count; i++)
        if (shard->kept[i].id == component.id) return !is_resource || shard->kept_rows[i].id == 0;
    return false;
}

static weft_result kept_is_corrupt(void)
{
    return weft__ranks_fail(WEFT_CORRUPT, "what is kept is damaged; nothing was loaded");
}

static weft_result kept_names(const weft_shard *shard, weft__reader *in, const char *path)
{
    uint64_t count, bytes;
    if (!weft__reader_word(in, &count)) return kept_is_corrupt();
    for (uint64_t i = 0; i < count; i++) {
        char name[256] = "";
        const void *text = NULL;
        if (weft__reader_word(in, &bytes) && bytes < sizeof name)
            text = weft__reader_take(in, bytes);
        if (text == NULL) return kept_is_corrupt();
        memcpy(name, text, (size_t)bytes);
        const weft_component component = weft_component_find(shard->world, name);
        if (component.id == 0 || !is_kept(shard, component, false))
            return weft__ranks_fail(WEFT_TYPE_MISMATCH,
                                    "%s keeps %s, which the description of the shard does not: "
                                    "name it in weft_shard_desc.kept",
                                    path, name);
    }
    return WEFT_OK;
}

static weft_result kept_check(const weft_shard *shard, const weft__block *resources)
{
    bool is_good = resources->count == 1;
    for (uint32_t i = 0; i < resources->column_count; i++) {
        const weft__row_component *type = &resources->columns[i].type;
        is_good =
            is_good && type->kind == WEFT__VALUE_PLAIN && is_kept(shard, type->component, true);
        if (is_good && weft_resource_write(shard->world, type->component) == NULL)
            return weft__ranks_fail(weft_world_error(shard->world)->code, "%s",
                                    weft_world_error(shard->world)->text);
    }
    return is_good ? WEFT_OK : kept_is_corrupt();
}

static void kept_set(const weft_shard *shard, const weft__block *resources)
{
    for (uint32_t i = 0; i < resources->column_count; i++) {
        const weft__block_column *column = &resources->columns[i];
        memcpy(weft_resource_write(shard->world, column->type.component), column->values,
               column->type.size);
    }
}

/* ---- the hash ---- */

/* Adds the hashes of the rows of a block. */
static weft_result add_block(weft_shard *shard, const weft__bytes *bytes, uint64_t sums[2])
{
    weft__reader in = {bytes->at, bytes->at + bytes->count};
    weft__block block;
    weft_result result = weft__block_read(shard, &in, NULL, &block);
    if (result != WEFT_OK) return result;
    uint64_t(*hashes)[2] = malloc((size_t)block.count * sizeof *hashes + 1);
    if (hashes == NULL) {
        result = weft__ranks_no_memory();
    } else {
        weft__block_hash(shard, &block, hashes);
        for (uint32_t row = 0; row < block.count; row++)
            for (uint32_t k = 0; k < 2; k++)
                sums[k] += hash_end(hash_word(hash_start(block.gids[row], k), hashes[row][k]));
    }
    free(hashes);
    weft__block_free(&block);
    return result;
}

static weft_result hash_rows(weft_shard *shard, uint64_t sums[2])
{
    weft__sector_rows rows = {0};
    weft__bytes bytes = {0};
    weft_result result = weft__sector_rows_collect(shard, shard->rows_query, &rows);
    for (uint32_t begin = 0, end; begin < rows.count && result == WEFT_OK; begin = end) {
        end = weft__sector_rows_group(&rows, begin);
        bytes.count = 0;
        result = weft__sector_rows_write(shard, &rows, begin, end, &bytes);
        if (result == WEFT_OK) result = add_block(shard, &bytes, sums);
    }
    weft__bytes_free(&bytes);
    weft__sector_rows_free(&rows);
    return result;
}

weft_result weft_shard_hash(weft_shard *shard, uint64_t out[2])
{
    out[0] = out[1] = 0;
    uint64_t sums[2] = {0, 0};
    weft_result result = weft__rows_sync(shard, WEFT_OK);
    if (result == WEFT_OK) result = weft_ranks_agree(hash_rows(shard, sums));
    if (result == WEFT_OK) result = weft__transport_sum(sums, 2);
    if (result != WEFT_OK) return result;
    out[0] = sums[0];
    out[1] = sums[1];
    return WEFT_OK;
}

#define CHECKPOINT_MAGIC UINT64_C(0x6472616873746677) /* "wftshard" */
#define CHECKPOINT_VERSION UINT64_C(3)                /* 2 is read, too: nothing is kept */

/* A value. */
typedef struct checkpoint_head {
    uint64_t magic, version;
    uint64_t seed, tick;
    uint64_t sectors, components;
    uint64_t component_bytes; /* of the part with components */
    uint64_t hash;            /* of components and sectors, started with the fields above */
} checkpoint_head;

/* A value. */
typedef struct checkpoint_sector {
    uint64_t offset, bytes; /* of its section */
    uint64_t counter;       /* gids given away */
    uint64_t hash;          /* of the section */
} checkpoint_sector;

/* Memory of one save. */
typedef struct saving {
    weft_shard *shard;
    const weft__os_files *files;
    const char *path;
    char place[PATH_MAX]; /* of the file that is replaced: behind a symbolic link */
    char partial[PATH_MAX + 16];
    checkpoint_sector *table; /* [sectors + 1] */
    weft__bytes front;        /* head, components, table: rank 0 */
    weft__bytes sections;     /* of this rank, by sector */
    kept_values kept;
    int file;
} saving;

static weft_result io_failed(const saving *s, const char *what, const char *path)
{
    return weft__ranks_fail(WEFT_IO, "%s %s on rank %u: %s; the earlier checkpoint is as it was",
                            what, path, s->shard->map.rank, strerror(errno));
}

/* Anything but a regular file would be lost, not replaced. */
static weft_result find_place(saving *s)
{
    weft__os_kind kind;
    s->files = weft__os_files_of(weft__os_default());
    if (s->files->locate(s->files->user, s->path, s->place, sizeof s->place, &kind) != WEFT_OK)
        return io_failed(s, "writing", s->path);
    if (kind != WEFT__OS_NOTHING && kind != WEFT__OS_REGULAR_FILE)
        return weft__ranks_fail(WEFT_IO, "%s is not a regular file: name another path", s->path);
    (void)snprintf(s->partial, sizeof s->partial, "%s.partial", s->place);
    return WEFT_OK;
}

/* ---- what is written ---- */

static weft_result make_sections(saving *s)
{
    weft__sector_rows rows = {0};
    weft_result result = weft__sector_rows_collect(s->shard, s->shard->rows_query, &rows);
    for (uint32_t begin = 0, end; begin < rows.count && result == WEFT_OK; begin = end) {
        end = weft__sector_rows_group(&rows, begin);
        const uint64_t before = s->sections.count;
        result = weft__sector_rows_write(s->shard, &rows, begin, end, &s->sections);
        s->table[rows.runs[begin].sector].bytes += s->sections.count - before;
    }
    weft__sector_rows_free(&rows);
    uint64_t at = 0;
    for (uint32_t sector = 0; sector < s->shard->map.count; sector++) {
        if (!weft__sector_is_mine(s->shard, sector)) continue;
        checkpoint_sector *entry = &s->table[sector];
        entry->counter = s->shard->counters[sector];
        entry->hash = hash_bytes(0, s->sections.at + at, entry->bytes);
        at += entry->bytes;
    }
    if (result == WEFT_OK) result = kept_write(s->shard, &s->kept);
    if (result != WEFT_OK || s->shard->map.rank != 0) return result;
    s->table[s->shard->map.count].bytes = s->kept.bytes.count;
    s->table[s->shard->map.count].hash = hash_bytes(0, s->kept.bytes.at, s->kept.bytes.count);
    return WEFT_OK;
}

/* Components by registration. */
static bool make_components(saving *s, uint64_t *count)
{
    weft_world *world = s->shard->world;
    const weft_component_desc *desc;
    weft__out types = {.memory = weft__world_memory(world)};
    *count = 0;
    while ((desc = weft_component_info(world, weft__component(world, (uint32_t)*count + 1)))) {
        weft__file_type_put(&types, desc);
        ++*count;
    }
    const bool is_done = !types.is_refused && weft__bytes_put(&s->front, types.at, types.count);
    weft__out_free(&types);
    return is_done;
}

/* Head, components and table with offsets; the same on every rank. */
static weft_result make_front(saving *s)
{
    checkpoint_head head = {.magic = CHECKPOINT_MAGIC,
                            .version = CHECKPOINT_VERSION,
                            .seed = s->shard->seed,
                            .tick = s->shard->tick,
                            .sectors = s->shard->map.count};
    const uint64_t table_bytes = (head.sectors + 1) * sizeof *s->table;
    if (!weft__bytes_put(&s->front, &head, sizeof head) || !make_components(s, &head.components))
        return weft__ranks_no_memory();
    head.component_bytes = s->front.count - sizeof head;
    uint64_t offset = s->front.count + table_bytes;
    for (uint32_t sector = 0; sector <= s->shard->map.count; sector++) {
        s->table[sector].offset = offset;
        offset += s->table[sector].bytes;
    }
    if (!weft__bytes_put(&s->front, s->table, table_bytes)) return weft__ranks_no_memory();
    const uint64_t start = hash_bytes(0, &head, sizeof head);
    head.hash = hash_bytes(start, s->front.at + sizeof head, s->front.count - sizeof head);
    memcpy(s->front.at, &head, sizeof head);
    return WEFT_OK;
}

/* ---- writing ---- */

static weft_result write_at(saving *s, const void *bytes, uint64_t count, uint64_t offset)
{
    const char *from = bytes;
    while (count != 0) {
        const size_t piece = count < (1u << 30) ? (size_t)count : (size_t)(1u << 30);
        const ssize_t done = pwrite(s->file, from, piece, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return io_failed(s, "writing", s->partial);
        from += done;
        offset += (uint64_t)done;
        count -= (uint64_t)done;
    }
    return WEFT_OK;
}

/* Sectors that follow each other in the file go at once. */
static weft_result write_sections(saving *s)
{
    weft_result result = WEFT_OK;
    uint64_t at = 0;
    for (uint32_t begin = 0, end; begin < s->shard->map.count && result == WEFT_OK; begin = end) {
        uint64_t bytes = 0;
        for (end = begin; end < s->shard->map.count; end++) {
            if (!weft__sector_is_mine(s->shard, end)) break;
            bytes += s->table[end].bytes;
        }
        if (end == begin) end++;
        result = write_at(s, s->sections.at + at, bytes, s->table[begin].offset);
        at += bytes;
    }
    return result;
}

static weft_result open_partial(saving *s, int flags)
{
    do s->file = open(s->partial, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
    while (s->file < 0 && errno == EINTR);
    return s->file >= 0 ? WEFT_OK : io_failed(s, "opening", s->partial);
}

static weft_result write_file(saving *s)
{
    const bool is_first = s->shard->map.rank == 0;
    weft_result result = WEFT_OK;
    if (is_first) result = open_partial(s, O_CREAT | O_TRUNC);
    result = weft_ranks_agree(result); /* the others open what rank 0 has made */
    if (result != WEFT_OK) return result;
    if (!is_first) result = open_partial(s, 0);
    if (result == WEFT_OK && is_first) result = write_at(s, s->front.at, s->front.count, 0);
    if (result == WEFT_OK) result = write_sections(s);
    if (result == WEFT_OK && is_first)
        result = write_at(s, s->kept.bytes.at, s->kept.bytes.count,
                          s->table[s->shard->map.count].offset);
    if (result == WEFT_OK && s->files->sync(s->files->user, (weft__os_file){s->file}) != WEFT_OK)
        result = io_failed(s, "syncing", s->partial);
    return weft_ranks_agree(result);
}

/* Rank 0: the new file takes the place of the earlier one. */
static weft_result put_in_place(saving *s)
{
    const weft__os_files *files = s->files;
    if (files->rename(files->user, s->partial, s->place) != WEFT_OK) {
        const weft_result result = io_failed(s, "renaming", s->partial);
        files->remove(files->user, s->partial);
        return result;
    }
    if (files->sync_directory(files->user, s->place) == WEFT_OK) return WEFT_OK;
    return weft__ranks_fail(WEFT_IO,
                            "syncing the folder of %s: %s; the new checkpoint is in place, "
                            "perhaps not durably: save again",
                            s->place, strerror(errno));
}

static weft_result save(saving *s)
{
    const bool is_first = s->shard->map.rank == 0;
    weft_result result = find_place(s);
    if (result == WEFT_OK) s->table = calloc(s->shard->map.count + UINT64_C(1), sizeof *s->table);
    if (result == WEFT_OK) result = s->table != NULL ? make_sections(s) : weft__ranks_no_memory();
    result = weft_ranks_agree(result);
    if (result == WEFT_OK) result = kept_compare(s->shard, &s->kept);
    if (result != WEFT_OK) return result;
    result = weft__transport_sum((uint64_t *)s->table, (s->shard->map.count + UINT64_C(1)) *
                                                           (sizeof *s->table / sizeof(uint64_t)));
    if (result == WEFT_OK) result = make_front(s);
    result = weft_ranks_agree(result);
    if (result == WEFT_OK) result = write_file(s);
    if (s->file >= 0) close(s->file);
    if (is_first && result != WEFT_OK && s->file >= 0) (void)unlink(s->partial);
    if (is_first && result == WEFT_OK) result = put_in_place(s);
    return weft_ranks_agree(result);
}

weft_result weft_shard_save(weft_shard *shard, const char *path)
{
    if (path == NULL) return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "path is NULL");
    saving s = {.shard = shard, .path = path, .file = -1};
    weft_result result = weft__rows_sync(shard, WEFT_OK);
    if (result == WEFT_OK) result = save(&s);
    free(s.table);
    weft__bytes_free(&s.front);
    weft__bytes_free(&s.sections);
    weft__bytes_free(&s.kept.bytes);
    return result;
}

/* Memory of one load. */
typedef struct loading {
    weft_shard *shard;
    weft__pile pile; /* of layouts; memory of the world */
    const char *path;
    weft__file_source file;
    bool is_open;
    checkpoint_head head;
    unsigned char *front;           /* components and sectors */
    const checkpoint_sector *table; /* in `front` */
    weft__block_types types;        /* of the file */
    weft__bytes sections, kept;
    weft__block resources; /* one row */
    weft__block *blocks;
    uint64_t block_capacity;
    uint32_t block_count;
    weft_entity *entities; /* of the rows of all blocks */
    uint64_t row_count;
} loading;

static weft_result is_corrupt(const loading *l, const char *what)
{
    return weft__ranks_fail(WEFT_CORRUPT, "%s: %s; nothing was loaded", l->path, what);
}

static weft_result read_at(loading *l, void *to, uint64_t count, uint64_t offset)
{
    if (offset > l->file.bytes || count > l->file.bytes - offset)
        return is_corrupt(l, "the file ends too early");
    const weft_result result = weft__file_read(&l->file, to, count, offset);
    return result == WEFT_OK ? WEFT_OK : weft__ranks_fail(result, "%s", l->file.problem.text);
}

/* ---- the front ---- */

static weft_result open_file(loading *l)
{
    const weft_result result = weft__file_open(weft__os_default(), l->path, &l->file);
    if (result != WEFT_OK) return weft__ranks_fail(result, "%s", l->file.problem.text);
    l->is_open = true;
    return read_at(l, &l->head, sizeof l->head, 0);
}

static weft_result check_head(const loading *l)
{
    const checkpoint_head *head = &l->head;
    if (head->magic != CHECKPOINT_MAGIC) return is_corrupt(l, "this is no checkpoint of a shard");
    if (head->version != CHECKPOINT_VERSION && head->version != 2)
        return weft__ranks_fail(WEFT_UNSUPPORTED, "%s: version %llu of the format", l->path,
                                (unsigned long long)head->version);
    if (head->sectors != l->shard->map.count)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                "%s has %llu sectors, the shard has %u: create it with the "
                                "description of the run that wrote it",
                                l->path, (unsigned long long)head->sectors, l->shard->map.count);
    if (l->shard->seed != 0 && head->seed != l->shard->seed)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                "%s is of a run with seed %llu, the shard has seed %llu: give no "
                                "seed, or that one",
                                l->path, (unsigned long long)head->seed,
                                (unsigned long long)l->shard->seed);
    if (head->component_bytes > l->file.bytes) return is_corrupt(l, "the file ends too early");
    return WEFT_OK;
}

static weft_result read_front(loading *l)
{
    const uint64_t table_bytes = (l->head.sectors + l->head.version - 2) * sizeof *l->table;
    const uint64_t bytes = l->head.component_bytes + table_bytes;
    l->front = malloc((size_t)bytes);
    if (l->front == NULL) return weft__ranks_no_memory();
    weft_result result = read_at(l, l->front, bytes, sizeof l->head);
    if (result != WEFT_OK) return result;
    checkpoint_head head = l->head;
    head.hash = 0;
    if (hash_bytes(hash_bytes(0, &head, sizeof head), l->front, bytes) != l->head.hash)
        return is_corrupt(l, "the tables are damaged");
    l->table = (const checkpoint_sector *)(const void *)(l->front + l->head.component_bytes);
    return WEFT_OK;
}

/* A component of the file in this world, by its name; another layout gets a plan. */
static weft_result map_component(loading *l, const weft__file_type *type, uint64_t id)
{
    static const weft_load_desc as_it_is;
    weft_world *world = l->shard->world;
    const weft_component component = weft_component_find(world, type->name);
    l->types.components[id] = component;
    if (component.id == l->shard->gid.id || component.id == l->shard->sector.id)
        return WEFT_OK; /* no block has them */
    if (component.id == 0 || weft_component_hash(world, component) == type->hash) return WEFT_OK;
    char text[400];
    const weft__evolution_ends ends = {&type->desc, weft_component_info(world, component),
                                       type->hash};
    if (weft__evolution_init(&l->pile, &as_it_is, &ends, &l->types.plans[id], text)) return WEFT_OK;
    if (text[0] == '\0') return weft__ranks_no_memory();
    return weft__ranks_fail(WEFT_TYPE_MISMATCH, "%s: component %s %s", l->path, type->name, text);
}

/* Finds the components of the file in this world; those that are missing matter only if rows have
 * them. */
static weft_result map_components(loading *l)
{
    const char *front = (const char *)l->front;
    weft__in in = {.at = front, .end = front + l->head.component_bytes};
    if (l->head.components > l->head.component_bytes) return is_corrupt(l, "too many components");
    const uint64_t count = l->types.count = l->head.components;
    l->types.components = calloc(count + 1, sizeof *l->types.components);
    l->types.plans = calloc(count + 1, sizeof *l->types.plans);
    if (l->types.components == NULL || l->types.plans == NULL) return weft__ranks_no_memory();
    weft_result result = WEFT_OK;
    for (uint64_t id = 1; id <= count && result == WEFT_OK; id++) {
        weft__file_type type;
        const char *problem = weft__file_type_get(&in, &l->pile, &type);
        if (problem == NULL && !in.is_short)
            result = map_component(l, &type, id);
        else
            result = problem != NULL && problem[0] == '\0'
                         ? weft__ranks_no_memory()
                         : is_corrupt(l, "the table of components is damaged");
    }
    return result;
}

/* ---- sections ---- */

static weft_result read_section(loading *l, uint32_t sector, weft__bytes *out)
{
    const checkpoint_sector *entry = &l->table[sector];
    if (entry->bytes > l->file.bytes || entry->bytes % 8 != 0)
        return is_corrupt(l, "a section is longer than the file");
    if (entry->bytes == 0) return WEFT_OK;
    unsigned char *place = weft__bytes_add(out, entry->bytes);
    if (place == NULL) return weft__ranks_no_memory();
    weft_result result = read_at(l, place, entry->bytes, entry->offset);
    if (result == WEFT_OK && hash_bytes(0, place, entry->bytes) != entry->hash)
        result = is_corrupt(l, "a section is damaged");
    return result;
}

/* Blocks of all sections; they are checked here, before anything is created. */
static weft_result read_blocks(loading *l, weft__reader in, bool is_kept)
{
    while (in.at != in.end) {
        if (!weft__array_grow(&l->blocks, &l->block_capacity, l->block_count + UINT64_C(1),
                              sizeof *l->blocks))
            return weft__ranks_no_memory();
        weft__block *block = &l->blocks[l->block_count];
        weft_result result = weft__block_read(l->shard, &in, &l->types, block);
        if (result != WEFT_OK) return result;
        l->block_count++;
        l->row_count += block->count;
        for (uint32_t i = 0; i < block->count; i++)
            if (is_kept ? block->sectors[i] != l->shard->map.count
                        : !weft__sector_is_mine(l->shard, block->sectors[i]))
                return is_corrupt(l, "a row is in the section of another sector");
    }
    return WEFT_OK;
}

/* What is kept, but for its entities: those come after the rows. */
static weft_result read_kept(loading *l, weft__reader *entities)
{
    weft_result result = WEFT_OK;
    if (l->head.version != 2) result = read_section(l, l->shard->map.count, &l->kept);
    *entities = (weft__reader){l->kept.at, l->kept.at + l->kept.count};
    if (result != WEFT_OK || l->kept.count == 0) return result;
    result = kept_names(l->shard, entities, l->path);
    if (result == WEFT_OK) result = weft__block_read(l->shard, entities, &l->types, &l->resources);
    return result == WEFT_OK ? kept_check(l->shard, &l->resources) : result;
}

static weft_result read_all(loading *l)
{
    weft_result result = open_file(l);
    if (result == WEFT_OK) result = check_head(l);
    if (result == WEFT_OK) result = read_front(l);
    if (result == WEFT_OK) result = map_components(l);
    return result;
}

static weft_result read_mine(loading *l)
{
    weft_result result = WEFT_OK;
    for (uint32_t sector = 0; sector < l->shard->map.count && result == WEFT_OK; sector++)
        if (weft__sector_is_mine(l->shard, sector)) result = read_section(l, sector, &l->sections);
    weft__reader entities;
    const weft__reader rows = {l->sections.at, l->sections.at + l->sections.count};
    if (result == WEFT_OK) result = read_kept(l, &entities);
    if (result == WEFT_OK) result = read_blocks(l, rows, false);
    if (result == WEFT_OK) result = read_blocks(l, entities, true);
    if (result != WEFT_OK) return result;
    l->entities = calloc(l->row_count + 1, sizeof *l->entities);
    return l->entities != NULL ? WEFT_OK : weft__ranks_no_memory();
}

static weft_result cut_sectors(loading *l)
{
    const uint32_t count = l->shard->map.count;
    uint64_t *costs = malloc(count * sizeof *costs);
    uint32_t *rank_of = malloc(count * sizeof *rank_of);
    bool has_memory = costs != NULL && rank_of != NULL;
    for (uint32_t i = 0; i < count && has_memory; i++) costs[i] = l->table[i].bytes;
    if (has_memory) {
        weft__sector_cut(&l->shard->map, costs, rank_of);
        has_memory = weft__ghosts_prepare(l->shard, rank_of);
    }
    /* all ranks or none: they know the same cut */
    const weft_result result = weft_ranks_agree(has_memory ? WEFT_OK : weft__ranks_no_memory());
    if (result == WEFT_OK) weft__ghosts_set_map(l->shard, rank_of);
    free(costs);
    free(rank_of);
    return result;
}

/* All of them came by a load that has failed. Residues need memory: without it the next load ends
 * what is left. */
static weft_result rows_end(weft_shard *shard)
{
    weft_result result = weft_query_destroy_entities(shard->world, shard->rows_query);
    if (result == WEFT_OK) result = weft_query_destroy_entities(shard->world, shard->stub_query);
    if (result == WEFT_OK && shard->has_references)
        result = weft_query_remove(shard->world, shard->dead_query, shard->gid);
    for (uint32_t i = 0; i < shard->kept_count && result == WEFT_OK; i++)
        if (shard->kept_rows[i].id != 0)
            result = weft_query_destroy_entities(shard->world, shard->kept_rows[i]);
    shard->has_load_rest = result != WEFT_OK;
    return result == WEFT_OK ? WEFT_OK : weft__ranks_no_memory();
}

static weft_result load(loading *l)
{
    weft_shard *shard = l->shard;
    weft_result result = shard->has_load_rest ? rows_end(shard) : WEFT_OK;
    if (result == WEFT_OK && weft_query_count(shard->world, shard->rows_query) != 0)
        result = weft__ranks_fail(WEFT_INVALID_ARGUMENT, "the shard has entities: load a "
                                                         "checkpoint into a new world");
    if (result == WEFT_OK) result = kept_is_new(shard);
    if (result == WEFT_OK) result = read_all(l);
    result = weft_ranks_agree(result);
    if (result == WEFT_OK) result = cut_sectors(l);
    if (result == WEFT_OK) result = weft_ranks_agree(read_mine(l));
    if (result != WEFT_OK) return result;
    result = weft__arrivals_place(shard, l->blocks, l->block_count, l->entities);
    result = weft_ranks_agree(result);
    if (result != WEFT_OK) {
        (void)rows_end(shard);
        return result;
    }
    kept_set(shard, &l->resources);
    shard->seed = l->head.seed;
    shard->tick = l->head.tick;
    for (uint32_t i = 0; i < shard->map.count; i++)
        shard->counters[i] = weft__sector_is_mine(shard, i) ? l->table[i].counter : 0;
    shard->keys_version = 0;
    return WEFT_OK;
}

weft_result weft_shard_load(weft_shard *shard, const char *path)
{
    if (path == NULL) return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "path is NULL");
    loading l = {.shard = shard, .path = path};
    l.pile = (weft__pile){weft__world_memory(shard->world), WEFT__MEMORY_OTHER};
    weft_result result = load(&l);
    if (l.is_open) weft__file_close(&l.file);
    weft__pile_free(&l.pile);
    for (uint32_t i = 0; i < l.block_count; i++) weft__block_free(&l.blocks[i]);
    weft__block_free(&l.resources);
    free(l.front);
    free(l.types.components);
    free(l.types.plans);
    free(l.blocks);
    free(l.entities);
    weft__bytes_free(&l.kept);
    weft__bytes_free(&l.sections);
    return result;
}
