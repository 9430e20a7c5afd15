/* SPDX-License-Identifier: MIT */
/* gid_table.c: entries are never taken out: the whole table is made again after structure changed,
 * which costs less than to follow each change. */
#include "gid_table.h"

#include <stdlib.h>

#include "hash.h"
#include "ranks_error.h"
#include "world_front.h"

typedef struct gid_entry {
    uint64_t gid; /* 0: free */
    weft_entity entity;
} gid_entry;

/* Owner: the shard. Always: count <= capacity / 2; capacity is 0 or a power of two. */
typedef struct weft__gid_table {
    gid_entry *entries;
    uint64_t capacity, count;
    uint64_t structure; /* version of the world's structure that it goes with */
} weft__gid_table;

static gid_entry *entry_of(const weft__gid_table *table, uint64_t gid)
{
    uint64_t at = hash_fold(gid ^ HASH_K0, HASH_K1) & (table->capacity - 1);
    while (table->entries[at].gid != 0 && table->entries[at].gid != gid)
        at = (at + 1) & (table->capacity - 1);
    return &table->entries[at];
}

/* Room for `count` entries in all. */
static bool make_room(weft__gid_table *table, uint64_t count)
{
    if (count * 2 <= table->capacity) return true;
    weft__gid_table grown = {.capacity = 64, .structure = table->structure};
    while (grown.capacity < count * 2) grown.capacity *= 2;
    grown.entries = calloc(grown.capacity, sizeof *grown.entries);
    if (grown.entries == NULL) return false;
    for (uint64_t i = 0; i < table->capacity; i++)
        if (table->entries[i].gid != 0)
            *entry_of(&grown, table->entries[i].gid) = table->entries[i];
    grown.count = table->count;
    free(table->entries);
    *table = grown;
    return true;
}

bool weft__gid_table_put(weft_shard *shard, uint64_t gid, weft_entity entity)
{
    weft__gid_table *table = shard->table;
    if (!make_room(table, table->count + 1)) return false;
    gid_entry *entry = entry_of(table, gid);
    if (entry->gid == 0) table->count++;
    *entry = (gid_entry){gid, entity};
    return true;
}

/* Adds the entities of a query whose first term has gids. */
static bool put_all(weft_shard *shard, weft_query query)
{
    weft_cursor cursor;
    bool is_done = weft__shard_loop_begin(shard, query, &cursor);
    while (is_done && weft_query_next(&cursor)) {
        const uint64_t *gids = weft_slice_read(&cursor.slice, 0);
        for (uint32_t i = 0; i < cursor.slice.count && is_done; i++)
            if (gids[i] != 0)
                is_done = weft__gid_table_put(shard, gids[i], cursor.slice.entities[i]);
    }
    weft_query_end(&cursor);
    return is_done;
}

weft_result weft__gid_table_refresh(weft_shard *shard)
{
    if (shard->table == NULL) shard->table = calloc(1, sizeof *shard->table);
    weft__gid_table *table = shard->table;
    if (table == NULL) return weft__ranks_no_memory();
    const uint64_t structure = weft__front(shard->world)->structure_version + 1;
    if (table->structure == structure) return WEFT_OK;
    if (table->capacity != 0) memset(table->entries, 0, table->capacity * sizeof *table->entries);
    table->count = 0;
    table->structure = 0;
    if (!make_room(table, 1) || !put_all(shard, shard->ghost_query) ||
        !put_all(shard, shard->stub_query) ||
        (shard->has_references && !put_all(shard, shard->dead_query)) ||
        !put_all(shard, shard->rows_query))
        return weft__ranks_no_memory();
    table->structure = structure;
    return WEFT_OK;
}

weft_entity weft__gid_table_find(const weft_shard *shard, uint64_t gid)
{
    if (gid == 0 || shard->table == NULL || shard->table->capacity == 0) return (weft_entity){0};
    return entry_of(shard->table, gid)->entity;
}

void weft__gid_table_free(weft_shard *shard)
{
    if (shard->table == NULL) return;
    free(shard->table->entries);
    free(shard->table);
    shard->table = NULL;
}

/* ---- for programs ---- */

uint64_t weft_shard_gid(const weft_shard *shard, weft_entity entity)
{
    const weft_component kinds[] = {shard->gid, shard->stub, shard->ghost};
    for (uint32_t i = 0; i < 3; i++) {
        if (!weft_entity_has(shard->world, entity, kinds[i])) continue;
        uint64_t gid;
        memcpy(&gid, weft_entity_read(shard->world, entity, kinds[i]), sizeof gid);
        return gid;
    }
    return 0;
}

weft_entity weft_shard_find(weft_shard *shard, uint64_t gid)
{
    if (weft__gid_table_refresh(shard) != WEFT_OK) return (weft_entity){0};
    return weft__gid_table_find(shard, gid);
}
