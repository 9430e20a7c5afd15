/* SPDX-License-Identifier: MIT */
/* bench_playback.c: structural changes recorded by jobs, and snapshots.
 *
 *   playback.add    a system adds a 4-byte component to each of 1 M entities (two 12-byte
 *                   components); the whole step
 *   playback.frame  a frame of two systems over the same entities: the first adds the component to
 *                   each, with or without a value, the second removes it after the sync point; per
 *                   entity. Threads are not pinned: this is what a program gets
 *   playback.storm  1 M entities of three 12-byte components created in jobs in one step, destroyed
 *                   one by one in the next; per entity, both steps together
 *   rollback        a snapshot of 1 M such entities after 1 % of the slices changed; the peer is a
 *                   full copy
 *   snapshot.restore  such a world put back after nothing, 1 % of its slices, or all changed, or
 *                   100 entities went and came; the peer copies the bytes of all values
 */
#include "bench.h"

#include <weft/snapshot.h>
#include <weft/weft.h>

#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 1000000, STORM_PART = 20000 };

/* Owner: the benchmark. */
typedef struct changes {
    weft_world *world;
    weft_component a, b, c, added;
    bool with_values;
    weft_archetype spawned;
    weft_query all;
    weft_system recorder;
} changes;

static void record_add(weft_slice *s, void *user)
{
    const changes *data = user;
    weft_recorder *commands = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < s->count; i++) weft_recorder_add(commands, entities[i], data->added);
}

static bool changes_make(changes *data, uint32_t workers)
{
    memset(data, 0, sizeof *data);
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &data->world) != WEFT_OK)
        return false;
    data->a = weft_component_create_plain(data->world, "a", 12, 4, 0);
    data->b = weft_component_create_plain(data->world, "b", 12, 4, 0);
    data->c = weft_component_create_plain(data->world, "c", 12, 4, 0);
    data->added = weft_component_create_plain(data->world, "added", 4, 4, 0);
    return data->added.id != 0;
}

static bool adds_make(changes *data, uint32_t workers)
{
    if (!changes_make(data, workers)) return false;
    data->recorder = weft_system_create(
        data->world,
        &(weft_system_desc){.name = "add",
                            .run = record_add,
                            .user = data,
                            .effects = WEFT_RECORDS_ADD,
                            .records = {data->added},
                            .over.rows.terms = {{data->a, WEFT_READ, WEFT_ALL, 0},
                                                {data->added, WEFT_NO_ACCESS, WEFT_ABSENT, 0}}});
    return weft_entity_create_many(
               data->world,
               weft_archetype_create(data->world, (weft_component[]){data->a, data->b}, 2),
               ENTITIES, NULL) == WEFT_OK &&
           data->recorder.id != 0;
}

/* Back to entities without the component, in fresh chunks of the first archetype. */
static void adds_prepare(void *user)
{
    changes *data = user;
    weft_query with = weft_query_create(
        data->world, &(weft_query_desc){.terms = {{data->added, WEFT_READ, WEFT_ALL, 0}}});
    weft_query_remove(data->world, with, data->added);
    weft_query_destroy(data->world, with);
}

static void step(void *user)
{
    changes *data = user;
    weft_world_step(data->world, 0.01f);
}

static void playback_add(weft_bench *bench)
{
    changes one, two;
    if (adds_make(&one, 1) && adds_make(&two, 2))
        weft_bench_run(bench, &(weft_bench_measure){.name = "1M",
                                                    .unit = "ns/command",
                                                    .items = ENTITIES,
                                                    .workers = 1,
                                                    .run = step,
                                                    .prepare = adds_prepare,
                                                    .data = &one});
    if (one.world != NULL && two.world != NULL)
        weft_bench_run(bench, &(weft_bench_measure){.name = "1M-2",
                                                    .unit = "ns/command",
                                                    .items = ENTITIES,
                                                    .workers = 2,
                                                    .run = step,
                                                    .prepare = adds_prepare,
                                                    .data = &two});
    weft_world_destroy(one.world);
    weft_world_destroy(two.world);
}

/* ---- frame ---- */

static void record_add_or_set(weft_slice *s, void *user)
{
    const changes *data = user;
    weft_recorder *commands = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    if (!data->with_values) {
        record_add(s, user);
        return;
    }
    for (uint32_t i = 0; i < s->count; i++)
        weft_recorder_set(commands, entities[i], data->added, &i, sizeof i);
}

static void record_remove(weft_slice *s, void *user)
{
    const changes *data = user;
    weft_recorder *commands = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < s->count; i++)
        weft_recorder_remove(commands, entities[i], data->added);
}

static bool frame_make(changes *data, uint32_t workers, bool with_values)
{
    if (!changes_make(data, workers)) return false;
    data->with_values = with_values;
    weft_system add = weft_system_create(
        data->world,
        &(weft_system_desc){.name = "add",
                            .run = record_add_or_set,
                            .user = data,
                            .effects = WEFT_RECORDS_ADD,
                            .records = {data->added},
                            .over.rows.terms = {{data->a, WEFT_READ, WEFT_ALL, 0},
                                                {data->added, WEFT_NO_ACCESS, WEFT_ABSENT, 0}}});
    weft_system remove = weft_system_create(
        data->world,
        &(weft_system_desc){.name = "remove",
                            .run = record_remove,
                            .user = data,
                            .effects = WEFT_RECORDS_REMOVE,
                            .records = {data->added},
                            .over.rows.terms = {{data->added, WEFT_READ, WEFT_ALL, 0}}});
    return weft_entity_create_many(
               data->world,
               weft_archetype_create(data->world, (weft_component[]){data->a, data->b}, 2),
               ENTITIES, NULL) == WEFT_OK &&
           add.id != 0 && remove.id != 0;
}

static void playback_frame(weft_bench *bench)
{
    static const struct {
        const char *name;
        uint32_t workers;
        bool with_values;
    } cases[] = {
        {"1M", 1, false}, {"1M-2", 2, false}, {"values-1M", 1, true}, {"values-1M-2", 2, true}};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        changes data;
        if (frame_make(&data, cases[i].workers, cases[i].with_values))
            weft_bench_run(bench, &(weft_bench_measure){.name = cases[i].name,
                                                        .unit = "ns/entity",
                                                        .items = ENTITIES,
                                                        .workers = cases[i].workers,
                                                        .is_free = true,
                                                        .run = step,
                                                        .data = &data});
        weft_world_destroy(data.world);
    }
}

/* ---- storm ---- */

static void spawn(weft_slice *s, void *user)
{
    const changes *data = user;
    weft_recorder *commands = weft_slice_recorder(s);
    for (uint32_t left = STORM_PART; left > 0;) {
        weft_slice rows;
        if (weft_recorder_create_rows(commands, data->spawned, left, &rows) != WEFT_OK) return;
        for (uint32_t t = 0; t < 3; t++) {
            float *values = rows.columns[t];
            for (uint32_t i = 0; i < rows.count * 3; i++) values[i] = (float)i;
        }
        left -= rows.count;
    }
}

static void destroy_each(weft_slice *s, void *user)
{
    (void)user;
    weft_recorder *commands = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < s->count; i++) weft_recorder_destroy_entity(commands, entities[i]);
}

/* Two steps: entities appear at the end of the first and go in the second. */
static void storm(void *user)
{
    changes *data = user;
    weft_world_step(data->world, 0.01f);
    weft_world_step(data->world, 0.01f);
}

/* Spawns in every other step: while nothing is alive. */
static bool is_empty(weft_world *world, void *user)
{
    const changes *data = user;
    return weft_query_is_empty(world, data->all);
}

static bool storm_make(changes *data, uint32_t workers)
{
    if (!changes_make(data, workers)) return false;
    weft_component set[3] = {data->a, data->b, data->c};
    data->spawned = weft_archetype_create(data->world, set, 3);
    data->all = weft_query_create(data->world,
                                  &(weft_query_desc){.terms = {{data->a, WEFT_READ, WEFT_ALL, 0}}});
    weft_system spawner = weft_system_create(
        data->world,
        &(weft_system_desc){.name = "spawn",
                            .run = spawn,
                            .user = data,
                            .over = {.kind = WEFT_OVER_COUNT, .count = ENTITIES / STORM_PART},
                            .run_if = is_empty,
                            .effects = WEFT_RECORDS_CREATE,
                            .after = {"destroy"}});
    weft_system destroyer = weft_system_create(
        data->world, &(weft_system_desc){.name = "destroy",
                                         .run = destroy_each,
                                         .effects = WEFT_RECORDS_DESTROY,
                                         .over.rows.terms = {{data->a, WEFT_READ, WEFT_ALL, 0}}});
    return spawner.id != 0 && destroyer.id != 0;
}

static void measure_storm(weft_bench *bench, const char *name, uint32_t workers)
{
    changes data;
    if (storm_make(&data, workers))
        weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                    .unit = "ns/entity",
                                                    .items = ENTITIES,
                                                    .workers = workers,
                                                    .run = storm,
                                                    .data = &data});
    weft_world_destroy(data.world);
}

static void playback_storm(weft_bench *bench)
{
    measure_storm(bench, "1M", 1);
    measure_storm(bench, "1M-2", 2);
}

/* ---- rollback ---- */

/* Owner: the benchmark. */
typedef struct rolling {
    changes base;
    weft_entity touched[100]; /* spread over the rows: one slice each */
    uint32_t touched_count;
    weft_snapshot *last;
    char *copy; /* what copy_bytes works on */
} rolling;

static void touch_some(void *user)
{
    rolling *r = user;
    for (uint32_t i = 0; i < r->touched_count; i++)
        weft_bench_keep(weft_entity_write(r->base.world, r->touched[i], r->base.a));
}

static void snapshot_changed(void *user)
{
    rolling *r = user;
    weft_snapshot *next;
    if (weft_snapshot_take(r->base.world, r->last, &next) != WEFT_OK) return;
    weft_snapshot_destroy(r->last);
    r->last = next;
}

static void snapshot_full(void *user)
{
    rolling *r = user;
    weft_snapshot *whole;
    if (weft_snapshot_take(r->base.world, NULL, &whole) == WEFT_OK) weft_snapshot_destroy(whole);
}

/* 1 M entities, some of which will be touched, and a snapshot. */
static bool rolling_make(rolling *r)
{
    weft_entity *all = malloc(ENTITIES * sizeof *all);
    memset(r, 0, sizeof *r);
    if (all == NULL || !changes_make(&r->base, 1) ||
        weft_entity_create_many(
            r->base.world,
            weft_archetype_create(r->base.world,
                                  (weft_component[]){r->base.a, r->base.b, r->base.c}, 3),
            ENTITIES, all) != WEFT_OK) {
        free(all);
        return false;
    }
    weft_world_stats stats;
    weft_world_stats_get(r->base.world, &stats,
                         sizeof stats); /* 1 % of the slices of 152 rows or so */
    r->touched_count = (uint32_t)(stats.slices / 100 < 100 ? stats.slices / 100 : 100);
    for (uint32_t i = 0; i < r->touched_count; i++)
        r->touched[i] = all[(size_t)i * (ENTITIES / r->touched_count)];
    free(all);
    return weft_snapshot_take(r->base.world, NULL, &r->last) == WEFT_OK;
}

static void rollback(weft_bench *bench)
{
    rolling r;
    if (!rolling_make(&r)) {
        weft_bench_fail(bench, "no memory");
        return;
    }
    weft_bench_run(bench, &(weft_bench_measure){.name = "1M",
                                                .unit = "us",
                                                .workers = 1,
                                                .run = snapshot_changed,
                                                .prepare = touch_some,
                                                .data = &r,
                                                .peers = {{"full-copy", snapshot_full, NULL}}});
    weft_snapshot_destroy(r.last);
    weft_world_destroy(r.base.world);
}

static void touch_all(void *user)
{
    const rolling *r = user;
    weft_cursor cursor = weft_query_begin(r->base.world, r->base.all);
    while (weft_query_next(&cursor)) weft_bench_keep(weft_slice_write(&cursor.slice, 0));
}

static void replace_some(void *user)
{
    rolling *r = user;
    weft_entity_destroy_many(r->base.world, r->touched, r->touched_count);
    weft_entity_create_many(
        r->base.world,
        weft_archetype_create(r->base.world, (weft_component[]){r->base.a, r->base.b, r->base.c},
                              3),
        r->touched_count, NULL);
}

static void snapshot_restored(void *user)
{
    const rolling *r = user;
    weft_snapshot_restore(r->base.world, r->last);
}

/* Values and handles of 1 M entities: two blocks of COPY_BYTES. */
enum { COPY_BYTES = ENTITIES * (3 * 12 + 8) };

static void copy_bytes(void *user)
{
    const rolling *r = user;
    memcpy(r->copy, r->copy + COPY_BYTES, COPY_BYTES);
    weft_bench_keep(r->copy);
}

static void restore(weft_bench *bench)
{
    static const struct {
        const char *name;
        void (*prepare)(void *user);
    } cases[] = {{"nothing", NULL},
                 {"1percent", touch_some},
                 {"all", touch_all},
                 {"replaced", replace_some}};
    rolling r;
    if (!rolling_make(&r)) {
        weft_bench_fail(bench, "no memory");
        return;
    }
    r.copy = malloc(2 * (size_t)COPY_BYTES);
    if (r.copy == NULL) {
        weft_bench_fail(bench, "no memory");
        weft_snapshot_destroy(r.last);
        weft_world_destroy(r.base.world);
        return;
    }
    memset(r.copy, 1, 2 * (size_t)COPY_BYTES); /* pages of its own */
    r.base.all = weft_query_create(r.base.world,
                                   &(weft_query_desc){.terms = {{r.base.a, WEFT_WRITE, 0, 0},
                                                                {r.base.b, WEFT_WRITE, 0, 0},
                                                                {r.base.c, WEFT_WRITE, 0, 0}}});
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        weft_bench_run(bench, &(weft_bench_measure){.name = cases[i].name,
                                                    .unit = "us",
                                                    .workers = 1,
                                                    .run = snapshot_restored,
                                                    .prepare = cases[i].prepare,
                                                    .data = &r,
                                                    .peers = {{"copy", copy_bytes, NULL}}});
    free(r.copy);
    weft_snapshot_destroy(r.last);
    weft_world_destroy(r.base.world);
}

const weft_bench_entry weft_bench_playback[] = {
    {"playback.add", "1 M single-component adds recorded by jobs", playback_add, false},
    {"playback.frame", "1 M components added by a system, removed by another, in one frame",
     playback_frame, false},
    {"playback.storm", "1 M entities created by jobs in a step, destroyed in the next",
     playback_storm, false},
    {"rollback", "snapshot of 1 M entities with 1 % of the slices changed", rollback, false},
    {"snapshot.restore", "1 M entities put back after nothing, a part, or all changed", restore,
     false},
    {0},
};
