/* SPDX-License-Identifier: MIT */
/* observer_watch.c: finding what differs since the last scan, among the rows that row_diff.h lists,
 * in three steps: values that changed where the entity is still known; rows that are gone from
 * their place, which either moved or lost the component; rows that are new in their place, which
 * either moved or got it. What is found depends on the world only. */
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
    if ((archetype->flags & watch->diff.without) != 0) return false;
    return watch->component == 0 || weft__archetype_find(archetype, watch->component) != WEFT__NONE;
}

/* ---- rows ---- */

static bool is_same(weft_entity a, weft_entity b)
{
    return memcmp(&a, &b, sizeof a) == 0; /* one comparison of 8 bytes */
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

/* The rows of a piece against the mirror, which becomes current. `values`: of the column, or
 * NULL. */
static bool rows_compare(weft__observer_watch *watch, const weft__row_piece *piece,
                         const char *values)
{
    const weft__mirror *mirror = piece->mirror;
    const weft_entity *rows = piece->chunk == NULL ? NULL : weft__chunk_entities(piece->chunk);
    uint32_t now = piece->chunk == NULL ? 0 : piece->chunk->count;
    uint32_t bytes = watch->bytes, most = piece->end - piece->first;
    if (!noticed_room(watch, &watch->went, most, 0) ||
        !noticed_room(watch, &watch->came, now == 0 ? 0 : most, bytes))
        return false;
    for (uint32_t i = piece->first; i < piece->end; i++) {
        if (i < now && i < mirror->count && is_same(rows[i], mirror->rows[i])) continue;
        if (i < mirror->count) notice(&watch->went, mirror->rows[i], NULL, 0);
        if (i >= now) continue;
        notice(&watch->came, rows[i], bytes == 0 ? NULL : values + (size_t)i * bytes, bytes);
        mirror->rows[i] = rows[i];
    }
    return true;
}

static bool piece_compare(weft__observer_watch *watch, const weft__row_piece *piece)
{
    const weft__chunk *chunk = piece->chunk;
    const char *values = NULL;
    if (chunk != NULL && watch->bytes != 0) {
        values = weft__chunk_column(chunk, piece->place.column);
        uint32_t end = piece->end < chunk->count ? piece->end : chunk->count;
        if (!values_compare(watch, chunk, values, piece->first, end)) return false;
    }
    return !piece->has_other_rows || rows_compare(watch, piece, values);
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

/* All that is known may have gone, and each row be new. */
static bool candidates_all(weft__observer_watch *watch)
{
    uint32_t tag = weft__world_desc(watch->world)->entity_tag << WEFT_ENTITY_TAG_SHIFT;
    weft__row_diff_reset(&watch->diff);
    watch->went.count = 0;
    if (!noticed_room(watch, &watch->went, watch->member_capacity, 0)) return false;
    for (uint32_t i = 0; i < watch->member_capacity; i++)
        if (watch->members[i] != 0)
            notice(&watch->went, (weft_entity){i | tag, watch->members[i]}, NULL, 0);
    return true;
}

static bool rows_scan(weft__observer_watch *watch)
{
    if (!weft__row_diff_look(&watch->diff)) return false;
    for (uint32_t i = 0; i < watch->diff.pieces.count; i++)
        if (!piece_compare(watch, &watch->diff.pieces.at[i])) return false;
    return true;
}

bool weft__observer_watch_scan(weft__observer_watch *watch, const weft__observer_watch *all)
{
    watch->scan++;
    watch->came.count = watch->went.count = 0;
    if (watch->is_suspect) watch->diff.seen = 0;
    bool is_done = (!watch->is_lost || candidates_all(watch)) && rows_scan(watch) &&
                   went_settle(watch) && came_settle(watch, all);
    if (is_done) weft__row_diff_seen(&watch->diff, false);
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
    watch->diff.has_values = true;
    const weft__component_list *list = weft__component_list_at(watch->world, watch->component);
    for (uint32_t i = 0; i < list->count; i++)
        values_fill(watch, weft__archetype_numbered(watch->world, list->at[i].archetype));
    return true;
}

void weft__observer_watch_fini(weft__observer_watch *watch)
{
    noticed_fini(watch, &watch->came, watch->bytes);
    noticed_fini(watch, &watch->went, 0);
    noticed_fini(watch, &watch->added, 0);
    noticed_fini(watch, &watch->created, 0);
    noticed_fini(watch, &watch->removed, watch->bytes);
    noticed_fini(watch, &watch->changed, watch->bytes);
    noticed_fini(watch, &watch->destroyed, watch->bytes);
    weft__row_diff_fini(&watch->diff);
    released(watch, watch->members, watch->member_capacity, sizeof watch->members[0]);
    released(watch, watch->values, watch->member_capacity, watch->bytes);
    released(watch, watch->born, watch->member_capacity, sizeof watch->born[0]);
}
