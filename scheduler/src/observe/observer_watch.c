/* SPDX-License-Identifier: MIT */
/* observer_watch.c: finding what differs since the last scan, in three steps: values that changed
 * where the entity is still known; rows that are gone from their place, which either moved or lost
 * the component; rows that are new in their place, which either moved or got it. What is found
 * depends on the world only. A version that may be stamped again is not believed the next time. */
#include "observer_watch.h"

#include <string.h>

static weft__memory *memory_of(const weft__observer_watch *watch)
{
    return weft__world_memory(watch->world);
}

/* A larger copy of an array of `old` entries; the new ones are zero. NULL: no memory. */
static void *copied(const weft__observer_watch *watch, const void *array, uint32_t old,
                    uint32_t capacity, size_t bytes)
{
    char *out = weft__alloc(memory_of(watch), WEFT__MEMORY_SYSTEMS, capacity, bytes, 64);
    if (out == NULL) return NULL;
    if (old != 0) memcpy(out, array, (size_t)old * bytes);
    memset(out + (size_t)old * bytes, 0, (size_t)(capacity - old) * bytes);
    return out;
}

static void released(const weft__observer_watch *watch, void *array, uint32_t count, size_t bytes)
{
    if (array != NULL) weft__free(memory_of(watch), WEFT__MEMORY_SYSTEMS, array, count, bytes, 64);
}

static void noticed_fini(const weft__observer_watch *watch, weft__noticed *list, uint32_t bytes)
{
    released(watch, list->entities, list->capacity, sizeof list->entities[0]);
    released(watch, list->values, list->capacity, bytes);
    *list = (weft__noticed){0};
}

/* Room for `more` entities in a list. False: no memory; it is as before. */
static bool noticed_room(const weft__observer_watch *watch, weft__noticed *list, uint32_t more,
                         uint32_t bytes)
{
    if (list->capacity - list->count >= more) return true;
    uint32_t need = list->count + more, twice = 2 * list->capacity;
    weft__noticed fresh = {.count = list->count, .capacity = twice > need ? twice : need + 64};
    fresh.entities =
        copied(watch, list->entities, list->count, fresh.capacity, sizeof fresh.entities[0]);
    if (bytes != 0 && fresh.entities != NULL)
        fresh.values = copied(watch, list->values, list->count, fresh.capacity, bytes);
    if (fresh.entities == NULL || (bytes != 0 && fresh.values == NULL)) {
        noticed_fini(watch, &fresh, bytes);
        return false;
    }
    noticed_fini(watch, list, bytes);
    *list = fresh;
    return true;
}

static inline bool noticed_room_for_one(const weft__observer_watch *watch, weft__noticed *list)
{
    return list->count < list->capacity || noticed_room(watch, list, 1, watch->bytes);
}

/* The list has room. */
static void notice(weft__noticed *list, weft_entity entity, const void *value, uint32_t bytes)
{
    if (bytes != 0) memcpy(list->values + (size_t)list->count * bytes, value, bytes);
    list->entities[list->count++] = entity;
}

/* ---- members ---- */

/* Room for an index. False: no memory; everything is as before. */
static bool members_room(weft__observer_watch *watch, uint32_t index)
{
    if (index < watch->member_capacity) return true;
    uint32_t old = watch->member_capacity, capacity = 2 * old > index ? 2 * old : index + 64;
    uint32_t *members = copied(watch, watch->members, old, capacity, sizeof members[0]);
    char *values = NULL;
    uint64_t *born = NULL;
    if (watch->bytes != 0) values = copied(watch, watch->values, old, capacity, watch->bytes);
    if (watch->component == 0) born = copied(watch, watch->born, old, capacity, sizeof born[0]);
    if (members == NULL || (watch->bytes != 0 && values == NULL) ||
        (watch->component == 0 && born == NULL)) {
        released(watch, members, capacity, sizeof members[0]);
        released(watch, values, capacity, watch->bytes);
        released(watch, born, capacity, sizeof born[0]);
        return false;
    }
    released(watch, watch->members, old, sizeof members[0]);
    released(watch, watch->values, old, watch->bytes);
    released(watch, watch->born, old, sizeof born[0]);
    watch->members = members;
    watch->values = values;
    watch->born = born;
    watch->member_capacity = capacity;
    return true;
}

static bool is_member(const weft__observer_watch *watch, weft_entity entity)
{
    uint32_t index = weft_entity_index(entity);
    return index < watch->member_capacity && watch->members[index] == entity.version;
}

static char *value_of(const weft__observer_watch *watch, uint32_t index)
{
    return watch->values + (size_t)index * watch->bytes;
}

static bool is_watched(const weft__observer_watch *watch, const weft__archetype *archetype)
{
    if ((archetype->flags & WEFT__IS_PREFAB) != 0) return false;
    if (watch->component == 0)
        return (archetype->flags & (WEFT__IS_RESIDUE | WEFT__IS_SPARSE)) == 0;
    return weft__archetype_find(archetype, watch->component) != WEFT__NONE;
}

/* ---- chunks ---- */

static size_t watched_bytes(const weft__watched_chunk *seen)
{
    return (size_t)seen->capacity * sizeof(weft_entity) + seen->slices * sizeof(uint32_t);
}

static void watched_free(const weft__observer_watch *watch, weft__watched_chunk *seen)
{
    weft__free(memory_of(watch), WEFT__MEMORY_SYSTEMS, seen->rows, 1, watched_bytes(seen), 8);
    *seen = (weft__watched_chunk){0};
}

/* All rows that were in a chunk are gone from it. */
static bool watched_went(weft__observer_watch *watch, weft__watched_chunk *seen)
{
    if (!noticed_room(watch, &watch->went, seen->count, 0)) return false;
    for (uint32_t i = 0; i < seen->count; i++) notice(&watch->went, seen->rows[i], NULL, 0);
    seen->count = 0;
    return true;
}

/* What is known of a chunk, with room for its rows. NULL: no memory. */
static weft__watched_chunk *watched_of(weft__observer_watch *watch, const weft__chunk *chunk)
{
    if (!WEFT__LIST_REACH(memory_of(watch), WEFT__MEMORY_SYSTEMS, &watch->chunks, chunk->id + 1))
        return NULL;
    weft__watched_chunk *seen = &watch->chunks.at[chunk->id];
    if (seen->serial == chunk->serial && seen->capacity == chunk->capacity) return seen;
    if (!watched_went(watch, seen)) return NULL;
    watched_free(watch, seen);
    weft__watched_chunk fresh = {
        .serial = chunk->serial, .capacity = chunk->capacity, .slices = chunk->layout->slice_count};
    fresh.rows =
        weft__alloc_zeroed(memory_of(watch), WEFT__MEMORY_SYSTEMS, 1, watched_bytes(&fresh), 8);
    if (fresh.rows == NULL) return NULL;
    fresh.seen = (uint32_t *)(void *)(fresh.rows + fresh.capacity);
    *seen = fresh;
    return seen;
}

static bool is_same(weft_entity a, weft_entity b)
{
    return memcmp(&a, &b, sizeof a) == 0; /* one comparison of 8 bytes */
}

/* Rows against the copy, which becomes current. `values`: of the column, or NULL. */
static bool rows_compare(weft__observer_watch *watch, weft__watched_chunk *seen,
                         const weft__chunk *chunk, const char *values)
{
    const weft_entity *rows = weft__chunk_entities(chunk);
    uint32_t both = seen->count < chunk->count ? seen->count : chunk->count;
    uint32_t bytes = values == NULL ? 0 : watch->bytes;
    if (!noticed_room(watch, &watch->went, seen->count, 0) ||
        !noticed_room(watch, &watch->came, chunk->count, bytes))
        return false;
    for (uint32_t i = 0; i < both; i++) {
        if (is_same(rows[i], seen->rows[i])) continue;
        notice(&watch->went, seen->rows[i], NULL, 0);
        notice(&watch->came, rows[i], bytes == 0 ? NULL : values + (size_t)i * bytes, bytes);
    }
    for (uint32_t i = both; i < seen->count; i++) notice(&watch->went, seen->rows[i], NULL, 0);
    for (uint32_t i = both; i < chunk->count; i++)
        notice(&watch->came, rows[i], bytes == 0 ? NULL : values + (size_t)i * bytes, bytes);
    memcpy(seen->rows, rows, chunk->count * sizeof rows[0]);
    seen->count = chunk->count;
    return true;
}

/* Values of rows [first, end) that were known against what they were. */
static bool values_compare(weft__observer_watch *watch, const weft__chunk *chunk,
                           const char *values, uint32_t first, uint32_t end)
{
    const weft_entity *rows = weft__chunk_entities(chunk);
    for (uint32_t i = first; i < end; i++) {
        if (!is_member(watch, rows[i])) continue;
        char *known = value_of(watch, weft_entity_index(rows[i]));
        const char *now = values + (size_t)i * watch->bytes;
        if (memcmp(known, now, watch->bytes) == 0) continue;
        if (!noticed_room_for_one(watch, &watch->changed)) return false;
        notice(&watch->changed, rows[i], known, watch->bytes);
        memcpy(known, now, watch->bytes);
    }
    return true;
}

static bool slices_compare(weft__observer_watch *watch, weft__watched_chunk *seen,
                           const weft__chunk *chunk, uint32_t type, bool has_moved)
{
    const char *values = weft__chunk_column(chunk, chunk->archetype->types[type].column);
    const weft_a32 *x_versions = weft__chunk_versions(chunk, type);
    uint32_t shift = chunk->layout->slice_shift, hot = weft__front(watch->world)->version;
    for (uint32_t s = 0; s < weft__chunk_slices(chunk); s++) {
        uint32_t version = at_load_rlx(&x_versions[s]); /* relaxed: idle */
        uint32_t first = s << shift, end = (s + 1) << shift;
        if (!has_moved && version == seen->seen[s] && version != 0) continue;
        seen->seen[s] = version == hot ? 0 : version;
        if (end > chunk->count) end = chunk->count;
        if (!values_compare(watch, chunk, values, first, end)) return false;
    }
    return true;
}

static bool chunk_scan(weft__observer_watch *watch, const weft__chunk *chunk, uint32_t type)
{
    weft__watched_chunk *seen = watched_of(watch, chunk);
    if (seen == NULL) return false;
    const char *values = NULL;
    if (watch->bytes != 0) values = weft__chunk_column(chunk, chunk->archetype->types[type].column);
    seen->scan = watch->scan;
    bool has_moved = watch->is_suspect || seen->order_seen == 0 ||
                     seen->order_seen != chunk->order_version || seen->count != chunk->count;
    uint32_t hot = weft__front(watch->world)->version;
    seen->order_seen = chunk->order_version == hot ? 0 : chunk->order_version;
    if (values != NULL && !slices_compare(watch, seen, chunk, type, has_moved)) return false;
    return !has_moved || rows_compare(watch, seen, chunk, values);
}

static bool archetype_scan(weft__observer_watch *watch, const weft__archetype *archetype)
{
    if (archetype->chunk_count == 0 || !is_watched(watch, archetype)) return true;
    uint32_t type = watch->component == 0 ? 0 : weft__archetype_find(archetype, watch->component);
    for (uint32_t i = 0; i < archetype->chunk_count; i++)
        if (!chunk_scan(watch, archetype->chunks[i], type)) return false;
    return true;
}

static bool chunks_scan(weft__observer_watch *watch)
{
    const weft_world *world = watch->world;
    const weft__component_list *list = weft__component_list_at(world, watch->component);
    uint32_t count = watch->component == 0 ? weft__archetype_count(world) : list->count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = watch->component == 0 ? i : list->at[i].archetype;
        if (!archetype_scan(watch, weft__archetype_numbered(world, number))) return false;
    }
    for (uint32_t i = 0; i < watch->chunks.count; i++) {
        weft__watched_chunk *seen = &watch->chunks.at[i];
        if (seen->serial == 0 || seen->scan == watch->scan) continue;
        if (!watched_went(watch, seen)) return false;
        watched_free(watch, seen);
    }
    return true;
}

/* ---- from rows to entities ---- */

/* Rows that are gone: entities that have the component elsewhere have only moved. */
static bool went_settle(weft__observer_watch *watch)
{
    for (uint32_t i = 0; i < watch->went.count; i++) {
        weft_entity entity = watch->went.entities[i];
        uint32_t row, index = weft_entity_index(entity);
        if (!is_member(watch, entity)) continue;
        const weft__chunk *chunk = weft__entity_row(watch->world, entity, &row);
        if (chunk != NULL && is_watched(watch, chunk->archetype)) continue;
        if (!noticed_room_for_one(watch, &watch->removed) ||
            !noticed_room_for_one(watch, &watch->destroyed))
            return false;
        const char *value = watch->bytes == 0 ? NULL : value_of(watch, index);
        bool is_dead = chunk == NULL || (chunk->archetype->flags & WEFT__IS_RESIDUE) != 0;
        watch->members[index] = 0;
        notice(&watch->removed, entity, value, watch->bytes);
        if (is_dead) notice(&watch->destroyed, entity, value, watch->bytes);
    }
    return true;
}

static bool came_settle(weft__observer_watch *watch, const weft__observer_watch *all)
{
    uint32_t most = watch->came.count, most_created = all == NULL ? 0 : most;
    if (!noticed_room(watch, &watch->added, most, 0) ||
        !noticed_room(watch, &watch->created, most_created, 0))
        return false;
    for (uint32_t i = 0; i < watch->came.count; i++) {
        weft_entity entity = watch->came.entities[i];
        uint32_t index = weft_entity_index(entity);
        if (!members_room(watch, index)) return false;
        if (watch->members[index] == entity.version) continue;
        watch->members[index] = entity.version;
        if (watch->bytes != 0)
            memcpy(value_of(watch, index), watch->came.values + (size_t)i * watch->bytes,
                   watch->bytes);
        if (watch->component == 0) watch->born[index] = watch->scan;
        notice(&watch->added, entity, NULL, 0);
        if (all != NULL && is_member(all, entity) && all->born[index] > all->told)
            notice(&watch->created, entity, NULL, 0);
    }
    return true;
}

/* Everything is a candidate: each row that was known as gone, and each row as new. */
static bool candidates_all(weft__observer_watch *watch)
{
    for (uint32_t i = 0; i < watch->chunks.count; i++) {
        if (!watched_went(watch, &watch->chunks.at[i])) return false;
        watch->chunks.at[i].order_seen = 0;
    }
    return true;
}

bool weft__observer_watch_scan(weft__observer_watch *watch, const weft__observer_watch *all)
{
    watch->scan++;
    watch->came.count = 0;
    if (!watch->is_lost) watch->went.count = 0;
    bool is_done = (!watch->is_lost || candidates_all(watch)) && chunks_scan(watch) &&
                   went_settle(watch) && came_settle(watch, all);
    watch->is_lost = !is_done;
    watch->is_suspect = false;
    return is_done;
}

void weft__observer_watch_told(weft__observer_watch *watch)
{
    watch->told = watch->scan;
    watch->added.count = watch->removed.count = watch->changed.count = 0;
    watch->created.count = watch->destroyed.count = 0;
}

/* Values of rows that are known. */
static void values_fill(weft__observer_watch *watch, const weft__archetype *archetype)
{
    uint32_t type = weft__archetype_find(archetype, watch->component);
    for (uint32_t i = 0; i < archetype->chunk_count && is_watched(watch, archetype); i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        const weft_entity *rows = weft__chunk_entities(chunk);
        const char *values = weft__chunk_column(chunk, archetype->types[type].column);
        for (uint32_t row = 0; row < chunk->count; row++)
            if (is_member(watch, rows[row]))
                memcpy(value_of(watch, weft_entity_index(rows[row])),
                       values + (size_t)row * watch->bytes, watch->bytes);
    }
}

bool weft__observer_watch_keep(weft__observer_watch *watch, uint32_t bytes)
{
    if (watch->bytes == bytes) return true;
    if (watch->member_capacity != 0) {
        watch->values = copied(watch, NULL, 0, watch->member_capacity, bytes);
        if (watch->values == NULL) return false;
    }
    weft__noticed *lists[] = {&watch->came, &watch->removed, &watch->changed, &watch->destroyed};
    for (uint32_t i = 0; i < 4; i++) noticed_fini(watch, lists[i], 0);
    watch->bytes = bytes;
    const weft__component_list *list = weft__component_list_at(watch->world, watch->component);
    for (uint32_t i = 0; i < list->count; i++)
        values_fill(watch, weft__archetype_numbered(watch->world, list->at[i].archetype));
    return true;
}

void weft__observer_watch_fini(weft__observer_watch *watch)
{
    weft__memory *memory = memory_of(watch);
    noticed_fini(watch, &watch->came, watch->bytes);
    noticed_fini(watch, &watch->went, 0);
    noticed_fini(watch, &watch->added, 0);
    noticed_fini(watch, &watch->created, 0);
    noticed_fini(watch, &watch->removed, watch->bytes);
    noticed_fini(watch, &watch->changed, watch->bytes);
    noticed_fini(watch, &watch->destroyed, watch->bytes);
    for (uint32_t i = 0; i < watch->chunks.count; i++) watched_free(watch, &watch->chunks.at[i]);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &watch->chunks);
    released(watch, watch->members, watch->member_capacity, sizeof watch->members[0]);
    released(watch, watch->values, watch->member_capacity, watch->bytes);
    released(watch, watch->born, watch->member_capacity, sizeof watch->born[0]);
}
