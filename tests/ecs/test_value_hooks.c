/* SPDX-License-Identifier: MIT */
/* test_value_hooks.c: hooks of components that use the world all the same: calls that would change,
 * step or end it are refused, in single calls, playback and steps, on any worker; checked builds
 * name the hook and the call. */
#include "plain.h"

#include <weft/snapshot.h>
#include <weft/weft.h>

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "atomic.h"
#include "invariant.h"

typedef struct Mass {
    uint64_t g;
} Mass;

enum { ROWS = 3000 };

/* Owner: one test. */
static struct {
    weft_world *world;
    weft_component mass, list, paint, mark;
    weft_archetype archetype;
    weft_entity first;
    bool is_parallel; /* one call only, which any worker may try */
    weft_a32 x_calls, x_refused;
    char expected[100]; /* the report of checked builds */
} of;

static void meddle(const char *hook, const char *type)
{
    const Mass mass = {1};
    weft_world *world = of.world;
    if (of.archetype.id == 0) return; /* not yet */
    if (of.is_parallel) {
        const bool is_first =
            at_add_ar(&of.x_calls, 1u) == 0; /* it waits a while for another worker */
        for (uint32_t i = 0; is_first && at_load_acq(&of.x_calls) < 2 && i < 2000; i++)
            sched_yield();
        if (weft_entity_create(world, of.archetype).version == 0) at_add_ar(&of.x_refused, 1u);
        return;
    }
    if (at_add_ar(&of.x_calls, 1u) != 0) return;
    CHECK_RESULT(weft_world_destroy(world), WEFT_WRONG_PHASE);
    CHECK(WEFT_IS_CHECKED ||
          strstr(weft_world_error(world)->text, "may not use the world") != NULL);
    CHECK_RESULT(weft_world_step(world, 0), WEFT_WRONG_PHASE);
    CHECK(weft_entity_create(world, of.archetype).version == 0);
    CHECK_RESULT(weft_entity_set(world, of.first, of.mass, &mass, sizeof mass), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_entity_add(world, of.first, of.mark), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_entity_destroy(world, of.first), WEFT_WRONG_PHASE);
    snprintf(of.expected, sizeof of.expected,
             "the %s hook of component %s used the world: weft_world_destroy: ", hook, type);
}

static void construct(void *values, uint32_t count, void *user)
{
    (void)values;
    (void)count;
    meddle("construct", user);
}

static void destruct(void *values, uint32_t count, void *user)
{
    (void)values;
    (void)count;
    meddle("destruct", user);
}

static void copy(void *to, const void *from, uint32_t count, void *user)
{
    memcpy(to, from, count * sizeof(Mass));
    meddle("copy", user);
}

static void paint_release(void *value, void *user)
{
    (void)value;
    meddle("shared_release", user);
}

static uint64_t entity_count(void)
{
    weft_world_stats stats;
    weft_world_stats_get(of.world, &stats, sizeof stats);
    return stats.entities;
}

static void begin(uint32_t workers)
{
    memset(&of, 0, sizeof of);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &of.world));
    weft_component_desc desc = {.name = "Mass",
                                .size = sizeof(Mass),
                                .chunk_row_limit = 64,
                                .hooks = {construct, destruct, copy, (void *)"\"Mass\""}};
    of.mass = weft_component_create(of.world, &desc);
    desc.name = "List";
    desc.flags = WEFT_BUFFER;
    desc.hooks.user = (void *)"\"List\"";
    of.list = weft_component_create(of.world, &desc);
    desc = (weft_component_desc){.name = "Paint",
                                 .size = sizeof(Mass),
                                 .flags = WEFT_SHARED,
                                 .shared_release = paint_release,
                                 .hooks.user = (void *)"\"Paint\""};
    of.paint = weft_component_create(of.world, &desc);
    of.mark = WEFT_TAG(of.world, Mark);
    of.first = weft_entity_create(of.world, weft_archetype_create(of.world, NULL, 0));
    CHECK_OK(weft_entity_add(of.world, of.first, of.mass));
    of.archetype = weft_archetype_create(of.world, NULL, 0);
}

/* A call that ran hooks: they were there, and nothing came of it. */
static void ran(uint64_t entities)
{
    CHECK(at_load_acq(&of.x_calls) != 0);
    at_store_rel(&of.x_calls, 0u);
    if (WEFT_IS_CHECKED) CHECK(strstr(weft_world_error(of.world)->text, of.expected) != NULL);
    CHECK_U64(entity_count(), entities);
    CHECK_OK(weft_world_validate(of.world));
}

PLAIN_TEST(hooks_of_single_calls_cannot_change_the_world)
{
    const Mass mass = {7}, other = {8};
    weft_entity some[100];
    begin(1);
    weft_entity e = weft_entity_create(of.world, WEFT_ARCHETYPE(of.world, of.mass));
    ran(2);
    CHECK_OK(weft_entity_create_many(of.world, WEFT_ARCHETYPE(of.world, of.mass), 100, some));
    ran(102);
    CHECK_OK(weft_entity_set(of.world, e, of.mass, &mass, sizeof mass));
    ran(102);
    CHECK_OK(weft_entity_instantiate(of.world, e, 1, some));
    ran(103);
    CHECK_OK(weft_entity_remove(of.world, e, of.mass));
    ran(103);
    CHECK_OK(weft_entity_add(of.world, e, of.mass));
    ran(103);
    CHECK_OK(weft_entity_destroy(of.world, e));
    ran(102);
    weft_entity_add(of.world, some[0], of.list);
    weft_buffers list = weft_entity_write_buffer(of.world, some[0], of.list);
    CHECK_OK(weft_buffers_resize(&list, 0, 9));
    ran(102);
    CHECK_OK(weft_buffers_resize(&list, 0, 1));
    ran(102);
    CHECK_OK(weft_entity_set_shared(of.world, some[0], of.paint, &mass));
    CHECK_OK(weft_entity_set_shared(of.world, some[0], of.paint, &other));
    ran(102);
    weft_snapshot *snapshot;
    CHECK_OK(weft_snapshot_take(of.world, NULL, &snapshot));
    CHECK_OK(weft_entity_set(of.world, some[0], of.mass, &mass, sizeof mass));
    at_store_rel(&of.x_calls, 0u);
    CHECK_OK(weft_snapshot_restore(of.world, snapshot));
    ran(102);
    weft_snapshot_destroy(snapshot);
    CHECK_OK(weft_entity_destroy(of.world, some[0]));
    ran(101);
    of.is_parallel = true;
    CHECK_OK(weft_world_destroy(of.world));
    CHECK(at_load_acq(&of.x_calls) != 0);
    CHECK_U64(at_load_acq(&of.x_refused), at_load_acq(&of.x_calls));
}

static void expect_told(weft_result result)
{
    CHECK(at_load_acq(&of.x_calls) != 0);
    CHECK_U64(at_load_acq(&of.x_refused), at_load_acq(&of.x_calls));
    CHECK_RESULT(result, WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK);
    if (!WEFT_IS_CHECKED) return;
    const char *text = weft_world_error(of.world)->text;
    CHECK(strstr(text, "struct hook of component \"Mass\" used the world: weft_entity_create: ") !=
          NULL);
}

PLAIN_TEST(hooks_of_a_playback_cannot_change_the_world)
{
    weft_entity rows[ROWS];
    begin(4);
    CHECK_OK(weft_entity_create_many(of.world, of.archetype, ROWS, rows));
    weft_recorder *recorder;
    CHECK_OK(weft_recorder_create(of.world, &recorder));
    for (uint32_t round = 0; round < 9; round++) {
        const uint32_t count = round == 8 ? 3 : ROWS;
        of.is_parallel = true;
        at_store_rel(&of.x_calls, 0u);
        at_store_rel(&of.x_refused, 0u);
        for (uint32_t i = 0; i < count; i++)
            CHECK_OK(weft_recorder_add(recorder, rows[i], of.mass));
        expect_told(weft_recorder_play(recorder));
        at_store_rel(&of.x_calls, 0u);
        at_store_rel(&of.x_refused, 0u);
        for (uint32_t i = 0; i < count; i++)
            CHECK_OK(weft_recorder_remove(recorder, rows[i], of.mass));
        expect_told(weft_recorder_play(recorder));
        CHECK_U64(entity_count(), ROWS + 1);
        CHECK_OK(weft_world_validate(of.world));
    }
    weft_recorder_destroy(recorder);
    of.archetype.id = 0;
    CHECK_OK(weft_world_destroy(of.world));
}

static void add_all(weft_slice *slice, void *user)
{
    const weft_entity *entities = weft_slice_entities(slice);
    weft_recorder *recorder = weft_slice_recorder(slice);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        weft_recorder_add(recorder, entities[i], of.mass);
}

static void add_now(weft_slice *slice, void *user)
{
    (void)user;
    (void)slice;
    weft_entity_add(of.world, of.first, of.mass);
}

PLAIN_TEST(hooks_of_a_step_cannot_change_the_world)
{
    weft_entity rows[ROWS];
    for (uint32_t exclusive = 0; exclusive < 2; exclusive++) {
        begin(4);
        CHECK_OK(weft_entity_remove(of.world, of.first, of.mass));
        CHECK_OK(weft_entity_create_many(of.world, WEFT_ARCHETYPE(of.world, of.mark), ROWS, rows));
        const weft_system_desc many = {.name = "many",
                                       .run = add_all,
                                       .effects = WEFT_RECORDS_ADD,
                                       .over.rows.terms = {{of.mark, WEFT_READ}}};
        const weft_system_desc one = {
            .name = "one", .run = add_now, .flags = WEFT_SYSTEM_EXCLUSIVE};
        weft_system_create(of.world, exclusive ? &one : &many);
        of.is_parallel = true;
        at_store_rel(&of.x_calls, 0u);
        at_store_rel(&of.x_refused, 0u);
        expect_told(weft_world_step(of.world, 0));
        CHECK_U64(entity_count(), ROWS + 1);
        CHECK_OK(weft_world_validate(of.world));
        of.archetype.id = 0;
        CHECK_OK(weft_world_destroy(of.world));
    }
}
