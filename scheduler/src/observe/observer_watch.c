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

/* Room for `count` values of `bytes`. False: no memory. */
static bool values_room(const weft__observer_watch *watch, weft__value_lines *values,
                        uint32_t count, uint32_t bytes)
{
    size_t lines = ((size_t)count * bytes + 63) / 64;
    return WEFT__LIST_ROOM(memory_of(watch), WEFT__MEMORY_SYSTEMS, values, lines);
}

/* Room for `more` entities in a list. False: no memory. */
static bool noticed_room(const weft__observer_watch *watch, weft__noticed *list, uint32_t more,
                         uint32_t bytes)
{
    uint32_t count = list->entities.count + more;
    return WEFT__LIST_ROOM(memory_of(watch), WEFT__MEMORY_SYSTEMS, &list->entities, count) &&
           values_room(watch, &list->values, count, bytes);
}

/* The list has room. */
static void notice(weft__noticed *list, weft_entity entity, const void *value, uint32_t bytes)
{
    uint32_t at = list->entities.count++;
    if (bytes != 0) memcpy(list->values.at->bytes + (size_t)at * bytes, value, bytes);
    list->entities.at[at] = entity;
}

static void noticed_fini(const weft__observer_watch *watch, weft__noticed *list)
{
    WEFT__LIST_FREE(memory_of(watch), WEFT__MEMORY_SYSTEMS, &list->entities);
    WEFT__LIST_FREE(memory_of(watch), WEFT__MEMORY_SYSTEMS, &list->values);
}

/* ---- members ---- */

/* Room for an index. False: no memory. */
static bool members_room(weft__observer_watch *watch, uint32_t index)
{
    weft__memory *memory = memory_of(watch);
    return index < watch->members.count ||
           (values_room(watch, &watch->values, index + 1, watch->bytes) &&
            (watch->component != 0 ||
             WEFT__LIST_ROOM(memory, WEFT__MEMORY_SYSTEMS, &watch->born, (size_t)index + 1)) &&
            WEFT__LIST_REACH(memory, WEFT__MEMORY_SYSTEMS, &watch->members, index + 1));
}

static bool is_member(const weft__observer_watch *watch, weft_entity entity)
{
    uint32_t index = weft_entity_index(entity);
    return index < watch->members.count && watch->members.at[index] == entity.version;
}

static char *value_of(const weft__observer_watch *watch, uint32_t index)
{
    return watch->values.at->bytes + (size_t)index * watch->bytes;
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
    if (first < end && !noticed_room(watch, &watch->changed, end - first, watch->bytes))
        return false;
    for (uint32_t i = first; i < end; i++) {
        if (!is_member(watch, rows[i])) continue;
        char *known = value_of(watch, weft_entity_index(rows[i]));
        const char *now = values + (size_t)i * watch->bytes;
        if (memcmp(known, now, watch->bytes) == 0) continue;
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

/* Room for the next of `left` rows that are gone. False: no memory. */
static bool went_room(weft__observer_watch *watch, uint32_t left)
{
    uint32_t next = left < WEFT__PIECE_ROWS ? left : WEFT__PIECE_ROWS;
    return noticed_room(watch, &watch->removed, next, watch->bytes) &&
           noticed_room(watch, &watch->destroyed, next, watch->bytes);
}

/* Rows that are gone: entities that have the component elsewhere have only moved. */
static bool went_settle(weft__observer_watch *watch)
{
    for (uint32_t i = 0, most = watch->went.entities.count; i < most; i++) {
        weft_entity entity = watch->went.entities.at[i];
        uint32_t row, index = weft_entity_index(entity);
        if (i % WEFT__PIECE_ROWS == 0 && !went_room(watch, most - i)) return false;
        if (!is_member(watch, entity)) continue;
        const weft__chunk *chunk = weft__entity_row(watch->world, entity, &row);
        if (chunk != NULL && is_watched(watch, chunk->archetype)) continue;
        const char *value = watch->bytes == 0 ? NULL : value_of(watch, index);
        bool is_dead = chunk == NULL || (chunk->archetype->flags & WEFT__IS_RESIDUE) != 0;
        watch->members.at[index] = 0;
        notice(&watch->removed, entity, value, watch->bytes);
        if (is_dead) notice(&watch->destroyed, entity, value, watch->bytes);
    }
    return true;
}

static bool came_settle(weft__observer_watch *watch, const weft__observer_watch *all)
{
    uint32_t most = watch->came.entities.count, most_created = all == NULL ? 0 : most;
    if (!noticed_room(watch, &watch->added, most, 0) ||
        !noticed_room(watch, &watch->created, most_created, 0))
        return false;
    for (uint32_t i = 0; i < watch->came.entities.count; i++) {
        weft_entity entity = watch->came.entities.at[i];
        uint32_t index = weft_entity_index(entity);
        if (!members_room(watch, index)) return false;
        if (watch->members.at[index] == entity.version) continue;
        watch->members.at[index] = entity.version;
        if (watch->bytes != 0)
            memcpy(value_of(watch, index), watch->came.values.at->bytes + (size_t)i * watch->bytes,
                   watch->bytes);
        if (watch->component == 0) watch->born.at[index] = watch->scan;
        notice(&watch->added, entity, NULL, 0);
        if (all != NULL && is_member(all, entity) && all->born.at[index] > all->told)
            notice(&watch->created, entity, NULL, 0);
    }
    return true;
}

/* All that is known may have gone, and each row be new. */
static bool candidates_all(weft__observer_watch *watch)
{
    uint32_t tag = weft__world_desc(watch->world)->entity_tag << WEFT_ENTITY_TAG_SHIFT;
    weft__row_diff_reset(&watch->diff);
    watch->went.entities.count = 0;
    if (!noticed_room(watch, &watch->went, watch->members.count, 0)) return false;
    for (uint32_t i = 0; i < watch->members.count; i++)
        if (watch->members.at[i] != 0)
            notice(&watch->went, (weft_entity){i | tag, watch->members.at[i]}, NULL, 0);
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
    watch->came.entities.count = watch->went.entities.count = 0;
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
    watch->added.entities.count = watch->removed.entities.count = watch->changed.entities.count = 0;
    watch->created.entities.count = watch->destroyed.entities.count = 0;
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
    if (!values_room(watch, &watch->values, watch->members.count, bytes)) return false;
    weft__noticed *lists[] = {&watch->came, &watch->removed, &watch->changed, &watch->destroyed};
    for (uint32_t i = 0; i < 4; i++) lists[i]->entities.count = 0;
    if (watch->members.count != 0) /* what has gone meanwhile: its value is not known */
        memset(watch->values.at, 0, (size_t)watch->members.count * bytes);
    watch->bytes = bytes;
    watch->diff.has_values = true;
    const weft__component_list *list = weft__component_list_at(watch->world, watch->component);
    for (uint32_t i = 0; i < list->count; i++)
        values_fill(watch, weft__archetype_numbered(watch->world, list->at[i].archetype));
    return true;
}

void weft__observer_watch_fini(weft__observer_watch *watch)
{
    weft__memory *memory = memory_of(watch);
    weft__noticed *lists[] = {&watch->came,    &watch->went,    &watch->added,    &watch->removed,
                              &watch->changed, &watch->created, &watch->destroyed};
    for (uint32_t i = 0; i < sizeof lists / sizeof *lists; i++) noticed_fini(watch, lists[i]);
    weft__row_diff_fini(&watch->diff);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &watch->members);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &watch->values);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &watch->born);
}
