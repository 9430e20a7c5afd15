/* SPDX-License-Identifier: MIT */
/* observers.c: observers as users register, remove and run them. The watch of a component is shared
 * by its observers; that of all entities tells which are new. A watch that loses its last observer
 * goes. Owner, between steps. */
#include "observers.h"
#include "diagnose.h"
#include "observe_engine.h"
#include "registry.h"
#include "scheduler.h"
#include "utf8.h"

#include <stdio.h>

/* Values are as aligned as any component is. */
typedef struct value_line {
    _Alignas(64) char bytes[64];
} value_line;
/* Only its room is used. */
typedef struct value_lines {
    value_line *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
} value_lines;

/* Entities and, where values are kept, the value of each. Owner: its watch. */
typedef struct weft__noticed {
    WEFT__LIST(weft_entity) entities;
    value_lines values; /* without room: none are kept */
} weft__noticed;

/* One observed component. Owner: the scheduler's observers. Always: members[index] is the version
 * of the entity that was there, 0 if none; unless is_lost, each member is in a mirror. */
typedef struct observer_watch {
    weft_world *world;
    uint32_t component;           /* 0: all entities */
    uint32_t users;               /* observers */
    uint32_t change_users;        /* of them, those of CHANGED; 0: `changed` stays empty */
    uint32_t bytes;               /* of a value that is kept; 0: none is */
    uint32_t restores;            /* of the scheduler at the last scan */
    bool is_lost;                 /* a scan ran out of memory: neither are mirrors */
    uint64_t scan;                /* number of the last one */
    uint64_t told;                /* the last one that was told */
    WEFT__LIST(uint32_t) members; /* [index] */
    value_lines values;           /* [index]: of rows that moved; mirrors have the others */
    WEFT__LIST(uint64_t) born;    /* [index] of all entities: the scan in which it came */
    weft__row_diff diff;
    weft__noticed came, went;    /* candidates: rows that are new or gone in their place */
    WEFT__LIST(uint32_t) places; /* rows of `went`; those of a piece from piece->noted on */
    uint32_t compared;           /* pieces */
    weft__noticed added, removed, changed, created, destroyed; /* not told yet */
} observer_watch;

/* One observer. Owner: weft__observers. */
typedef struct weft__observer {
    weft_observer_desc desc; /* name is `name`; before is NULL */
    char name[WEFT__NAME_LIMIT];
    observer_watch *watch;
    weft_job_cost cost; /* of a batch */
    uint32_t id;
} weft__observer;

/* Owner: the scheduler. count <= capacity; watch_count <= watch_capacity. */
typedef struct weft__observers {
    WEFT__LIST(weft__observer *) all;     /* in the order in which they run */
    WEFT__LIST(observer_watch *) watches; /* that of all entities, where it is, is first */
    uint32_t last_id;
} weft__observers;

/* ---- what differs since the last scan ----
 *
 * Among the rows that row_diff.h lists, in three steps:
 * values that changed where the entity is still known; rows that are gone from their place, which
 * either moved or lost the component; rows that are new in their place, which either moved or got
 * it. What is found depends on the world only. */

static weft__memory *memory_of(const observer_watch *watch)
{
    return weft__world_memory(watch->world);
}

/* Room for `count` values of `bytes`. False: no memory. */
static bool values_room(const observer_watch *watch, value_lines *values, uint32_t count,
                        uint32_t bytes)
{
    size_t lines = ((size_t)count * bytes + 63) / 64;
    return WEFT__LIST_ROOM(memory_of(watch), WEFT__MEMORY_SYSTEMS, values, lines);
}

/* Room for `more` entities in a list. False: no memory. */
static bool noticed_room(const observer_watch *watch, weft__noticed *list, uint32_t more,
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

static void noticed_fini(const observer_watch *watch, weft__noticed *list)
{
    WEFT__LIST_FREE(memory_of(watch), WEFT__MEMORY_SYSTEMS, &list->entities);
    WEFT__LIST_FREE(memory_of(watch), WEFT__MEMORY_SYSTEMS, &list->values);
}

/* ---- members ---- */

/* Room for an index. False: no memory. */
static bool members_room(observer_watch *watch, uint32_t index)
{
    weft__memory *memory = memory_of(watch);
    return index < watch->members.count ||
           (values_room(watch, &watch->values, index + 1, watch->bytes) &&
            (watch->component != 0 ||
             WEFT__LIST_ROOM(memory, WEFT__MEMORY_SYSTEMS, &watch->born, (size_t)index + 1)) &&
            WEFT__LIST_REACH(memory, WEFT__MEMORY_SYSTEMS, &watch->members, index + 1));
}

static bool is_member(const observer_watch *watch, weft_entity entity)
{
    uint32_t index = weft_entity_index(entity);
    return index < watch->members.count && watch->members.at[index] == entity.version;
}

static char *value_of(const observer_watch *watch, uint32_t index)
{
    return watch->values.at->bytes + (size_t)index * watch->bytes;
}

static bool is_watched(const observer_watch *watch, const weft__archetype *archetype)
{
    if ((archetype->flags & watch->diff.without) != 0) return false;
    return watch->component == 0 || weft__archetype_find(archetype, watch->component) != WEFT__NONE;
}

/* ---- rows ---- */

static bool is_same(weft_entity a, weft_entity b)
{
    return memcmp(&a, &b, sizeof a) == 0; /* one comparison of 8 bytes */
}

static char *mirrored(const observer_watch *watch, const weft__mirror *mirror, uint32_t row)
{
    return (char *)mirror->values + (size_t)row * watch->bytes;
}

/* The first row of [row, end) whose entity is not that of the mirror; `end`: none. */
static uint32_t other_row(const weft_entity *rows, const weft__mirror *mirror, uint32_t row,
                          uint32_t end)
{
    while (end - row >= WEFT__ROWS_AT_ONCE && weft__rows_are_same(rows + row, mirror->rows + row))
        row += WEFT__ROWS_AT_ONCE;
    while (row < end && is_same(rows[row], mirror->rows[row])) row++;
    return row;
}

/* Values that entities had. */
static void values_keep(observer_watch *watch, const weft_entity *entities, const char *values,
                        uint32_t count)
{
    for (uint32_t i = 0; watch->bytes != 0 && i < count; i++)
        if (is_member(watch, entities[i]))
            memcpy(value_of(watch, weft_entity_index(entities[i])),
                   values + (size_t)i * watch->bytes, watch->bytes);
}

/* Rows of the mirror that are not where they were. */
static bool rows_went(observer_watch *watch, weft__row_piece *piece)
{
    const weft__mirror *mirror = piece->mirror;
    const weft_entity *rows = piece->chunk == NULL ? NULL : weft__chunk_entities(piece->chunk);
    uint32_t now = piece->chunk == NULL ? 0 : piece->chunk->count;
    uint32_t end = piece->end < mirror->count ? piece->end : mirror->count;
    uint32_t both = end < now ? end : now;
    piece->noted = watch->went.entities.count;
    if (!piece->has_other_rows || piece->first >= end) return true;
    if (!noticed_room(watch, &watch->went, end - piece->first, watch->bytes) ||
        !WEFT__LIST_ROOM(memory_of(watch), WEFT__MEMORY_SYSTEMS, &watch->places,
                         (size_t)piece->noted + end - piece->first))
        return false;
    for (uint32_t row = piece->first; row < end; row++) {
        if (row < both) row = other_row(rows, mirror, row, both);
        if (row == end) break;
        watch->places.at[watch->went.entities.count] = row;
        const char *known = mirrored(watch, mirror, row);
        notice(&watch->went, mirror->rows[row], known, watch->bytes);
        if (watch->change_users != 0) values_keep(watch, mirror->rows + row, known, 1);
    }
    return true;
}

/* Values of rows [row, end), whose entities are as mirrored, against what they were. The lists have
 * room. */
static void values_compare(observer_watch *watch, const weft__row_piece *piece, const char *now,
                           uint32_t row, uint32_t end)
{
    const weft_entity *rows = piece->mirror->rows;
    size_t bytes = watch->bytes;
    for (uint32_t next; row < end; row = next) {
        next = end - row < WEFT__ROWS_AT_ONCE || watch->change_users == 0
                   ? end
                   : row + WEFT__ROWS_AT_ONCE;
        char *known = mirrored(watch, piece->mirror, row);
        if (watch->change_users != 0 && memcmp(known, now + row * bytes, (next - row) * bytes) == 0)
            continue;
        for (uint32_t i = row; watch->change_users != 0 && i < next; i++)
            if (memcmp(known + (i - row) * bytes, now + i * bytes, bytes) != 0)
                notice(&watch->changed, rows[i], known + (i - row) * bytes, watch->bytes);
        memcpy(known, now + row * bytes, (next - row) * bytes);
    }
}

/* A row that is new in its place. */
static void row_came(observer_watch *watch, const weft__mirror *mirror, uint32_t row,
                     weft_entity entity, const char *value)
{
    bool has_moved = watch->change_users != 0 && is_member(watch, entity);
    const char *known = has_moved ? value_of(watch, weft_entity_index(entity)) : NULL;
    if (has_moved && memcmp(known, value, watch->bytes) != 0)
        notice(&watch->changed, entity, known, watch->bytes);
    notice(&watch->came, entity, NULL, 0);
    mirror->rows[row] = entity;
    if (watch->bytes != 0) memcpy(mirrored(watch, mirror, row), value, watch->bytes);
}

/* The rows of a piece that are there against the mirror, which becomes current. Up to `noted_end`
 * in the list are the rows that went. */
static bool piece_compare(observer_watch *watch, const weft__row_piece *piece, uint32_t noted_end)
{
    const weft__chunk *chunk = piece->chunk;
    const weft__mirror *mirror = piece->mirror;
    uint32_t now = chunk == NULL ? 0 : chunk->count, end = piece->end < now ? piece->end : now;
    uint32_t row = piece->first, noted = piece->noted;
    uint32_t both = piece->has_other_rows && mirror->count < end ? mirror->count : end;
    if (row >= end) return true;
    const weft_entity *rows = weft__chunk_entities(chunk);
    const char *values = watch->bytes == 0 ? NULL : weft__chunk_column(chunk, piece->place.column);
    if (!noticed_room(watch, &watch->came, piece->has_other_rows ? end - row : 0, 0) ||
        (watch->change_users != 0 &&
         !noticed_room(watch, &watch->changed, end - row, watch->bytes)))
        return false;
    for (; row < end; row++) {
        uint32_t other = noted < noted_end ? watch->places.at[noted++] : both;
        other = other < both ? other : both > row ? both : row;
        if (values != NULL) values_compare(watch, piece, values, row, other);
        row = other;
        if (row < end)
            row_came(watch, mirror, row, rows[row],
                     values == NULL ? NULL : values + (size_t)row * watch->bytes);
    }
    return true;
}

/* ---- from rows to entities ---- */

/* Room for the next of `left` rows that are gone. False: no memory. */
static bool went_room(observer_watch *watch, uint32_t left)
{
    uint32_t next = left < WEFT__PIECE_ROWS ? left : WEFT__PIECE_ROWS;
    return noticed_room(watch, &watch->removed, next, watch->bytes) &&
           noticed_room(watch, &watch->destroyed, next, watch->bytes);
}

/* Rows that are gone: entities that have the component elsewhere have only moved. */
static bool went_settle(observer_watch *watch)
{
    for (uint32_t i = 0, most = watch->went.entities.count; i < most; i++) {
        weft_entity entity = watch->went.entities.at[i];
        uint32_t row;
        if (i % WEFT__PIECE_ROWS == 0 && !went_room(watch, most - i)) return false;
        if (!is_member(watch, entity)) continue;
        const weft__chunk *chunk = weft__entity_row(watch->world, entity, &row);
        if (chunk != NULL && is_watched(watch, chunk->archetype)) continue;
        const char *value =
            watch->bytes == 0 ? NULL : watch->went.values.at->bytes + (size_t)i * watch->bytes;
        bool is_dead = chunk == NULL || (chunk->archetype->flags & WEFT__IS_RESIDUE) != 0;
        watch->members.at[weft_entity_index(entity)] = 0;
        notice(&watch->removed, entity, value, watch->bytes);
        if (is_dead) notice(&watch->destroyed, entity, value, watch->bytes);
    }
    return true;
}

static bool came_settle(observer_watch *watch, const observer_watch *all)
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
        if (watch->component == 0) watch->born.at[index] = watch->scan;
        notice(&watch->added, entity, NULL, 0);
        if (all != NULL && is_member(all, entity) && all->born.at[index] > all->told)
            notice(&watch->created, entity, NULL, 0);
    }
    return true;
}

/* All that is known may have gone, and each row be new. */
static bool candidates_all(observer_watch *watch)
{
    uint32_t tag = weft__world_desc(watch->world)->entity_tag << WEFT_ENTITY_TAG_SHIFT;
    weft__row_diff_reset(&watch->diff);
    watch->went.entities.count = 0;
    if (!noticed_room(watch, &watch->went, watch->members.count, watch->bytes)) return false;
    for (uint32_t i = 0; i < watch->members.count; i++)
        if (watch->members.at[i] != 0)
            notice(&watch->went, (weft_entity){i | tag, watch->members.at[i]},
                   watch->bytes == 0 ? NULL : value_of(watch, i), watch->bytes);
    return true;
}

/* What went first: a row that came may have the value that its entity had elsewhere. */
static bool rows_scan(observer_watch *watch)
{
    if (!weft__row_diff_look(&watch->diff)) return false;
    weft__row_piece *pieces = watch->diff.pieces.at;
    uint32_t count = watch->diff.pieces.count;
    for (uint32_t i = 0; i < count; i++)
        if (!rows_went(watch, &pieces[i])) return false;
    for (uint32_t i = 0; i < count; watch->compared = ++i)
        if (!piece_compare(watch, &pieces[i],
                           i + 1 < count ? pieces[i + 1].noted : watch->went.entities.count))
            return false;
    return true;
}

/* Values of all members where mirrors are not needed, before mirrors are forgotten: of those that
 * went, of those that stayed, then of those that were compared: what is told of them was noted. */
static void values_rescue(observer_watch *watch)
{
    const weft__row_diff *diff = &watch->diff;
    const weft__noticed *went = &watch->went;
    if (watch->bytes == 0) return;
    if (went->entities.count != 0)
        values_keep(watch, went->entities.at, went->values.at->bytes, went->entities.count);
    for (uint32_t i = 0; i < diff->mirrors.count + diff->gone.count; i++) {
        const weft__mirror *mirror =
            i < diff->mirrors.count ? diff->mirrors.at[i] : diff->gone.at[i - diff->mirrors.count];
        if (mirror != NULL) values_keep(watch, mirror->rows, mirror->values, mirror->count);
    }
    for (uint32_t i = 0; i < watch->compared; i++) {
        const weft__row_piece *piece = &diff->pieces.at[i];
        uint32_t now = piece->chunk == NULL ? 0 : piece->chunk->count;
        uint32_t end = piece->end < now ? piece->end : now;
        if (piece->first < end)
            values_keep(watch, piece->mirror->rows + piece->first,
                        mirrored(watch, piece->mirror, piece->first), end - piece->first);
    }
}

/* What is new in the rows, then of whom. `all`: of all entities, scanned; or NULL. False: no
 * memory. */
static bool observer_watch_scan(observer_watch *watch, const observer_watch *all)
{
    watch->scan++;
    watch->came.entities.count = watch->went.entities.count = watch->compared = 0;
    const uint32_t restores = weft__scheduler_of(watch->world)->restores;
    if (watch->restores != restores) watch->diff.seen = 0;
    watch->restores = restores;
    bool is_done = (!watch->is_lost || candidates_all(watch)) && rows_scan(watch) &&
                   went_settle(watch) && came_settle(watch, all);
    if (is_done)
        weft__row_diff_seen(&watch->diff, false);
    else
        values_rescue(watch);
    watch->is_lost = !is_done;
    return is_done;
}

static void observer_watch_told(observer_watch *watch)
{
    watch->told = watch->scan;
    watch->added.entities.count = watch->removed.entities.count = watch->changed.entities.count = 0;
    watch->created.entities.count = watch->destroyed.entities.count = 0;
}

/* Values of rows that are known. */
static void values_fill(observer_watch *watch, const weft__archetype *archetype)
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

static bool observer_watch_keep(observer_watch *watch, uint32_t bytes)
{
    weft__row_diff *diff = &watch->diff;
    if (watch->bytes == bytes) return true;
    if (!values_room(watch, &watch->values, watch->members.count, bytes) ||
        !weft__row_diff_widen(diff, bytes))
        return false;
    weft__noticed *lists[] = {&watch->went, &watch->removed, &watch->changed, &watch->destroyed};
    for (uint32_t i = 0; i < 4; i++) lists[i]->entities.count = 0;
    if (watch->members.count != 0) /* what has gone meanwhile: its value is not known */
        memset(watch->values.at, 0, (size_t)watch->members.count * bytes);
    watch->bytes = bytes;
    diff->has_values = true;
    const weft__component_list *list = weft__component_list_at(watch->world, watch->component);
    for (uint32_t i = 0; i < list->count; i++)
        values_fill(watch, weft__archetype_numbered(watch->world, list->at[i].archetype));
    for (uint32_t i = 0; i < diff->mirrors.count; i++) {
        const weft__mirror *mirror = diff->mirrors.at[i];
        for (uint32_t row = 0; mirror != NULL && row < mirror->count; row++)
            if (is_member(watch, mirror->rows[row]))
                memcpy(mirrored(watch, mirror, row),
                       value_of(watch, weft_entity_index(mirror->rows[row])), bytes);
    }
    return true;
}

static void observer_watch_fini(observer_watch *watch)
{
    weft__memory *memory = memory_of(watch);
    weft__noticed *lists[] = {&watch->came,    &watch->went,    &watch->added,    &watch->removed,
                              &watch->changed, &watch->created, &watch->destroyed};
    for (uint32_t i = 0; i < sizeof lists / sizeof *lists; i++) noticed_fini(watch, lists[i]);
    weft__row_diff_fini(&watch->diff);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &watch->places);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &watch->members);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &watch->values);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &watch->born);
}

/* ---- rounds ----
 *
 * What differs is found, each observer is called with its part, then what
 * they recorded is played, in the order (observer, batch). The recorders are those of the systems,
 * which are empty at a sync point. While observers are called the world is only read. */

/* Calls of one observer. Lives on the owner's stack. */
typedef struct calling {
    weft__scheduler *scheduler;
    weft__observer *observer;
    const weft__noticed *noticed;
    uint32_t position;
} calling;

static const weft__noticed *noticed_of(const weft__observer *observer)
{
    const observer_watch *watch = observer->watch;
    bool is_any = watch->component == 0;
    switch ((weft_observer_event)observer->desc.on) {
    case WEFT_ON_ADDED:
        return &watch->added;
    case WEFT_ON_REMOVED:
        return &watch->removed;
    case WEFT_ON_CHANGED:
        return &watch->changed;
    case WEFT_ON_CREATED:
        return is_any ? &watch->added : &watch->created;
    case WEFT_ON_DESTROYED:
    default:
        return is_any ? &watch->removed : &watch->destroyed;
    }
}

/* Entities [begin, end) as batch `number`. */
static void call(const calling *c, uint32_t worker, uint32_t number, uint32_t begin, uint32_t end)
{
    const observer_watch *watch = c->observer->watch;
    const value_line *values = c->noticed->values.at;
    weft_recorder *commands = c->scheduler->recorders[worker];
    weft__recorder_key(commands, (uint64_t)c->position << 32 | number);
    weft_observation observation = {
        .world = watch->world,
        .commands = commands,
        .component = c->observer->desc.component,
        .event = c->observer->desc.on,
        .count = end - begin,
        .entities = c->noticed->entities.at + begin,
        .values = values == NULL ? NULL : values->bytes + (size_t)begin * watch->bytes};
    const weft__observing observing = {c->scheduler, c->observer->name, worker, number};
    const weft__observing *before = WEFT_IS_CHECKED ? weft__diagnose_observe(&observing) : NULL;
    c->observer->desc.run(&observation, c->observer->desc.user);
    weft__recorder_key(commands, UINT64_MAX); /* what comes late is of no observer or system */
    if (!WEFT_IS_CHECKED) return;
    weft__diagnose_observe(before);
    commands->is_closed = true;
}

static int call_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const calling *c = argument;
    uint32_t worker = job == NULL ? 0 : weft_job_worker_index(job);
    const uint32_t none = 0; /* errors of several threads are not kept */
    weft__callback_error error = {.world = c->scheduler->world, .current = &none};
    weft__callback_error *before = weft__error_divert(&error);
    for (uint32_t i = begin; i < end; i++) {
        uint32_t first = i * WEFT__OBSERVER_BATCH, last = first + WEFT__OBSERVER_BATCH;
        call(c, worker, i, first,
             last < c->noticed->entities.count ? last : c->noticed->entities.count);
    }
    weft__error_divert(before);
    return 0;
}

static bool is_serial(const weft__scheduler *scheduler)
{
    return scheduler->worker_count == 1 || scheduler->options.without_parallel;
}

static void call_all(calling *c)
{
    uint32_t count = c->noticed->entities.count;
    if (!c->observer->desc.is_parallel) {
        call(c, 0, 0, 0, count);
        return;
    }
    uint32_t batches = (count - 1) / WEFT__OBSERVER_BATCH + 1;
    weft_job_for_desc desc = {.fn = call_part,
                              .argument = c,
                              .count = batches,
                              .cost = &c->observer->cost,
                              .name = c->observer->name};
    weft_job_context *job = weft__front(c->scheduler->world)->host.context;
    bool is_alone = is_serial(c->scheduler) || batches == 1;
    if (is_alone || weft_job_for(job, &desc, NULL) != WEFT_OK) /* refused: nothing was run */
        call_part(NULL, c, 0, batches);
}

/* ---- one round ---- */

static weft_result scan(const weft__scheduler *scheduler, bool *is_news)
{
    weft__observers *observers = scheduler->observers;
    const observer_watch *all = NULL;
    bool is_done = true;
    for (uint32_t i = 0; is_done && i < observers->watches.count; i++) {
        observer_watch *watch = observers->watches.at[i];
        is_done = observer_watch_scan(watch, all);
        if (watch->component == 0) all = watch;
    }
    *is_news = false;
    for (uint32_t i = 0; i < observers->all.count; i++)
        *is_news = *is_news || noticed_of(observers->all.at[i])->entities.count != 0;
    if (is_done) return WEFT_OK;
    return weft__error(scheduler->world, WEFT_OUT_OF_MEMORY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "observers: out of memory; what was found is told by the next run: free "
                       "memory and try again");
}

static uint64_t recorded(const weft__scheduler *scheduler)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const weft_recorder *commands = scheduler->recorders[i];
        count += commands->segment_count + (commands->failure.code != WEFT_OK);
    }
    return count;
}

/* Calls all observers; *first: the first that recorded, or NULL. The error of one that left a loop
 * open. */
static weft_result call_round(weft__scheduler *scheduler, const weft__observer **first)
{
    weft_result result = WEFT_OK;
    weft__observers *observers = scheduler->observers;
    weft__world_front *front = weft__front(scheduler->world);
    uint32_t busy = front->busy;
    front->busy = WEFT__BUSY_OBSERVERS;
    *first = NULL;
    for (uint32_t i = 0; i < observers->all.count; i++) {
        calling c = {scheduler, observers->all.at[i], noticed_of(observers->all.at[i]), i};
        if (c.noticed->entities.count == 0) continue;
        call_all(&c);
        weft_result left = weft__left_loops_end(scheduler, "observer", c.observer->name);
        if (result == WEFT_OK) result = left;
        if (*first == NULL && recorded(scheduler) != 0) *first = observers->all.at[i];
    }
    front->busy = busy;
    return result;
}

static void told(const weft__observers *observers)
{
    for (uint32_t i = 0; i < observers->watches.count; i++)
        observer_watch_told(observers->watches.at[i]);
}

/* The name behind the key of a command, for errors. `user`: the scheduler. */
static const char *observer_name(const void *user, uint64_t key)
{
    const weft__scheduler *scheduler = user;
    uint32_t position = (uint32_t)(key >> 32);
    return position < scheduler->observers->all.count ? scheduler->observers->all.at[position]->name
                                                      : NULL;
}

static weft_result play(weft__scheduler *scheduler)
{
    weft_world *world = scheduler->world;
    weft_job_context *job = is_serial(scheduler) ? NULL : weft__front(world)->host.context;
    weft__playback_result played;
    weft__playback_desc desc = {.world = world,
                                .job = job,
                                .recorders = scheduler->recorders,
                                .count = scheduler->worker_count,
                                .name = observer_name,
                                .user = scheduler};
    weft_result result = weft__playback_run(&desc, &played);
    scheduler->stats.commands += played.commands;
    scheduler->stats.commands_skipped += played.skipped;
    if (result == WEFT_OK && weft__relations_any(world))
        result = weft__relations_settle_all(world, job, false);
    return result;
}

static weft_result cycle_error(const weft__scheduler *scheduler, const weft__observer *const *chain)
{
    char text[WEFT__OBSERVER_ROUNDS * 31 + 1]; /* long names are cut: all rounds are named */
    size_t used = 0;
    for (uint32_t i = 0; i < WEFT__OBSERVER_ROUNDS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.28s", i == 0 ? "" : " > ",
                                 chain[i]->name);
    return weft__error(scheduler->world, WEFT_CYCLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "observers still find changes after %u rounds: %s: let one of them record "
                       "only what is not yet so",
                       WEFT__OBSERVER_ROUNDS, text);
}

weft_result weft__observers_play(weft__scheduler *scheduler)
{
    weft__observers *observers = scheduler->observers;
    const weft__observer *chain[WEFT__OBSERVER_ROUNDS];
    weft_result left = WEFT_OK;
    for (uint32_t round = 0;; round++) {
        bool is_news;
        weft_result result = scan(scheduler, &is_news);
        if (result != WEFT_OK) return result;
        bool is_over = round == WEFT__OBSERVER_ROUNDS;
        if (is_news && !is_over) result = call_round(scheduler, &chain[round]);
        if (left == WEFT_OK) left = result;
        told(observers);
        if (!is_news) return left;
        if (is_over) return cycle_error(scheduler, chain);
        if (chain[round] == NULL) return left; /* nothing was recorded: nothing changes */
        result = play(scheduler);
        if (result != WEFT_OK) return result;
    }
}

/* Elements of the array in weft_schedule_json, in the order in which they run. */
static void observers_json(weft__text *t, const weft__scheduler *scheduler)
{
    static const char *const words[] = {"", "added", "removed", "changed", "created", "destroyed"};
    const weft__observers *observers = scheduler->observers;
    for (uint32_t i = 0; i < observers->all.count; i++) {
        const weft_observer_desc *desc = &observers->all.at[i]->desc;
        const weft_component_desc *info = weft_component_info(scheduler->world, desc->component);
        weft__text_add(t, "%s\n    {\"name\": ", i == 0 ? "" : ",");
        weft__text_add_quoted(t, desc->name);
        weft__text_add(t, ", \"on\": \"%s\", \"component\": ", words[desc->on]);
        weft__text_add_quoted(t, info == NULL ? "" : info->name);
        weft__text_add(t, ", \"is_parallel\": %s}", desc->is_parallel ? "true" : "false");
    }
}

static void observers_free(weft__scheduler *scheduler)
{
    weft__observers *observers = scheduler->observers;
    weft__memory *memory = scheduler->memory;
    if (observers == NULL) return;
    for (uint32_t i = 0; i < observers->all.count; i++)
        WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, observers->all.at[i], 1);
    for (uint32_t i = 0; i < observers->watches.count; i++) {
        observer_watch_fini(observers->watches.at[i]);
        WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, observers->watches.at[i], 1);
    }
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &observers->all);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &observers->watches);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, observers, 1);
    scheduler->observers = NULL;
}

/* ---- registering and running ----
 *
 * The watch of a component is shared by its
 * observers; that of all entities tells which are new. A watch that loses its last observer goes.
 * Owner, between steps. */

#define WHAT "weft_observer_create"

static uint32_t position_of(const weft__observers *observers, const char *name)
{
    uint32_t i = 0;
    while (i < observers->all.count && strcmp(observers->all.at[i]->name, name) != 0) i++;
    return i;
}

/* ---- checks ---- */

static bool has_old_values(uint32_t event)
{
    return event == WEFT_ON_REMOVED || event == WEFT_ON_CHANGED || event == WEFT_ON_DESTROYED;
}

/* Whether it is about entities, not about one of their components. */
static bool is_of_any(const weft_observer_desc *desc)
{
    return desc->component.id == 0 && desc->component.world == 0;
}

static weft_result component_check(const weft_world *world, const weft_observer_desc *desc)
{
    const uint32_t refused = WEFT_RESOURCE | WEFT_SHARED | WEFT_BUFFER | WEFT_CHUNK | WEFT_SPARSE;
    if (is_of_any(desc)) {
        if (desc->on == WEFT_ON_CREATED || desc->on == WEFT_ON_DESTROYED) return WEFT_OK;
        return weft__error_argument(world, WHAT,
                                    "the component is null: name one, or observe CREATED or "
                                    "DESTROYED of any entity");
    }
    const weft__type *type = weft__type_find(world, desc->component);
    if (type == NULL) return weft__error_component(world, desc->component);
    if ((type->desc.flags & refused) != 0)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, desc->component,
                           WHAT ": component \"%s\" is a RESOURCE, SHARED, a BUFFER, a CHUNK value "
                                "or SPARSE, which are not observed: add a tag with it, and observe "
                                "that",
                           type->desc.name);
    if (desc->on == WEFT_ON_CHANGED && type->value_bytes == 0)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, desc->component,
                           WHAT ": component \"%s\" is a tag, whose value does not change: observe "
                                "ADDED or REMOVED",
                           type->desc.name);
    if (has_old_values(desc->on) && type->needs_destruct)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, desc->component,
                           WHAT ": component \"%s\" has a destruct hook, so its last values cannot "
                                "be kept: observe a tag that comes and goes with it",
                           type->desc.name);
    return WEFT_OK;
}

static weft_result desc_check(const weft_world *world, const weft_observer_desc *desc)
{
    if (desc == NULL) return weft__error_argument(world, WHAT, "the description is NULL");
    if (!weft__name_fits(desc->name, WEFT__NAME_LIMIT - 1))
        return weft__error_argument(world, WHAT, "the name must have 1 to 63 bytes of UTF-8");
    if (desc->run == NULL) return weft__error_argument(world, WHAT, "run is NULL: give a function");
    if (desc->on < WEFT_ON_ADDED || desc->on > WEFT_ON_DESTROYED)
        return weft__error_argument(world, WHAT, "`on` is no weft_observer_event: say what to see");
    return component_check(world, desc);
}

static weft_result place_check(const weft_world *world, const weft__observers *observers,
                               const weft_observer_desc *desc)
{
    if (position_of(observers, desc->name) != observers->all.count)
        return weft__error(world, WEFT_ALREADY_EXISTS, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           WHAT ": there is an observer \"%s\": use another name", desc->name);
    if (desc->before != NULL && position_of(observers, desc->before) == observers->all.count)
        return weft__error(world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           WHAT ": there is no observer \"%s\" (before): register it first",
                           desc->before);
    return WEFT_OK;
}

/* ---- watches ---- */

static void watch_release(weft__scheduler *scheduler, observer_watch *watch)
{
    weft__observers *observers = scheduler->observers;
    uint32_t i = 0;
    if (--watch->users != 0) return;
    while (observers->watches.at[i] != watch) i++;
    observers->watches.count--;
    memmove(observers->watches.at + i, observers->watches.at + i + 1,
            (observers->watches.count - i) * sizeof observers->watches.at[0]);
    observer_watch_fini(watch);
    WEFT__FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, watch, 1);
}

/* The watch of a component (0: all entities), with one user more. NULL: no memory. */
static observer_watch *watch_obtain(weft__scheduler *scheduler, uint32_t component)
{
    weft__observers *observers = scheduler->observers;
    for (uint32_t i = 0; i < observers->watches.count; i++)
        if (observers->watches.at[i]->component == component) {
            observers->watches.at[i]->users++;
            return observers->watches.at[i];
        }
    if (!WEFT__LIST_ROOM(scheduler->memory, WEFT__MEMORY_SYSTEMS, &observers->watches,
                         observers->watches.count + 1))
        return NULL;
    observer_watch *watch = WEFT__NEW_ZEROED(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1, *watch);
    if (watch == NULL) return NULL;
    *watch = (observer_watch){.world = scheduler->world, .component = component, .users = 1};
    watch->diff =
        (weft__row_diff){.world = scheduler->world,
                         .category = WEFT__MEMORY_SYSTEMS,
                         .component = component,
                         .without = WEFT__IS_PREFAB | WEFT__IS_STAND_IN |
                                    (component != 0 ? 0 : WEFT__IS_RESIDUE | WEFT__IS_SPARSE)};
    uint32_t at = component == 0 ? 0 : observers->watches.count; /* scanned before the others */
    memmove(observers->watches.at + at + 1, observers->watches.at + at,
            (observers->watches.count - at) * sizeof observers->watches.at[0]);
    observers->watches.at[at] = watch;
    observers->watches.count++;
    bool is_done = observer_watch_scan(watch, NULL);
    observer_watch_told(watch); /* what is there is not news */
    if (is_done) return watch;
    watch_release(scheduler, watch);
    return NULL;
}

/* The watches of an observer: of its component, and for CREATED of all entities. */
static observer_watch *watches_obtain(weft__scheduler *scheduler, const weft_observer_desc *desc)
{
    uint32_t component = is_of_any(desc) ? 0 : desc->component.id;
    observer_watch *all = NULL;
    if (desc->on == WEFT_ON_CREATED && component != 0) {
        all = watch_obtain(scheduler, 0);
        if (all == NULL) return NULL;
    }
    observer_watch *watch = watch_obtain(scheduler, component);
    bool keeps = component != 0 && has_old_values(desc->on);
    uint32_t bytes = keeps ? weft__type_find(scheduler->world, desc->component)->value_bytes : 0;
    if (watch != NULL && (!keeps || observer_watch_keep(watch, bytes))) return watch;
    if (watch != NULL) watch_release(scheduler, watch);
    if (all != NULL) watch_release(scheduler, all);
    return NULL;
}

static void watches_release(weft__scheduler *scheduler, const weft__observer *observer)
{
    bool has_all = observer->desc.on == WEFT_ON_CREATED && observer->watch->component != 0;
    for (uint32_t i = 0; has_all && i < scheduler->observers->watches.count; i++)
        if (scheduler->observers->watches.at[i]->component == 0) {
            watch_release(scheduler, scheduler->observers->watches.at[i]);
            break;
        }
    watch_release(scheduler, observer->watch);
}

/* ---- public ---- */

static weft__observer *observer_make(weft__scheduler *scheduler, const weft_observer_desc *desc)
{
    weft__observers *observers = scheduler->observers;
    if (!WEFT__LIST_ROOM(scheduler->memory, WEFT__MEMORY_SYSTEMS, &observers->all,
                         observers->all.count + 1))
        return NULL;
    weft__observer *observer =
        WEFT__NEW_ZEROED(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1, *observer);
    if (observer == NULL) return NULL;
    observer->desc = *desc;
    memcpy(observer->name, desc->name, strlen(desc->name) + 1);
    observer->watch = watches_obtain(scheduler, desc);
    if (observer->watch != NULL) {
        observer->watch->change_users += desc->on == WEFT_ON_CHANGED;
        return observer;
    }
    WEFT__FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, observer, 1);
    return NULL;
}

weft_observer weft_observer_create(weft_world *world, const weft_observer_desc *desc)
{
    const weft_observer none = {0, 0};
    if (world == NULL || weft__between_steps(world, WHAT) != WEFT_OK ||
        desc_check(world, desc) != WEFT_OK)
        return none;
    weft__scheduler *scheduler = weft__scheduler_obtain(world);
    if (scheduler == NULL) return none;
    if (scheduler->observers == NULL)
        scheduler->observers =
            WEFT__NEW_ZEROED(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1, weft__observers);
    scheduler->observers_free = observers_free;
    scheduler->observers_json = observers_json;
    weft__observers *observers = scheduler->observers;
    if (observers != NULL && place_check(world, observers, desc) != WEFT_OK) return none;
    weft__observer *observer = observers == NULL ? NULL : observer_make(scheduler, desc);
    if (observer == NULL) {
        weft__error_memory(world, WHAT);
        return none;
    }
    uint32_t at =
        desc->before == NULL ? observers->all.count : position_of(observers, desc->before);
    memmove(observers->all.at + at + 1, observers->all.at + at,
            (observers->all.count - at) * sizeof observers->all.at[0]);
    observers->all.at[at] = observer;
    observers->all.count++;
    observer->desc.name = observer->name;
    observer->desc.before = NULL;
    observer->id = ++observers->last_id;
    return (weft_observer){observer->id, weft__front(world)->number};
}

weft_result weft_observer_destroy(weft_world *world, weft_observer handle)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_observer_destroy");
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_of(world);
    weft__observers *observers = scheduler == NULL ? NULL : scheduler->observers;
    uint32_t i = 0, count = observers == NULL ? 0 : observers->all.count;
    while (i < count && observers->all.at[i]->id != handle.id) i++;
    if (i == count || handle.world != weft__front(world)->number)
        return weft__error(world, WEFT_BAD_HANDLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_observer_destroy: the observer does not exist in this world: use "
                           "what weft_observer_create returned, once");
    weft__observer *observer = observers->all.at[i];
    observer->watch->change_users -= observer->desc.on == WEFT_ON_CHANGED;
    watches_release(scheduler, observer);
    observers->all.count--;
    memmove(observers->all.at + i, observers->all.at + i + 1,
            (observers->all.count - i) * sizeof observers->all.at[0]);
    WEFT__FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, observer, 1);
    return WEFT_OK;
}

bool weft__observers_any(const weft_world *world)
{
    const weft__scheduler *scheduler = weft__scheduler_of(world);
    return scheduler != NULL && scheduler->observers != NULL &&
           scheduler->observers->all.count != 0;
}

/* Takes back what is in a list from `count` on. `all`: it is of entities that are not new. */
static void unnotice(const observer_watch *all, weft__noticed *list, uint32_t count)
{
    for (uint32_t i = count; all != NULL && i < list->entities.count; i++)
        all->born.at[weft_entity_index(list->entities.at[i])] = 0;
    list->entities.count = count;
}

weft_result weft__observers_pass(const weft_world *world, weft_component spared)
{
    const weft__observers *observers = weft__scheduler_of(world)->observers;
    weft_result result = WEFT_OK;
    const observer_watch *all = NULL;
    for (uint32_t i = 0; i < observers->watches.count; i++) {
        observer_watch *watch = observers->watches.at[i];
        weft__noticed *lists[] = {&watch->removed, &watch->changed, &watch->created,
                                  &watch->destroyed, &watch->added};
        uint32_t counts[5];
        for (uint32_t k = 0; k < 5; k++) counts[k] = lists[k]->entities.count;
        if (!observer_watch_scan(watch, all))
            result = weft__error_memory(world, "what observers know of rows that moved");
        if (watch->component == 0) all = watch;
        for (uint32_t k = 0; k < 5 && watch->component != spared.id; k++)
            unnotice(k == 4 && all == watch ? watch : NULL, lists[k], counts[k]);
    }
    return result;
}

static weft_result run_observers(weft_world *world)
{
    weft_result result = weft__between_steps(world, "weft_observers_run");
    if (result == WEFT_OK) result = weft_relation_settle(world);
    if (result != WEFT_OK && result != WEFT_CYCLE) return result; /* a cycle was cut */
    weft__scheduler *scheduler = weft__scheduler_of(world);
    if (scheduler == NULL || scheduler->observers == NULL) return result;
    weft_result played = weft__observers_play(scheduler);
    weft_result refused = WEFT_IS_CHECKED ? weft__violations_tell(scheduler) : WEFT_OK;
    if (played == WEFT_OK) played = refused;
    return result == WEFT_OK ? played : result;
}

weft_result weft_observers_run(weft_world *world)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__host_begin(world, "weft_observers_run");
    if (result != WEFT_OK) return result;
    result = run_observers(world);
    weft__host_end(world);
    return result;
}
