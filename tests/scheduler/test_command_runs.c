/* SPDX-License-Identifier: MIT */
/* test_command_runs.c: commands of one kind in a row: destroys, shared values, instances. The
 * result is that of one after the other: the last value counts, the dead are skipped and
 * counted, every instance is of its own source. Commands of systems that run slice by slice in turn
 * are played system by system. */
#include <weft/weft.h>

#include "plain.h"

enum { ROWS = 3000 };

/* A world whose one system records what a test asks for. Owner: the test. */
typedef struct bed {
    weft_world *world;
    weft_component a, team, cleanup;
    weft_entity rows[ROWS], made[ROWS];
    void (*record)(weft_recorder *r, struct bed *b);
} bed;

static void record(weft_slice *slice, void *user)
{
    ((bed *)user)->record(weft_slice_recorder(slice), user);
}

static void bed_open(bed *b, void (*what)(weft_recorder *r, bed *b))
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &b->world));
    b->record = what;
    b->a = weft_component_create_plain(b->world, "a", 4, 4, 0);
    b->team = weft_component_create_plain(b->world, "team", 4, 4, WEFT_SHARED);
    b->cleanup = weft_component_create_plain(b->world, "cleanup", 4, 4, WEFT_CLEANUP);
    CHECK_OK(weft_entity_create_many(b->world, WEFT_ARCHETYPE(b->world, b->a), ROWS / 2, b->rows));
    CHECK_OK(weft_entity_create_many(b->world, WEFT_ARCHETYPE(b->world, b->a, b->cleanup), ROWS / 2,
                                     b->rows + ROWS / 2));
    for (uint32_t i = 0; i < ROWS; i++)
        CHECK_OK(weft_entity_set(b->world, b->rows[i], b->a, &i, 4));
    CHECK(weft_system_create(b->world, &(weft_system_desc){.name = "record",
                                                           .run = record,
                                                           .user = b,
                                                           .effects = WEFT_RECORDS_ANY})
              .id != 0);
}

/* Steps and returns how many commands met no one. */
static uint64_t step(bed *b)
{
    weft_frame_stats stats;
    CHECK_OK(weft_world_step(b->world, 0));
    CHECK_OK(weft_world_validate(b->world));
    weft_frame_stats_get(b->world, &stats, sizeof stats);
    return stats.commands_skipped;
}

static uint32_t team_of(const bed *b, uint32_t row)
{
    const uint32_t *value = weft_entity_read_shared(b->world, b->rows[row], b->team);
    return value == NULL ? UINT32_MAX : *value;
}

/* Every tenth is dead; then 100 get another value, some of them twice, backwards. There are more
 * values than a fold takes. */
static void record_teams(weft_recorder *r, bed *b)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t value = i < 200 ? 1 + i % 7 : 1 + i % 29;
        CHECK_OK(weft_recorder_set_shared(r, b->rows[i], b->team, &value));
    }
    for (uint32_t i = 100; i-- > 0;) {
        uint32_t value = 1 + (i + 1) % 7;
        CHECK_OK(weft_recorder_set_shared(r, b->rows[i], b->team, &value));
        value = 1; /* the first one that this step gave */
        if (i % 3 == 0) CHECK_OK(weft_recorder_set_shared(r, b->rows[i], b->team, &value));
    }
}

PLAIN_TEST(the_last_of_many_shared_values_counts)
{
    static bed b;
    bed_open(&b, record_teams);
    for (uint32_t i = 0; i < ROWS; i += 10) CHECK_OK(weft_entity_destroy(b.world, b.rows[i]));
    CHECK_U64(step(&b), ROWS / 10 + 10 + 4); /* residues are dead, too */
    for (uint32_t i = 0; i < ROWS / 2; i++)
        if (i % 10 != 0)
            CHECK_U64(team_of(&b, i), i >= 200     ? 1 + i % 29
                                      : i >= 100   ? 1 + i % 7
                                      : i % 3 == 0 ? 1
                                                   : 1 + (i + 1) % 7);
    CHECK_OK(weft_world_destroy(b.world));
}

static void record_instances(weft_recorder *r, bed *b)
{
    for (uint32_t i = 0; i < 300; i++) {
        weft_entity made = weft_recorder_instantiate(r, b->rows[i / 50]);
        CHECK_OK(weft_recorder_set_shared(r, made, b->team, &i)); /* between them, too */
        if (i % 50 == 49)
            for (uint32_t k = 0; k < 20; k++)
                CHECK(weft_recorder_instantiate(r, b->rows[k % 2 == 0 ? 10 : 11]).version != 0);
    }
}

PLAIN_TEST(instances_are_of_their_own_source)
{
    static bed b;
    static uint32_t found[ROWS];
    bed_open(&b, record_instances);
    CHECK_OK(weft_entity_destroy(b.world, b.rows[5]));
    CHECK_U64(step(&b), 2 * 50); /* the source, and the value of what it did not become */
    weft_query all =
        weft_query_create(b.world, &(weft_query_desc){.terms = {{b.a, WEFT_READ, WEFT_ALL, 0}}});
    weft_cursor cursor = weft_query_begin(b.world, all);
    while (weft_query_next(&cursor)) {
        const uint32_t *a = weft_slice_read(&cursor.slice, 0);
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++) found[a[i]]++;
    }
    for (uint32_t i = 0; i < ROWS; i++)
        CHECK_U64(found[i], i < 5 ? 51 : i == 5 ? 0 : i == 10 || i == 11 ? 61 : 1);
    CHECK_OK(weft_world_destroy(b.world));
}

/* Some twice, some dead before, some with a cleanup component. */
static void record_deaths(weft_recorder *r, bed *b)
{
    for (uint32_t i = 0; i < ROWS; i += 3) {
        CHECK_OK(weft_recorder_destroy_entity(r, b->rows[i]));
        if (i % 2 == 0) CHECK_OK(weft_recorder_destroy_entity(r, b->rows[i]));
    }
    CHECK_OK(weft_recorder_set_name(r, b->rows[1], "one")); /* never folded */
}

PLAIN_TEST(destroys_in_a_row_leave_what_single_ones_leave)
{
    static bed b;
    bed_open(&b, record_deaths);
    CHECK_OK(weft_entity_destroy(b.world, b.rows[3]));
    CHECK_U64(step(&b), 0);
    for (uint32_t i = 0; i < ROWS; i++)
        CHECK(weft_entity_has(b.world, b.rows[i], b.a) == (i % 3 != 0));
    for (uint32_t i = ROWS / 2; i < ROWS; i++)
        CHECK(weft_entity_has(b.world, b.rows[i], b.cleanup));
    CHECK_OK(weft_world_destroy(b.world));
}

/* ---- handles of what is created ---- */

enum { FREE = 3, MADE = 10000, IN_PLACE = 20000, BIRTHS_MOST = 400 };

static uint32_t births; /* of these every tenth is an instance */
static weft_archetype archetype;
static weft_entity found[IN_PLACE + 2];

/* Each creation behind a destruction, which would give it its index in calls. */
static void record_births(weft_recorder *r, bed *b)
{
    for (uint32_t i = 0; i < births; i++) {
        const uint32_t number = MADE + i;
        CHECK_OK(weft_recorder_destroy_entity(r, b->rows[100 + i]));
        weft_entity made = i % 10 == 9 ? weft_recorder_instantiate(r, b->rows[5])
                                       : weft_recorder_create_entity(r, archetype);
        CHECK_OK(weft_recorder_set(r, made, b->a, &number, sizeof number));
        if (i != births / 2) continue;
        weft_slice rows;
        CHECK_OK(weft_recorder_create_rows(r, archetype, 2, &rows));
        CHECK_U64(weft_slice_count(&rows), 2);
        for (uint32_t k = 0; k < 2; k++) WEFT_WRITE_COLUMN(&rows, 0, uint32_t)[k] = IN_PLACE + k;
    }
    weft_recorder_instantiate(r, b->rows[20]); /* dead: its place stays free */
}

/* The entity with a value, and how many have it. */
static uint32_t find_all(const bed *b, uint32_t value)
{
    uint32_t count = 0;
    weft_query all = weft_query_create(b->world, &(weft_query_desc){.terms = {{b->a}}});
    weft_cursor cursor = weft_query_begin(b->world, all);
    while (weft_query_next(&cursor))
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++) {
            uint32_t at = ((const uint32_t *)weft_slice_read(&cursor.slice, 0))[i];
            found[at] = weft_slice_entities(&cursor.slice)[i];
            count += at == value;
        }
    return count;
}

/* The index of an entity: that of the first one of the world is 0. */
static uint32_t index_of(const bed *b, weft_entity entity)
{
    return entity.index ^ b->rows[0].index;
}

PLAIN_TEST(what_commands_create_gets_the_lowest_free_indices_before_any_is_destroyed)
{
    static bed b;
    for (births = 4; births <= BIRTHS_MOST; births += BIRTHS_MOST - 4) {
        bed_open(&b, record_births);
        archetype = WEFT_ARCHETYPE(b.world, b.a);
        weft_component group = weft_component_linked_group(b.world);
        const weft_entity members[] = {b.rows[5], b.rows[6]};
        CHECK_OK(weft_entity_add(b.world, b.rows[5], group));
        weft_buffers list = weft_entity_write_buffer(b.world, b.rows[5], group);
        CHECK_OK(weft_buffers_append(&list, 0, members, 2));
        for (uint32_t i = 0; i < FREE; i++) CHECK_OK(weft_entity_destroy(b.world, b.rows[20 + i]));
        CHECK_U64(step(&b), 1);
        CHECK_U64(find_all(&b, 6), 1 + births / 10); /* with the copies of the member */
        for (uint32_t i = 0; i < births; i++) {      /* in order of effect, instances too */
            const weft_entity made = found[MADE + i];
            CHECK_U64(index_of(&b, made), i < FREE ? 20 + i : ROWS + i - FREE);
            CHECK_U64(made.version, i < FREE ? 3 : 1);
        }
        for (uint32_t i = 0; i < 2; i++) /* behind the one for the copy that was not made */
            CHECK_U64(index_of(&b, found[IN_PLACE + i]), ROWS + births - FREE + 1 + i);
        weft_entity next = weft_entity_create(b.world, archetype);
        CHECK(index_of(&b, next) < ROWS); /* of one that was destroyed */
        CHECK_OK(weft_world_destroy(b.world));
    }
}

PLAIN_TEST(what_calls_create_gets_the_lowest_free_index_of_the_moment)
{
    static bed b;
    bed_open(&b, record_births);
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_OK(weft_entity_destroy(b.world, b.rows[100 + i]));
        weft_entity made = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.a));
        CHECK_U64(index_of(&b, made), 100 + i);
        CHECK_U64(made.version, 3);
    }
    CHECK_OK(weft_world_destroy(b.world));
}

enum { RECORDING = 3, SLICED_ROWS = 5000 };

/* One of the systems of a fused stage. Owner: the test. */
typedef struct sower {
    weft_component seed;
    weft_archetype archetype;
    uint32_t number, calls;
} sower;

/* Creates one entity a slice, which knows who made it, and when. */
static void sow(weft_slice *slice, void *user)
{
    sower *self = user;
    const uint32_t value = self->number << 16 | self->calls++;
    weft_recorder *recorder = weft_slice_recorder(slice);
    weft_entity made = weft_recorder_create_entity(recorder, self->archetype);
    CHECK_OK(weft_recorder_set(recorder, made, self->seed, &value, sizeof value));
}

PLAIN_TEST(commands_of_fused_systems_are_played_system_by_system)
{
    static const char *const names[RECORDING] = {"first", "second", "third"};
    weft_world *world;
    sower sowers[RECORDING];
    uint32_t expected = 0, seen = 0;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component ground = weft_component_create_plain(world, "ground", 4, 4, 0);
    weft_component seed = weft_component_create_plain(world, "seed", 4, 4, 0);
    archetype = weft_archetype_create(world, &seed, 1);
    CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, &ground, 1), SLICED_ROWS,
                                     NULL));
    for (uint32_t i = 0; i < RECORDING; i++) {
        sowers[i] = (sower){seed, archetype, i, 0};
        const weft_system_desc desc = {
            .name = names[i],
            .run = sow,
            .user = &sowers[i],
            .effects = WEFT_RECORDS_CREATE,
            .records = {seed},
            .over.rows.terms = {{ground, WEFT_WRITE, WEFT_ALL, 0}},
        };
        CHECK(weft_system_create(world, &desc).id != 0);
    }
    CHECK_OK(weft_world_step(world, 0));
    CHECK_OK(weft_world_validate(world));
    CHECK(sowers[0].calls > 4);
    weft_query all =
        weft_query_create(world, &(weft_query_desc){.terms = {{seed, WEFT_READ, WEFT_ALL, 0}}});
    weft_cursor cursor = weft_query_begin(world, all);
    while (weft_query_next(&cursor)) {
        const uint32_t *values = weft_slice_read(&cursor.slice, 0);
        for (uint32_t i = 0; i < cursor.slice.count; i++, seen++) {
            CHECK_U64(values[i], expected);
            bool is_last = (expected & 0xffff) == sowers[expected >> 16].calls - 1;
            expected = is_last ? ((expected >> 16) + 1) << 16 : expected + 1;
        }
    }
    CHECK_U64(seen, RECORDING * sowers[0].calls);
    CHECK_OK(weft_world_destroy(world));
}
