/* SPDX-License-Identifier: MIT */
/* test_nursery.c: few rows that many slices make share private chunks: ids, layout and contents are
 * the same on any number of workers, references between such rows mean the rows, shared values are
 * as asked for, and a frame does not open a chunk for each slice. */
#include <weft/type.h>
#include <weft/weft.h>

#include "plain.h"

enum { ROWS = 20000, STEPS = 3, WORKER_COUNTS = 4 };

typedef struct pair {
    weft_entity other;
    uint32_t number; /* of the other one */
} pair;

/* A world whose one system makes rows; owner: the test. */
typedef struct bed {
    weft_world *world;
    weft_component seed, number, pair, team;
    weft_archetype plain, paired, grouped;
    weft_query numbers, pairs, teams;
} bed;

static const uint32_t worker_counts[WORKER_COUNTS] = {1, 2, 3, 8};

static uint32_t column_of(const bed *b, weft_archetype archetype, weft_component component)
{
    weft_component list[4];
    uint32_t count = weft_archetype_components(b->world, archetype, list, 4);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].id == component.id) return i;
    return UINT32_MAX;
}

/* Rows of an archetype with consecutive numbers, in as many calls as it takes. */
static void make(const bed *b, weft_slice *slice, weft_rows_desc desc, uint32_t first)
{
    for (uint32_t done = 0, count = desc.count; done < count;) {
        weft_slice rows;
        desc.count = count - done;
        CHECK_OK(weft_recorder_create_rows_with(weft_slice_recorder(slice), &desc, &rows));
        uint32_t *numbers = weft_slice_write(&rows, column_of(b, desc.archetype, b->number));
        for (uint32_t i = 0; i < rows.count; i++) numbers[i] = first + done + i;
        done += rows.count;
    }
}

/* Two rows that know each other. */
static void make_pair(const bed *b, weft_slice *slice, uint32_t first)
{
    weft_slice rows;
    weft_recorder *r = weft_slice_recorder(slice);
    CHECK_OK(weft_recorder_create_rows(r, b->paired, 2, &rows));
    CHECK_U64(rows.count, 2); /* so few are never cut */
    uint32_t *numbers = weft_slice_write(&rows, column_of(b, b->paired, b->number));
    pair *pairs = weft_slice_write(&rows, column_of(b, b->paired, b->pair));
    for (uint32_t i = 0; i < 2; i++) {
        numbers[i] = first + i;
        pairs[i] = (pair){weft_recorder_row_entity(r, &rows, 1 - i), first + 1 - i};
    }
}

/* Few rows of three archetypes in turn, of several teams; many rows in one call, and in many. */
static void record(weft_slice *slice, void *user)
{
    const bed *b = user;
    uint32_t at = slice->index, first = at * 10000;
    for (uint32_t i = 0; i < at % 4; i++) {
        uint32_t team = at % 3 + i;
        weft_values shared = {b->team, &team};
        make(b, slice, (weft_rows_desc){.archetype = b->plain, .count = 1 + i}, first + i * 10);
        make_pair(b, slice, first + 100 + i * 2);
        make(b, slice,
             (weft_rows_desc){
                 .archetype = b->grouped, .count = 2, .shared = &shared, .shared_count = 1},
             first + 200 + i * 2);
    }
    if (at % 4 == 0) { /* behind rows of another team */
        uint32_t team = at % 3;
        weft_values shared = {b->team, &team};
        make(b, slice,
             (weft_rows_desc){
                 .archetype = b->grouped, .count = 2, .shared = &shared, .shared_count = 1},
             first + 200);
    }
    if (at % 7 == 0)
        make(b, slice, (weft_rows_desc){.archetype = b->plain, .count = 3000}, first + 300);
    for (uint32_t i = 0; at % 5 == 0 && i < 400; i++)
        make(b, slice, (weft_rows_desc){.archetype = b->plain, .count = 3}, first + 4000 + i * 3);
    if (at % 9 == 0)
        make(b, slice, (weft_rows_desc){.archetype = b->plain, .count = 2}, first + 9000);
}

static weft_query query_of(const bed *b, weft_component component)
{
    return weft_query_create(b->world,
                             &(weft_query_desc){.terms = {{component, WEFT_READ, WEFT_ALL, 0},
                                                          {b->number, WEFT_READ, WEFT_ALL, 0}}});
}

static void bed_open(bed *b, uint32_t workers)
{
    static const weft_field other = {.name = "other", .kind = WEFT_FIELD_ENTITY};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &b->world));
    b->seed = weft_component_create_plain(b->world, "seed", 4, 4, 0);
    b->number = weft_component_create_plain(b->world, "number", 4, 4, 0);
    b->pair = weft_component_create(b->world, &(weft_component_desc){.name = "pair",
                                                                     .size = sizeof(pair),
                                                                     .alignment = 4,
                                                                     .fields = &other,
                                                                     .field_count = 1});
    b->team = weft_component_create_plain(b->world, "team", 4, 4, WEFT_SHARED);
    b->plain = weft_archetype_create(b->world, &b->number, 1);
    b->paired = weft_archetype_create(b->world, (weft_component[]){b->number, b->pair}, 2);
    b->grouped = weft_archetype_create(b->world, (weft_component[]){b->number, b->team}, 2);
    b->pairs = query_of(b, b->pair);
    b->teams = query_of(b, b->team);
    CHECK_OK(weft_entity_create_many(b->world, WEFT_ARCHETYPE(b->world, b->seed), ROWS, NULL));
    weft_system_desc desc = {
        .name = "record", .run = record, .user = b, .effects = WEFT_RECORDS_CREATE};
    desc.over.rows.terms[0] = (weft_term){b->seed, WEFT_READ, WEFT_ALL, 0};
    CHECK(weft_system_create(b->world, &desc).id != 0);
}

static void check_pairs(const bed *b)
{
    weft_cursor cursor = weft_query_begin(b->world, b->pairs);
    while (weft_query_next(&cursor)) {
        const weft_entity *entities = weft_slice_entities(&cursor.slice);
        const pair *pairs = weft_slice_read(&cursor.slice, 0);
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++) {
            const uint32_t *number = weft_entity_read(b->world, pairs[i].other, b->number);
            const pair *back = weft_entity_read(b->world, pairs[i].other, b->pair);
            CHECK(number != NULL && *number == pairs[i].number);
            CHECK(back->other.index == entities[i].index);
        }
    }
}

static void check_teams(const bed *b)
{
    weft_cursor cursor = weft_query_begin(b->world, b->teams);
    while (weft_query_next(&cursor)) {
        const uint32_t *team = weft_slice_read_shared(&cursor.slice, 0);
        const uint32_t *numbers = weft_slice_read(&cursor.slice, 1);
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++) {
            uint32_t at = numbers[i] / 10000, k = (numbers[i] % 10000 - 200) / 2;
            CHECK_U64(*team, at % 3 + k);
        }
    }
}

static uint64_t hash_on(uint32_t workers)
{
    static bed b;
    bed_open(&b, workers);
    for (uint32_t i = 0; i < STEPS; i++) {
        CHECK_OK(weft_world_step(b.world, 0));
        CHECK_OK(weft_world_validate(b.world));
    }
    check_pairs(&b);
    check_teams(&b);
    uint64_t hash = weft_world_hash(b.world, WEFT_HASH_LAYOUT);
    CHECK_OK(weft_world_destroy(b.world));
    return hash;
}

PLAIN_TEST(few_rows_of_many_slices_are_the_same_on_any_number_of_workers)
{
    uint64_t hash = hash_on(worker_counts[0]);
    for (uint32_t i = 1; i < WORKER_COUNTS; i++) CHECK_U64(hash_on(worker_counts[i]), hash);
}

static void record_two(weft_slice *slice, void *user)
{
    make_pair(user, slice, slice->index * 2);
}

PLAIN_TEST(few_rows_of_many_slices_do_not_open_a_chunk_each)
{
    static bed b;
    bed_open(&b, 1);
    weft_system_desc desc = {
        .name = "two", .run = record_two, .user = &b, .effects = WEFT_RECORDS_CREATE};
    desc.over = (weft_system_over){.kind = WEFT_OVER_COUNT, .count = 500};
    weft_system two = weft_system_create(b.world, &desc);
    weft_world_stats before, after;
    CHECK_OK(weft_system_run(b.world, two, 0));
    weft_world_stats_get(b.world, &before, sizeof before);
    CHECK_OK(weft_system_run(b.world, two, 0));
    weft_world_stats_get(b.world, &after, sizeof after);
    CHECK_U64(after.entities - before.entities, 1000);
    CHECK(after.allocations - before.allocations < 100);
    check_pairs(&b);
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(rows_of_nurseries_that_are_never_played_leave_nothing)
{
    static bed b;
    weft_recorder *r;
    weft_world_stats before, after;
    bed_open(&b, 1);
    weft_world_stats_get(b.world, &before, sizeof before);
    CHECK_OK(weft_recorder_create(b.world, &r));
    for (uint32_t i = 0; i < 3000; i++) {
        weft_slice rows;
        CHECK_OK(weft_recorder_create_rows(r, i % 2 == 0 ? b.plain : b.paired, 2, &rows));
    }
    weft_recorder_destroy(r);
    weft_world_stats_get(b.world, &after, sizeof after);
    CHECK_U64(after.units_used, before.units_used);
    CHECK_U64(after.entities, before.entities);
    CHECK_OK(weft_world_validate(b.world));
    CHECK_OK(weft_world_destroy(b.world));
}
