/* SPDX-License-Identifier: MIT */
/* bench_commands.c: steps of one system that records one kind of command for each of many entities:
 * recording and playback together. Each step is followed by one that undoes it, untimed.
 *
 *   playback.values           a component of 16 bytes is added with its value
 *   playback.mixed            three commands per entity: add with a value, remove, set
 *   playback.instantiate      prefabs of four linked entities; per entity
 *   playback.spawn            the same, and a value for each prefab
 *   playback.destroy_cleanup  entities with a cleanup component are destroyed
 *   playback.shared           entities get another shared value
 */
#include "bench.h"

#include <weft/weft.h>

#include <string.h>

enum { ROWS = 200000, MEMBERS = 4, GROUPS = ROWS / MEMBERS };

/* Owner: the benchmark. */
typedef struct command_bed {
    weft_world *world;
    weft_component a, b, wide, tag, team, cleanup;
    weft_archetype plain, cleaned;
    weft_entity prefab, rows[ROWS];
    int32_t turn; /* the shared value of the next step */
} command_bed;

typedef void record_fn(weft_slice *slice, void *user);

static void record_values(weft_slice *s, void *user)
{
    const command_bed *bed = user;
    weft_recorder *r = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < s->count; i++) {
        float value[4] = {(float)i, 1, 2, 3};
        weft_recorder_set(r, entities[i], bed->wide, value, sizeof value);
    }
}

static void record_mixed(weft_slice *s, void *user)
{
    const command_bed *bed = user;
    weft_recorder *r = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < s->count; i++) {
        float value[4] = {(float)i, 1, 2, 3}, number = (float)i;
        weft_recorder_set(r, entities[i], bed->wide, value, sizeof value);
        weft_recorder_remove(r, entities[i], bed->b);
        weft_recorder_set(r, entities[i], bed->a, &number, sizeof number);
    }
}

static void record_instances(weft_slice *s, void *user)
{
    const command_bed *bed = user;
    weft_recorder *r = weft_slice_recorder(s);
    for (uint32_t i = 0; i < GROUPS / 50; i++) weft_recorder_instantiate(r, bed->prefab);
}

/* As prefabs are spawned: an instance, its values, the next one. */
static void record_spawns(weft_slice *s, void *user)
{
    const command_bed *bed = user;
    weft_recorder *r = weft_slice_recorder(s);
    for (uint32_t i = 0; i < GROUPS / 50; i++) {
        float value[4] = {(float)i, 1, 2, 3};
        weft_entity made = weft_recorder_instantiate(r, bed->prefab);
        weft_recorder_set(r, made, bed->wide, value, sizeof value);
    }
}

static void record_deaths(weft_slice *s, void *user)
{
    (void)user;
    weft_recorder *r = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < s->count; i++) weft_recorder_destroy_entity(r, entities[i]);
}

static void record_shared(weft_slice *s, void *user)
{
    const command_bed *bed = user;
    weft_recorder *r = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < s->count; i++) {
        int32_t value = bed->turn + (int32_t)(entities[i].index % 8);
        weft_recorder_set_shared(r, entities[i], bed->team, &value);
    }
}

/* ---- worlds ---- */

static void step(void *user)
{
    weft_world_step(((command_bed *)user)->world, 0.01f);
}

static void clear(command_bed *bed)
{
    weft_query all =
        weft_query_create(bed->world, &(weft_query_desc){.terms = {{bed->a, WEFT_NO_ACCESS}}});
    weft_query_destroy_entities(bed->world, all);
    weft_query_destroy(bed->world, all);
}

/* Entities as at the beginning. */
static void prepare_plain(void *user)
{
    command_bed *bed = user;
    clear(bed);
    weft_entity_create_many(bed->world, bed->plain, ROWS, bed->rows);
}

static void prepare_cleaned(void *user)
{
    command_bed *bed = user;
    weft_query left = weft_query_create(
        bed->world, &(weft_query_desc){.terms = {{bed->cleanup, WEFT_NO_ACCESS}}});
    weft_query_remove(bed->world, left, bed->cleanup);
    weft_query_destroy(bed->world, left);
    weft_entity_create_many(bed->world, bed->cleaned, ROWS, bed->rows);
}

static void prepare_instances(void *user)
{
    clear(user);
}

static void prepare_shared(void *user)
{
    command_bed *bed = user;
    bed->turn = (bed->turn + 8) % 16;
}

/* A root and its members, in a linked group. */
static bool make_prefab(command_bed *bed)
{
    weft_entity members[MEMBERS];
    weft_component group = weft_component_linked_group(bed->world);
    weft_component prefab = weft_component_prefab(bed->world);
    if (weft_entity_create_many(bed->world, bed->plain, MEMBERS, members) != WEFT_OK) return false;
    bed->prefab = members[0];
    if (weft_entity_add(bed->world, members[0], group) != WEFT_OK) return false;
    weft_buffers linked = weft_entity_write_buffer(bed->world, members[0], group);
    return weft_buffers_append(&linked, 0, members, MEMBERS) == WEFT_OK &&
           weft_entity_add(bed->world, members[0], prefab) == WEFT_OK;
}

static bool bed_open(command_bed *bed, uint32_t workers)
{
    memset(bed, 0, sizeof *bed);
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &bed->world) != WEFT_OK)
        return false;
    bed->a = weft_component_create_plain(bed->world, "a", 4, 4, 0);
    bed->b = weft_component_create_plain(bed->world, "b", 12, 4, 0);
    bed->wide = weft_component_create_plain(bed->world, "wide", 16, 4, 0);
    bed->team = weft_component_create_plain(bed->world, "team", 4, 4, WEFT_SHARED);
    bed->cleanup = weft_component_create_plain(bed->world, "cleanup", 4, 4, WEFT_CLEANUP);
    bed->plain = weft_archetype_create(bed->world, (weft_component[]){bed->a, bed->b}, 2);
    bed->cleaned =
        weft_archetype_create(bed->world, (weft_component[]){bed->a, bed->b, bed->cleanup}, 3);
    return bed->cleaned.id != 0;
}

/* ---- measuring ---- */

/* A benchmark: what is recorded, over which rows, and how it is undone. Constant. */
typedef struct command_case {
    record_fn *record;
    weft_bench_fn *prepare;
    const char *unit;
    double items;
    uint32_t effects;
    bool is_counted; /* the system runs over 50 indices, not over rows */
} command_case;

static void measure(weft_bench *bench, const command_case *what, const char *name, uint32_t workers)
{
    static command_bed bed;
    if (!weft_bench_wants(bench, name)) return;
    bool is_made = bed_open(&bed, workers) && make_prefab(&bed);
    weft_system_desc desc = {
        .name = "record", .run = what->record, .user = &bed, .effects = what->effects};
    if (what->is_counted)
        desc.over = (weft_system_over){.kind = WEFT_OVER_COUNT, .count = 50};
    else
        desc.over.rows.terms[0] = (weft_term){bed.a, WEFT_READ, WEFT_ALL, 0};
    if (is_made && weft_entity_create_many(bed.world, bed.plain, ROWS, bed.rows) == WEFT_OK &&
        weft_system_create(bed.world, &desc).id != 0)
        weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                    .unit = what->unit,
                                                    .items = what->items,
                                                    .workers = workers,
                                                    .run = step,
                                                    .prepare = what->prepare,
                                                    .data = &bed});
    else
        weft_bench_fail(bench, "playback: %s", weft_world_error(bed.world)->text);
    weft_world_destroy(bed.world);
}

static void measure_both(weft_bench *bench, const command_case *what)
{
    measure(bench, what, "200k", 1);
    measure(bench, what, "200k-2", 2);
}

static void playback_values(weft_bench *bench)
{
    measure_both(bench, &(command_case){.record = record_values,
                                        .prepare = prepare_plain,
                                        .unit = "ns/command",
                                        .items = ROWS,
                                        .effects = WEFT_RECORDS_ADD});
}

static void playback_mixed(weft_bench *bench)
{
    measure_both(bench, &(command_case){.record = record_mixed,
                                        .prepare = prepare_plain,
                                        .unit = "ns/command",
                                        .items = 3.0 * ROWS,
                                        .effects = WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE});
}

static void playback_instantiate(weft_bench *bench)
{
    measure_both(bench, &(command_case){.record = record_instances,
                                        .prepare = prepare_instances,
                                        .unit = "ns/entity",
                                        .items = ROWS,
                                        .effects = WEFT_RECORDS_CREATE,
                                        .is_counted = true});
}

static void playback_spawn(weft_bench *bench)
{
    measure_both(bench, &(command_case){.record = record_spawns,
                                        .prepare = prepare_instances,
                                        .unit = "ns/entity",
                                        .items = ROWS,
                                        .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_ADD,
                                        .is_counted = true});
}

static void playback_destroy_cleanup(weft_bench *bench)
{
    measure_both(bench, &(command_case){.record = record_deaths,
                                        .prepare = prepare_cleaned,
                                        .unit = "ns/entity",
                                        .items = ROWS,
                                        .effects = WEFT_RECORDS_DESTROY});
}

static void playback_shared(weft_bench *bench)
{
    measure_both(bench, &(command_case){.record = record_shared,
                                        .prepare = prepare_shared,
                                        .unit = "ns/command",
                                        .items = ROWS,
                                        .effects = WEFT_RECORDS_ADD});
}

const weft_bench_entry weft_bench_commands[] = {
    {"playback.values", "16 bytes added to each of 200,000 entities", playback_values, false},
    {"playback.mixed", "three commands for each of 200,000 entities", playback_mixed, false},
    {"playback.instantiate", "50,000 prefabs of four entities", playback_instantiate, false},
    {"playback.spawn", "50,000 prefabs of four entities, each with a value of its own",
     playback_spawn, false},
    {"playback.destroy_cleanup", "200,000 entities with a cleanup component destroyed",
     playback_destroy_cleanup, false},
    {"playback.shared", "another shared value for each of 200,000 entities", playback_shared,
     false},
    {0}};
