/* SPDX-License-Identifier: MIT */
/* test_by_depth.c: systems that run level after level: parents before children for any number of
 * workers, what changes in a frame, what is refused; and transforms. */
#include "check.h"
#include "plain.h"

#include <weft/finder.h>
#include <weft/relation.h>
#include <weft/transform.h>
#include <weft/weft.h>

#include <math.h>
#include <stdlib.h>

enum { TREES = 700, DEEP = 6 };

/* Owner: one test. */
typedef struct depth_world {
    weft_world *world;
    weft_component parent, level;
    weft_system system;
    weft_entity nodes[TREES][DEEP];
} depth_world;

/* One more than the value of the parent. */
static void count_levels(weft_slice *slice, void *user)
{
    const depth_world *d = user;
    uint32_t *levels = WEFT_WRITE_COLUMN(slice, 0, uint32_t);
    const weft_target *up = weft_slice_read(slice, 1);
    weft_finder finder = weft_slice_finder(slice, d->level);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        const uint32_t *above = up == NULL ? NULL : weft_finder_read(&finder, up[i].entity);
        levels[i] = above == NULL ? 0 : *above + 1;
    }
}

static weft_system_desc describe(depth_world *d)
{
    return (weft_system_desc){
        .name = "levels",
        .run = count_levels,
        .user = d,
        .over.rows = {.terms = {{d->level, WEFT_WRITE}, {d->parent, .match = WEFT_OPTIONAL}}},
        .lookups = {{d->level, WEFT_READ}},
        .by_depth = d->parent};
}

static depth_world *open_world(uint32_t workers)
{
    depth_world *d = calloc(1, sizeof *d);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &d->world));
    CHECK_OK(weft_schedule_set(d->world, &(weft_schedule_desc){.is_always_parallel = workers > 1}));
    d->parent = weft_component_parent(d->world);
    d->level = weft_component_create_plain(d->world, "uint32_t", 4, 4, 0);
    weft_system_desc desc = describe(d);
    d->system = weft_system_create(d->world, &desc);
    CHECK(d->system.id != 0);
    weft_component odd = weft_component_create_plain(d->world, "odd", 0, 1, 0);
    weft_archetype archetypes[] = {WEFT_ARCHETYPE(d->world, d->level),
                                   WEFT_ARCHETYPE(d->world, d->level, odd)};
    for (
        uint32_t k = DEEP;
        k-- >
        0;) /* children have lower indices than parents; chunks of depth 2 come before those of 1 */
        for (uint32_t t = 0; t < TREES; t++)
            d->nodes[t][k] = weft_entity_create(d->world, archetypes[k % 2]);
    for (uint32_t k = DEEP; --k > 0;) /* and rows in front of theirs */
        for (uint32_t t = 0; t < TREES; t++)
            CHECK_OK(weft_relation_set(d->world, d->nodes[t][k], d->parent, d->nodes[t][k - 1]));
    return d;
}

static void close_world(depth_world *d)
{
    CHECK_OK(weft_world_validate(d->world));
    CHECK_OK(weft_world_destroy(d->world));
    free(d);
}

static uint32_t level_of(const depth_world *d, weft_entity e)
{
    return *(const uint32_t *)weft_entity_read(d->world, e, d->level);
}

static void check_levels(uint32_t workers)
{
    depth_world *d = open_world(workers);
    CHECK_OK(weft_world_step(d->world, 0.1f));
    for (uint32_t t = 0; t < TREES; t++)
        for (uint32_t k = 0; k < DEEP; k++) CHECK_U64(level_of(d, d->nodes[t][k]), k);
    for (uint32_t t = 0; t < TREES; t += 2) /* a level less below */
        CHECK_OK(weft_relation_set(d->world, d->nodes[t][3], d->parent, d->nodes[t][1]));
    CHECK_OK(weft_world_step(d->world, 0.1f));
    for (uint32_t t = 0; t < TREES; t++)
        for (uint32_t k = 0; k < DEEP; k++)
            CHECK_U64(level_of(d, d->nodes[t][k]), k - (k > 2 && t % 2 == 0));
    CHECK_OK(weft_system_run(d->world, d->system, 0.1f));
    CHECK_U64(level_of(d, d->nodes[0][5]), 4);
    close_world(d);
}

PLAIN_TEST(parents_run_before_their_children)
{
    check_levels(1);
}

PLAIN_TEST(parents_run_before_their_children_on_several_workers)
{
    check_levels(4);
}

static void reparent(weft_slice *slice, void *user)
{
    const depth_world *d = user;
    weft_recorder *commands = weft_slice_recorder(slice);
    weft_target up = {d->nodes[0][0]};
    CHECK_OK(weft_recorder_set(commands, d->nodes[5][2], d->parent, &up, sizeof up));
    CHECK_OK(weft_recorder_destroy_entity(commands, d->nodes[7][1]));
}

PLAIN_TEST(commands_of_a_frame_are_settled_at_the_sync_point)
{
    depth_world *d = open_world(2);
    CHECK(weft_system_create(d->world, &(weft_system_desc){.name = "reparent",
                                                           .run = reparent,
                                                           .user = d,
                                                           .effects = WEFT_RECORDS_ANY,
                                                           .before = {"levels"}})
              .id != 0);
    CHECK_OK(weft_world_step(d->world, 0.1f));
    CHECK_U64(level_of(d, d->nodes[5][2]), 1);
    CHECK_U64(level_of(d, d->nodes[5][5]), 4);
    for (uint32_t k = 0; k < DEEP; k++)
        CHECK(weft_entity_is_alive(d->world, d->nodes[7][k]) == (k == 0));
    uint32_t count;
    weft_relation_sources(d->world, d->parent, d->nodes[0][0], &count);
    CHECK_U64(count, 2);
    close_world(d);
}

static void reparent_in_place(weft_slice *slice, void *user)
{
    const depth_world *d = user;
    weft_target *up = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        if (slice->entities[i].index == d->nodes[5][1].index) up[i].entity = d->nodes[0][4];
}

PLAIN_TEST(fields_written_in_place_are_settled_before_those_that_name_the_relation)
{
    depth_world *d = open_world(2);
    CHECK(weft_system_create(d->world,
                             &(weft_system_desc){.name = "reparent",
                                                 .run = reparent_in_place,
                                                 .user = d,
                                                 .over.rows = {.terms = {{d->parent, WEFT_WRITE}}},
                                                 .before = {"levels"}})
              .id != 0);
    CHECK_OK(weft_world_step(d->world, 0.1f));
    CHECK_U64(level_of(d, d->nodes[5][1]), 5);
    CHECK_U64(level_of(d, d->nodes[5][5]), 9);
    close_world(d);
}

/* Writes a cycle: the step reports it, runs, and the next one is well. */
PLAIN_TEST(a_cycle_that_fields_have_is_the_error_of_one_step)
{
    depth_world *d = open_world(1);
    CHECK_OK(weft_world_step(d->world, 0.1f));
    weft_target up = {d->nodes[3][DEEP - 1]};
    CHECK_OK(weft_entity_set(d->world, d->nodes[3][1], d->parent, &up, sizeof up));
    CHECK_RESULT(weft_world_step(d->world, 0.1f), WEFT_CYCLE);
    CHECK_U64(level_of(d, d->nodes[4][2]), 2);
    CHECK_OK(weft_world_step(d->world, 0.1f));
    close_world(d);
}

PLAIN_TEST(descriptions_are_checked)
{
    depth_world *d = open_world(1);
    weft_system_desc desc = describe(d);
    desc.name = "other";
    desc.flags = WEFT_SYSTEM_SERIAL;
    CHECK(weft_system_create(d->world, &desc).id == 0);
    CHECK_U64(weft_world_error(d->world)->code, WEFT_INVALID_ARGUMENT);
    desc.flags = 0;
    desc.by_depth = d->level;
    CHECK(weft_system_create(d->world, &desc).id == 0);
    CHECK_U64(weft_world_error(d->world)->code, WEFT_TYPE_MISMATCH);
    close_world(d);
}

static void check_point(const weft_world *world, weft_entity e, weft_component c,
                        const float *expected)
{
    const weft_world_transform *m = weft_entity_read(world, e, c);
    const float p[3] = {1, 2, 3};
    for (int i = 0; i < 3; i++) {
        double at = (double)m->rows[i][3];
        for (int k = 0; k < 3; k++) at += (double)m->rows[i][k] * (double)p[k];
        CHECK_F64(at, (double)expected[i], 1e-5);
    }
}

PLAIN_TEST(transforms_go_from_parents_to_children)
{
    weft_world *world;
    weft_transform t, again;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2}, &world));
    CHECK_OK(weft_transform_create(world, NULL, &t));
    CHECK_OK(weft_transform_create(world, NULL, &again));
    CHECK_OK(weft_transform_create(world, NULL, NULL));
    CHECK_U64(again.system.id, t.system.id);
    weft_entity e[7]; /* seven: not a multiple of four */
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, t.local, t.world), 7, e));
    for (uint32_t i = 0; i < 7; i++) {
        /* a quarter turn about z, twice as large, one step along x */
        float half = sqrtf(0.5f);
        weft_local_transform local = {{1, 0, 0}, 2, {0, 0, half, half}};
        CHECK_OK(weft_entity_set(world, e[i], t.local, &local, sizeof local));
        if (i % 3 != 0)
            CHECK_OK(weft_relation_set(world, e[i], weft_component_parent(world), e[i - 1]));
    }
    CHECK_OK(weft_world_step(world, 0.1f));
    /* (1,2,3) -> scaled (2,4,6), turned (-4,2,6), moved (-3,2,6) -> (-6,4,12), (-4,-6,12),
     * (-3,..) */
    for (uint32_t i = 0; i < 7; i += 3) check_point(world, e[i], t.world, (float[]){-3, 2, 6});
    check_point(world, e[1], t.world, (float[]){-3, -6, 12});
    check_point(world, e[5], t.world, (float[]){13, -6, 24});
    CHECK_OK(weft_entity_destroy(world, e[3]));
    CHECK_OK(weft_world_step(world, 0.1f));
    CHECK(!weft_entity_is_alive(world, e[5]));
    CHECK_OK(weft_world_destroy(world));
}
