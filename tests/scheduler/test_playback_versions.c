/* SPDX-License-Identifier: MIT */
/* test_playback_versions.c: rows bring the change versions of their slices along when commands move
 * them. These are the same on any number of workers, also where the rows of a chunk leave while
 * others come to it or get values, and so is what a system sees that skips what is unchanged. */
#include <weft/weft.h>

#include "plain.h"

#include <stdio.h>

enum { ROWS = 3000, TAGS = 4, STEPS = 6, SEEDS = 8 };

/* A world whose systems move rows to and fro and set values. Owner: the test. */
typedef struct bed {
    weft_job_pool *pool;
    weft_world *world;
    weft_component a, b, tags[TAGS];
    uint32_t seed, step;
} bed;

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t x = (a ^ (b * 0x9e3779b9u)) * 0x85ebca6bu;
    return x ^ x >> 15;
}

/* A fifth of the rows, each with one command. */
static void record(weft_slice *slice, void *user)
{
    const bed *b = user;
    weft_recorder *recorder = weft_slice_recorder(slice);
    const weft_entity *entities = weft_slice_entities(slice);
    for (uint32_t i = 0; i < slice->count; i++) {
        uint32_t draw = mix(entities[i].index * 31 + b->step, b->seed);
        weft_component tag = b->tags[draw / 16 % TAGS];
        if (draw % 5 != 0) continue;
        if (draw / 64 % 3 == 0)
            CHECK_OK(weft_recorder_add(recorder, entities[i], tag));
        else if (draw / 64 % 3 == 1)
            CHECK_OK(weft_recorder_remove(recorder, entities[i], tag));
        else if (draw % 2 == 0)
            CHECK_OK(weft_recorder_set(recorder, entities[i], b->b, &draw, sizeof draw));
    }
}

static void count_up(weft_slice *slice, void *user)
{
    uint32_t *values = weft_slice_write(slice, 0);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) values[i] = values[i] * 3 + 1;
}

static void bed_open(bed *b, uint32_t workers, uint32_t seed)
{
    *b = (bed){.seed = seed};
    const weft_job_pool_desc pool = {.worker_count = workers, .is_always_parallel = workers > 1};
    CHECK_OK(weft_job_pool_create(&pool, &b->pool));
    CHECK_OK(weft_world_create(&(weft_world_desc){.pool = b->pool}, &b->world));
    b->a = weft_component_create_plain(b->world, "a", 4, 4, 0);
    b->b = weft_component_create_plain(b->world, "b", 4, 4, 0);
    for (uint32_t i = 0; i < TAGS; i++) {
        char name[8];
        snprintf(name, sizeof name, "tag%u", i);
        b->tags[i] = weft_component_create_plain(b->world, name, 0, 1, 0);
    }
    weft_archetype both = WEFT_ARCHETYPE(b->world, b->a, b->b);
    CHECK_OK(weft_entity_create_many(b->world, both, ROWS, NULL));
    const weft_system_desc recording = {.name = "records",
                                        .run = record,
                                        .user = b,
                                        .effects = WEFT_RECORDS_ANY,
                                        .over.rows.terms = {{b->a, WEFT_READ, WEFT_ALL, 0}}};
    const weft_system_desc skipping = {
        .name = "skips",
        .run = count_up,
        .skips_unchanged = true,
        .over.rows.terms = {{b->a, WEFT_WRITE, WEFT_ALL, 0}, {b->b, WEFT_READ, WEFT_ALL, 0}}};
    CHECK(weft_system_create(b->world, &recording).id != 0);
    CHECK(weft_system_create(b->world, &skipping).id != 0);
}

static void bed_close(bed *b)
{
    CHECK_OK(weft_world_validate(b->world));
    CHECK_OK(weft_world_destroy(b->world));
    CHECK_OK(weft_job_pool_destroy(b->pool));
}

/* Change versions of all slices, in order, and the contents. */
static uint64_t state_of(const bed *b, weft_query all)
{
    uint64_t sum = weft_world_hash(b->world, WEFT_HASH_LAYOUT);
    weft_cursor cursor = weft_query_begin(b->world, all);
    while (weft_query_next(&cursor))
        for (uint32_t term = 0; term < 2; term++)
            sum = sum * 31 + weft_slice_change_version(&cursor.slice, term);
    return sum;
}

static void run(uint32_t workers, uint32_t seed, uint64_t *states)
{
    static bed b;
    bed_open(&b, workers, seed);
    weft_query all =
        weft_query_create(b.world, &(weft_query_desc){.terms = {{b.a, WEFT_READ, WEFT_ALL, 0},
                                                                {b.b, WEFT_READ, WEFT_ALL, 0}}});
    for (b.step = 0; b.step < STEPS; b.step++) {
        CHECK_OK(weft_world_step(b.world, 0));
        states[b.step] = state_of(&b, all);
    }
    bed_close(&b);
}

PLAIN_TEST(rows_bring_the_same_versions_along_on_any_number_of_workers)
{
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t one[STEPS], three[STEPS];
        run(1, seed, one);
        run(3, seed, three);
        for (uint32_t i = 0; i < STEPS; i++) CHECK_U64(three[i], one[i]);
    }
}
