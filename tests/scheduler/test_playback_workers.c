/* SPDX-License-Identifier: MIT */
/* test_playback_workers.c: playback of destructions that leave residues, of values, shared values
 * and instances of groups gives the same world on any number of workers: ids, layout and
 * contents; so do changes of arrays and by queries. */
#include <weft/type.h>
#include <weft/weft.h>

#include "plain.h"

enum { ROWS = 20000, MEMBERS = 4, INDICES = 12, INSTANCES = 700 };

/* A world whose one system records what a test asks for. Owner: the test. */
typedef struct bed {
    weft_world *world;
    weft_component a, link, list, far, cleanup, team;
    weft_entity rows[ROWS], prefab;
} bed;

static const uint32_t worker_counts[] = {1, 2, 3, 8};

static void bed_open(bed *b, uint32_t workers)
{
    static const weft_field target = {.name = "target", .kind = WEFT_FIELD_ENTITY};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &b->world));
    b->a = weft_component_create_plain(b->world, "a", 4, 4, 0);
    b->link = weft_component_create(
        b->world,
        &(weft_component_desc){
            .name = "link", .size = 8, .alignment = 4, .fields = &target, .field_count = 1});
    b->list = weft_component_create_plain(b->world, "list", 4, 4, WEFT_BUFFER);
    b->far = weft_component_create_plain(b->world, "far", 4, 4, WEFT_SPARSE);
    b->cleanup = weft_component_create_plain(b->world, "cleanup", 4, 4, WEFT_CLEANUP);
    b->team = weft_component_create_plain(b->world, "team", 4, 4, WEFT_SHARED);
}

/* Steps and returns the hash of the layout; the world ends. */
static uint64_t step_and_end(bed *b, uint64_t skipped)
{
    weft_frame_stats stats;
    CHECK_OK(weft_world_step(b->world, 0));
    CHECK_OK(weft_world_validate(b->world));
    weft_frame_stats_get(b->world, &stats, sizeof stats);
    CHECK_U64(stats.commands_skipped, skipped);
    uint64_t hash = weft_world_hash(b->world, WEFT_HASH_LAYOUT);
    CHECK_OK(weft_world_destroy(b->world));
    return hash;
}

static void same_on_all(uint64_t (*run)(uint32_t workers))
{
    uint64_t hash = run(worker_counts[0]);
    for (uint32_t i = 1; i < 4; i++) CHECK_U64(run(worker_counts[i]), hash);
}

/* ---- deaths ---- */

static uint32_t number_of(const weft_slice *slice, uint32_t row)
{
    return ((const uint32_t *)weft_slice_read(slice, 0))[row];
}

/* Every third dies, every sixth twice; every ninth gets its cleanup value first. */
static void record_deaths(weft_slice *slice, void *user)
{
    const bed *b = user;
    weft_recorder *r = weft_slice_recorder(slice);
    const weft_entity *entities = weft_slice_entities(slice);
    for (uint32_t i = 0; i < slice->count; i++) {
        uint32_t number = number_of(slice, i), value = number + 1;
        if (number % 3 != 0) continue;
        if (number % 9 == 0)
            CHECK_OK(weft_recorder_set(r, entities[i], b->cleanup, &value, sizeof value));
        CHECK_OK(weft_recorder_destroy_entity(r, entities[i]));
        if (number % 6 == 0) CHECK_OK(weft_recorder_destroy_entity(r, entities[i]));
    }
}

static void check_dead(const bed *b, uint32_t i)
{
    bool is_cleaned = i % 2 == 0 || i % 9 == 0;
    CHECK(weft_entity_has(b->world, b->rows[i], b->a) == (i % 3 != 0));
    CHECK(weft_entity_is_alive(b->world, b->rows[i]) == (i % 3 != 0));
    CHECK((weft_entity_archetype(b->world, b->rows[i]).id != 0) == (is_cleaned || i % 3 != 0));
    CHECK(weft_entity_has(b->world, b->rows[i], b->far) == (i % 3 != 0 && i % 4 == 0));
    if (i % 9 == 0)
        CHECK_U64(*(const uint32_t *)weft_entity_read(b->world, b->rows[i], b->cleanup), i + 1);
}

static uint64_t deaths_on(uint32_t workers)
{
    static bed b;
    bed_open(&b, workers);
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.a, b.list), ROWS, b.rows));
    for (uint32_t i = 0; i < ROWS; i++) {
        CHECK_OK(weft_entity_set(b.world, b.rows[i], b.a, &i, sizeof i));
        if (i % 2 == 0) CHECK_OK(weft_entity_set(b.world, b.rows[i], b.cleanup, &i, sizeof i));
        if (i % 4 == 0) CHECK_OK(weft_entity_set(b.world, b.rows[i], b.far, &i, sizeof i));
    }
    weft_system_desc desc = {.name = "deaths",
                             .run = record_deaths,
                             .user = &b,
                             .effects = WEFT_RECORDS_ADD | WEFT_RECORDS_DESTROY};
    desc.over.rows.terms[0] = (weft_term){b.a, WEFT_READ, WEFT_ALL, 0};
    CHECK(weft_system_create(b.world, &desc).id != 0);
    CHECK_OK(weft_world_step(b.world, 0));
    for (uint32_t i = 0; i < ROWS; i++) check_dead(&b, i);
    return step_and_end(&b, 0);
}

PLAIN_TEST(residues_are_the_same_on_any_number_of_workers)
{
    same_on_all(deaths_on);
}

/* What is destroyed loses its cleanup component in the same playback: nothing of it is left. */
static void record_ends(weft_slice *slice, void *user)
{
    const bed *b = user;
    weft_recorder *r = weft_slice_recorder(slice);
    const weft_entity *entities = weft_slice_entities(slice);
    for (uint32_t i = 0; i < slice->count; i++) {
        CHECK_OK(weft_recorder_destroy_entity(r, entities[i]));
        CHECK_OK(weft_recorder_remove(r, entities[i], b->cleanup));
    }
}

PLAIN_TEST(a_residue_ends_in_the_playback_that_made_it)
{
    static bed b;
    bed_open(&b, 2);
    CHECK_OK(
        weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.a, b.cleanup), ROWS, b.rows));
    weft_system_desc desc = {.name = "ends",
                             .run = record_ends,
                             .user = &b,
                             .effects = WEFT_RECORDS_REMOVE | WEFT_RECORDS_DESTROY};
    desc.over.rows.terms[0] = (weft_term){b.a, WEFT_READ, WEFT_ALL, 0};
    CHECK(weft_system_create(b.world, &desc).id != 0);
    CHECK_OK(weft_world_step(b.world, 0));
    for (uint32_t i = 0; i < ROWS; i++) CHECK(weft_entity_archetype(b.world, b.rows[i]).id == 0);
    step_and_end(&b, 0);
}

/* ---- values ---- */

/* Two of three rows get a value, with or without a buffer's elements. */
static void record_values(weft_slice *slice, void *user)
{
    const bed *b = user;
    weft_recorder *r = weft_slice_recorder(slice);
    const weft_entity *entities = weft_slice_entities(slice);
    for (uint32_t i = 0; i < slice->count; i++) {
        uint32_t number = number_of(slice, i), value = number + 7;
        if (number % 3 == 1) continue;
        CHECK_OK(weft_recorder_set(r, entities[i], b->cleanup, &value, sizeof value));
    }
}

static void record_elements(weft_slice *slice, void *user)
{
    const bed *b = user;
    weft_recorder *r = weft_slice_recorder(slice);
    const weft_entity *entities = weft_slice_entities(slice);
    for (uint32_t i = 0; i < slice->count; i++) {
        uint32_t number = number_of(slice, i), elements[3] = {number, 1, 2};
        if (number % 5 == 1) continue;
        CHECK_OK(weft_recorder_append(r, entities[i], b->list, elements, 1 + number % 3));
    }
}

static void check_values(const bed *b, uint32_t i, uint32_t frames)
{
    const uint32_t *value = weft_entity_read(b->world, b->rows[i], b->cleanup);
    weft_buffers list = weft_entity_read_buffer(b->world, b->rows[i], b->list);
    const uint32_t *elements = weft_buffers_read(&list, 0);
    CHECK((value == NULL) == (i % 3 == 1));
    if (value != NULL) CHECK_U64(*value, i + 7);
    CHECK_U64(list.rows == NULL ? 0 : weft_buffers_length(&list, 0),
              i % 5 == 1 ? 0 : frames * (1 + i % 3));
    if (i % 5 != 1) CHECK_U64(elements[(frames - 1) * (1 + i % 3)], i);
}

static uint64_t values_on(uint32_t workers)
{
    static bed b;
    bed_open(&b, workers);
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.a), ROWS, b.rows));
    for (uint32_t i = 0; i < ROWS; i++)
        CHECK_OK(weft_entity_set(b.world, b.rows[i], b.a, &i, sizeof i));
    weft_system systems[2];
    void (*const records[])(weft_slice * slice, void *user) = {record_values, record_elements};
    for (uint32_t i = 0; i < 2; i++) {
        weft_system_desc desc = {.name = i == 0 ? "values" : "elements",
                                 .run = records[i],
                                 .user = &b,
                                 .effects = WEFT_RECORDS_ADD};
        desc.over.rows.terms[0] = (weft_term){b.a, WEFT_READ, WEFT_ALL, 0};
        systems[i] = weft_system_create(b.world, &desc);
        CHECK(systems[i].id != 0);
    }
    for (uint32_t frame = 1; frame <= 2; frame++) { /* rows move, then they stay */
        CHECK_OK(weft_system_run(b.world, systems[0], 0));
        CHECK_OK(weft_system_run(b.world, systems[1], 0));
        for (uint32_t i = 0; i < ROWS; i++) check_values(&b, i, frame);
    }
    CHECK_OK(weft_world_step(b.world, 0)); /* both at once */
    for (uint32_t i = 0; i < ROWS; i++) check_values(&b, i, 3);
    uint64_t hash = weft_world_hash(b.world, WEFT_HASH_LAYOUT);
    CHECK_OK(weft_world_validate(b.world));
    CHECK_OK(weft_world_destroy(b.world));
    return hash;
}

PLAIN_TEST(values_are_the_same_on_any_number_of_workers)
{
    same_on_all(values_on);
}

/* ---- shared values ---- */

/* Most rows change teams, some twice, some to the one they have; some have no team before; some get
 * a component with it, some lose the team again, some die. */
static void record_teams(weft_slice *slice, void *user)
{
    const bed *b = user;
    weft_recorder *r = weft_slice_recorder(slice);
    const weft_entity *entities = weft_slice_entities(slice);
    for (uint32_t i = 0; i < slice->count; i++) {
        uint32_t number = number_of(slice, i), team = 1 + number % 3, other = 7;
        if (number % 11 == 0) continue;
        if (number % 6 == 0) CHECK_OK(weft_recorder_set_shared(r, entities[i], b->team, &other));
        CHECK_OK(weft_recorder_set_shared(r, entities[i], b->team, &team));
        if (number % 8 == 0) /* it moves on, with its team */
            CHECK_OK(weft_recorder_set(r, entities[i], b->cleanup, &number, sizeof number));
        if (number % 13 == 0) CHECK_OK(weft_recorder_remove(r, entities[i], b->team));
        if (number % 17 == 0) CHECK_OK(weft_recorder_destroy_entity(r, entities[i]));
    }
}

static void check_team(const bed *b, uint32_t i)
{
    const uint32_t *team = weft_entity_read_shared(b->world, b->rows[i], b->team);
    bool is_dead = i % 17 == 0 && i % 11 != 0;
    CHECK((team == NULL) == (i % 11 == 0 ? i >= ROWS / 2 : i % 13 == 0 || is_dead));
    if (team != NULL) CHECK_U64(*team, i % 11 == 0 ? 0 : 1 + i % 3);
    CHECK(weft_entity_has(b->world, b->rows[i], b->a) == !is_dead);
    CHECK(weft_entity_has(b->world, b->rows[i], b->cleanup) == (i % 8 == 0 && i % 11 != 0));
}

static uint64_t teams_on(uint32_t workers)
{
    static bed b;
    uint32_t half = ROWS / 2;
    bed_open(&b, workers);
    weft_archetype teamed = weft_archetype_create(b.world, (weft_component[]){b.a, b.team}, 2);
    CHECK_OK(weft_entity_create_many(b.world, teamed, half, b.rows));
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.a), half, b.rows + half));
    for (uint32_t i = 0; i < ROWS; i++)
        CHECK_OK(weft_entity_set(b.world, b.rows[i], b.a, &i, sizeof i));
    weft_system_desc desc = {.name = "teams",
                             .run = record_teams,
                             .user = &b,
                             .effects =
                                 WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE | WEFT_RECORDS_DESTROY};
    desc.over.rows.terms[0] = (weft_term){b.a, WEFT_READ, WEFT_ALL, 0};
    CHECK(weft_system_create(b.world, &desc).id != 0);
    for (uint32_t frame = 0; frame < 2; frame++) { /* the second one changes little */
        CHECK_OK(weft_world_step(b.world, 0));
        CHECK_OK(weft_world_validate(b.world));
        for (uint32_t i = 0; i < ROWS; i++) check_team(&b, i);
    }
    return step_and_end(&b, 0);
}

PLAIN_TEST(shared_values_are_the_same_on_any_number_of_workers)
{
    same_on_all(teams_on);
}

static uint64_t arrays_on(uint32_t workers)
{
    static bed b;
    static weft_entity some[ROWS];
    uint32_t count = 0, team = 3;
    bed_open(&b, workers);
    weft_query all =
        weft_query_create(b.world, &(weft_query_desc){.terms = {{b.a, WEFT_READ, WEFT_ALL, 0}}});
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.a), ROWS, b.rows));
    for (uint32_t i = 0; i < ROWS; i++) {
        CHECK_OK(weft_entity_set(b.world, b.rows[i], b.a, &i, sizeof i));
        if (i % 4 == 0) CHECK_OK(weft_entity_set(b.world, b.rows[i], b.far, &i, sizeof i));
        if (i % 3 != 0) some[count++] = b.rows[i];
    }
    CHECK_OK(weft_entity_change_many(
        b.world, some, count,
        &(weft_change_desc){.add = (weft_component[]){b.link, b.cleanup}, .add_count = 2}));
    CHECK_OK(weft_entity_set_shared_many(b.world, some + ROWS / 3, ROWS / 3, b.team, &team));
    CHECK_OK(weft_query_add(b.world, all, b.cleanup)); /* to chunks that rows leave later */
    CHECK_OK(weft_entity_change_many(
        b.world, b.rows, ROWS,
        &(weft_change_desc){.remove = (weft_component[]){b.link}, .remove_count = 1}));
    CHECK_OK(weft_world_validate(b.world));
    CHECK_OK(weft_entity_destroy_many(b.world, some, count)); /* residues */
    CHECK_OK(weft_query_remove(b.world, all, b.cleanup));
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.a), ROWS, b.rows));
    CHECK_OK(weft_entity_destroy_many(b.world, b.rows, ROWS)); /* ids of many */
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.a), ROWS, b.rows));
    CHECK_OK(weft_query_destroy_entities(b.world, all));
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.a), ROWS, b.rows));
    return step_and_end(&b, 0);
}

PLAIN_TEST(arrays_and_queries_change_the_same_on_any_number_of_workers)
{
    same_on_all(arrays_on);
}

/* ---- instances ---- */

static void record_instances(weft_slice *slice, void *user)
{
    const bed *b = user;
    weft_recorder *r = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < INSTANCES; i++)
        CHECK(weft_recorder_instantiate(r, b->prefab).version != 0);
}

/* A root and its members: each links to the next one, the last one to the root; a buffer that lies
 * on the heap. */
static void make_group(bed *b)
{
    weft_entity members[MEMBERS];
    weft_component group = weft_component_linked_group(b->world);
    CHECK_OK(weft_entity_create_many(b->world, WEFT_ARCHETYPE(b->world, b->a, b->link, b->list),
                                     MEMBERS, members));
    for (uint32_t i = 0; i < MEMBERS; i++) {
        uint32_t numbers[300];
        for (uint32_t k = 0; k < 300; k++) numbers[k] = i + k;
        CHECK_OK(weft_entity_set(b->world, members[i], b->a, &i, sizeof i));
        CHECK_OK(weft_entity_set(b->world, members[i], b->link, &members[(i + 1) % MEMBERS],
                                 sizeof members[0]));
        weft_buffers list = weft_entity_write_buffer(b->world, members[i], b->list);
        CHECK_OK(weft_buffers_append(&list, 0, numbers, i == 2 ? 300 : i));
    }
    CHECK_OK(weft_entity_add(b->world, members[0], group));
    weft_buffers linked = weft_entity_write_buffer(b->world, members[0], group);
    CHECK_OK(weft_buffers_append(&linked, 0, members, MEMBERS));
    b->prefab = members[0];
}

/* Following the links leads back to every entity after MEMBERS steps, and not before. */
static void check_links(const bed *b)
{
    uint32_t found = 0;
    weft_query all =
        weft_query_create(b->world, &(weft_query_desc){.terms = {{b->a, WEFT_READ, WEFT_ALL, 0}}});
    weft_cursor cursor = weft_query_begin(b->world, all);
    while (weft_query_next(&cursor)) {
        const weft_entity *entities = weft_slice_entities(&cursor.slice);
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++, found++) {
            weft_entity at = entities[i];
            for (uint32_t k = 0; k < MEMBERS; k++) {
                CHECK(k == 0 || at.index != entities[i].index);
                uint32_t number = *(const uint32_t *)weft_entity_read(b->world, at, b->a);
                CHECK_U64(number, (number_of(&cursor.slice, i) + k) % MEMBERS);
                at = *(const weft_entity *)weft_entity_read(b->world, at, b->link);
            }
            CHECK(at.index == entities[i].index && at.version == entities[i].version);
        }
    }
    CHECK_U64(found, MEMBERS * (INDICES * INSTANCES + 1));
    CHECK_OK(weft_query_destroy(b->world, all));
}

static uint64_t instances_on(uint32_t workers)
{
    static bed b;
    bed_open(&b, workers);
    make_group(&b);
    weft_system system = weft_system_create(
        b.world, &(weft_system_desc){.name = "instances",
                                     .run = record_instances,
                                     .user = &b,
                                     .over = {.kind = WEFT_OVER_COUNT, .count = INDICES},
                                     .effects = WEFT_RECORDS_CREATE});
    CHECK(system.id != 0);
    CHECK_OK(weft_world_step(b.world, 0));
    check_links(&b);
    return step_and_end(&b, 0);
}

PLAIN_TEST(instances_are_the_same_on_any_number_of_workers)
{
    same_on_all(instances_on);
}

/* ---- instances with values ---- */

enum { LONE = 1000, SPAWNED = 90 };

/* Instances of two sources in turn, with values; some die at once. A lone entity is a source, too,
 * whose value changes between the instances where `is_changing`. */
typedef struct spawn_bed {
    bed common;
    weft_entity lone;
    bool is_changing;
} spawn_bed;

static void record_spawns(weft_slice *slice, void *user)
{
    const spawn_bed *b = user;
    weft_recorder *r = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < SPAWNED; i++) {
        uint32_t value = slice->index * SPAWNED + i, lone = LONE + i;
        weft_entity of_group = weft_recorder_instantiate(r, b->common.prefab);
        CHECK_OK(weft_recorder_set(r, of_group, b->common.a, &value, sizeof value));
        weft_entity alone = weft_recorder_instantiate(r, b->lone);
        CHECK_OK(weft_recorder_set(r, alone, b->common.cleanup, &value, sizeof value));
        if (i % 9 == 0) CHECK_OK(weft_recorder_remove(r, alone, b->common.a));
        if (i % 5 == 0) CHECK_OK(weft_recorder_set(r, alone, b->common.link, &of_group, 8));
        if (b->is_changing)
            CHECK_OK(weft_recorder_set(r, b->lone, b->common.a, &lone, sizeof lone));
    }
}

/* What the copies of the lone entity have. */
static void check_lone(const spawn_bed *b)
{
    const bed *c = &b->common;
    uint32_t found = 0;
    weft_query all = weft_query_create(
        c->world, &(weft_query_desc){.terms = {{c->cleanup, WEFT_READ, WEFT_ALL, 0}}});
    weft_cursor cursor = weft_query_begin(c->world, all);
    while (weft_query_next(&cursor)) {
        const weft_entity *entities = weft_slice_entities(&cursor.slice);
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++, found++) {
            uint32_t value = number_of(&cursor.slice, i), turn = value % SPAWNED;
            const uint32_t *a = weft_entity_read(c->world, entities[i], c->a);
            const weft_entity *link = weft_entity_read(c->world, entities[i], c->link);
            bool is_first = value < SPAWNED && turn == 0;
            CHECK((a == NULL) == (turn % 9 == 0));
            if (a != NULL && !b->is_changing) CHECK_U64(*a, LONE);
            if (a != NULL && b->is_changing && !is_first)
                CHECK_U64(*a, LONE + (turn == 0 ? SPAWNED - 1 : turn - 1));
            CHECK((link == NULL) == (turn % 5 != 0));
            if (link == NULL) continue;
            CHECK_U64(*(const uint32_t *)weft_entity_read(c->world, *link, c->a), value);
        }
    }
    CHECK_U64(found, INDICES * SPAWNED);
    CHECK_OK(weft_query_destroy(c->world, all));
}

static uint64_t spawns_on(uint32_t workers, bool is_changing)
{
    static spawn_bed b;
    uint32_t first = LONE;
    bed_open(&b.common, workers);
    make_group(&b.common);
    b.is_changing = is_changing;
    b.lone = weft_entity_create(b.common.world, WEFT_ARCHETYPE(b.common.world, b.common.a));
    CHECK_OK(weft_entity_set(b.common.world, b.lone, b.common.a, &first, sizeof first));
    CHECK(
        weft_system_create(b.common.world,
                           &(weft_system_desc){.name = "spawns",
                                               .run = record_spawns,
                                               .user = &b,
                                               .over = {.kind = WEFT_OVER_COUNT, .count = INDICES},
                                               .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_ADD |
                                                          WEFT_RECORDS_REMOVE})
            .id != 0);
    CHECK_OK(weft_world_step(b.common.world, 0));
    check_lone(&b);
    return step_and_end(&b.common, 0);
}

static uint64_t steady_on(uint32_t workers)
{
    return spawns_on(workers, false);
}

static uint64_t changing_on(uint32_t workers)
{
    return spawns_on(workers, true);
}

PLAIN_TEST(instances_get_their_values_on_any_number_of_workers)
{
    same_on_all(steady_on);
}

PLAIN_TEST(instances_are_copies_of_what_the_source_is_then)
{
    same_on_all(changing_on);
}

/* ---- values at uneven distances ---- */

/* Groups get a value each; between some of them lies the instance of another source, without one.
 */
static void record_uneven(weft_slice *slice, void *user)
{
    const spawn_bed *b = user;
    weft_recorder *r = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < SPAWNED; i++) {
        uint32_t value = LONE + slice->index * SPAWNED + i;
        weft_entity of_group = weft_recorder_instantiate(r, b->common.prefab);
        CHECK_OK(weft_recorder_set(r, of_group, b->common.cleanup, &value, sizeof value));
        if (i % 7 < 3) CHECK(weft_recorder_instantiate(r, b->lone).version != 0);
    }
}

static uint64_t uneven_on(uint32_t workers)
{
    static spawn_bed b;
    bed_open(&b.common, workers);
    weft_world *world = b.common.world;
    make_group(&b.common);
    b.lone = weft_entity_create(world, WEFT_ARCHETYPE(world, b.common.a));
    weft_system_desc desc = {.name = "uneven",
                             .run = record_uneven,
                             .user = &b,
                             .over = {.kind = WEFT_OVER_COUNT, .count = INDICES},
                             .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_ADD};
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_world_step(world, 0));
    weft_query all = weft_query_create(
        world, &(weft_query_desc){.terms = {{b.common.cleanup, WEFT_READ, WEFT_ALL, 0}}});
    static uint32_t values[INDICES * SPAWNED];
    CHECK_U64(weft_query_read_values(world, all, b.common.cleanup, values, INDICES * SPAWNED),
              INDICES * SPAWNED);
    for (uint32_t i = 0; i < INDICES * SPAWNED; i++) CHECK_U64(values[i], LONE + i);
    return step_and_end(&b.common, 0);
}

PLAIN_TEST(instances_at_any_distance_get_their_values)
{
    same_on_all(uneven_on);
}
