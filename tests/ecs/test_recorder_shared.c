/* SPDX-License-Identifier: MIT */
/* test_recorder_shared.c: SHARED values that a recorder holds: each that was recorded ends once,
 * whatever became of its command. */
#include "memory_fault.h"
#include "plain.h"

#include "fold_rows.h"

#include <weft/ecs.h>

#include <string.h>

enum { KEYS = 40 };

/* A value that owns something: its key counts how often it was released. */
typedef struct owned {
    uint64_t key;
} owned;

static test_memory memory;
static weft_world *world;
static weft_component team, side, plain;
static weft_archetype both, bare;
static weft_query all;
static weft_entity rows[8];
static uint32_t released[KEYS];

static void release(void *value, void *user)
{
    (void)user;
    const owned *of = value;
    CHECK(of->key != 0 && of->key < KEYS);
    released[of->key]++;
}

static weft_component owned_component(const char *name)
{
    return weft_component_create(world, &(weft_component_desc){.name = name,
                                                               .size = sizeof(owned),
                                                               .flags = WEFT_SHARED,
                                                               .shared_release = release});
}

static void begin(void)
{
    test_memory_init(&memory);
    memset(released, 0, sizeof released);
    weft_world_desc desc = {.workers = 1, .allocator = test_memory_hook(&memory)};
    CHECK_OK(weft_world_create(&desc, &world));
    team = owned_component("team");
    side = owned_component("side");
    plain = weft_component_create_plain(world, "plain", 4, 4, 0);
    both = weft_archetype_create(world, (weft_component[]){plain, team, side}, 3);
    bare = weft_archetype_create(world, &plain, 1);
    all = weft_query_create(world, &(weft_query_desc){.terms = {{plain, WEFT_READ, 0, 0}}});
    CHECK_OK(weft_entity_create_many(world, bare, 8, rows));
}

static void end(void)
{
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
}

static weft_recorder *recorder_create(void)
{
    weft_recorder *recorder;
    CHECK_OK(weft_recorder_create(world, &recorder));
    return recorder;
}

static void set(weft_recorder *recorder, weft_entity entity, weft_component component, uint64_t key)
{
    CHECK_OK(weft_recorder_set_shared(recorder, entity, component, &(owned){key}));
}

static void set_all(weft_recorder *recorder, uint64_t key)
{
    CHECK_OK(weft_recorder_query_set_shared(recorder, all, team, &(owned){key}));
}

static void create_rows(weft_recorder *recorder, uint64_t of_team, uint64_t of_side)
{
    owned values[] = {{of_team}, {of_side}};
    weft_values shared[] = {{team, &values[0]}, {side, &values[1]}};
    weft_slice made;
    CHECK_OK(weft_recorder_create_rows_with(
        recorder,
        &(weft_rows_desc){.archetype = both, .count = 3, .shared = shared, .shared_count = 2},
        &made));
}

/* Commands of each kind, with keys 1 to 8; some of them twice. */
static void record_each_kind(weft_recorder *recorder)
{
    set(recorder, rows[0], team, 1);
    set(recorder, rows[1], team, 1); /* equal: one value */
    set(recorder, rows[1], team, 2); /* instead of the one before */
    set(recorder, rows[2], side, 3);
    set_all(recorder, 4);
    create_rows(recorder, 5, 6);
    create_rows(recorder, 5, 6); /* into the same chunk */
    create_rows(recorder, 7, 3);
    weft_entity made = weft_recorder_create_entity(recorder, bare);
    set(recorder, made, team, 8);
}

static void check_released(uint32_t first, uint32_t last, uint32_t times)
{
    for (uint32_t key = first; key <= last; key++) CHECK_U64(released[key], times);
}

PLAIN_TEST(a_recorder_that_is_destroyed_releases_what_it_held)
{
    begin();
    weft_recorder *recorder = recorder_create();
    record_each_kind(recorder);
    check_released(1, 8, 0);
    weft_recorder_destroy(recorder);
    check_released(1, 8, 1);
    CHECK_U64(weft_shared_values(world, team, NULL, 0), 1); /* the default */
    end();
    check_released(1, 8, 1);
}

PLAIN_TEST(a_value_in_use_is_not_released_with_the_recorder)
{
    begin();
    CHECK_OK(weft_entity_set_shared(world, rows[3], team, &(owned){1}));
    weft_recorder *recorder = recorder_create();
    set(recorder, rows[0], team, 1);
    set(recorder, rows[0], team, 2);
    weft_recorder_destroy(recorder);
    CHECK_U64(released[1], 0);
    CHECK_U64(released[2], 1);
    const owned *value = weft_entity_read_shared(world, rows[3], team);
    CHECK_U64(value->key, 1);
    end();
    CHECK_U64(released[1], 1);
}

PLAIN_TEST(played_values_live_as_long_as_entities_use_them)
{
    begin();
    weft_recorder *recorder = recorder_create();
    record_each_kind(recorder);
    CHECK_OK(weft_recorder_play(recorder));
    CHECK_U64(released[1], 1); /* replaced by set_all */
    CHECK_U64(released[2], 1);
    CHECK_U64(released[3], 0);
    CHECK_U64(released[4], 0);
    CHECK(released[5] == 1 && released[7] == 1); /* rows in place are there before set_all */
    CHECK_U64(released[6], 0);
    weft_recorder_destroy(recorder);
    CHECK_U64(released[8], 0);
    end();
    check_released(1, 8, 1);
}

PLAIN_TEST(values_of_skipped_commands_are_released)
{
    begin();
    weft_recorder *recorder = recorder_create();
    set(recorder, rows[0], team, 1);
    set(recorder, rows[1], team, 2);
    CHECK_OK(weft_recorder_destroy_entity(recorder, rows[2]));
    set(recorder, rows[2], team, 3);
    set(recorder, rows[3], team, 4);
    CHECK_OK(weft_recorder_remove(recorder, rows[3], team));
    CHECK_OK(weft_entity_destroy(world, rows[0]));
    CHECK_OK(weft_recorder_play(recorder));
    CHECK_U64(released[1], 1); /* died before */
    CHECK_U64(released[2], 0);
    CHECK_U64(released[3], 1); /* died by a command */
    CHECK_U64(released[4], 1); /* removed again, once */
    weft_recorder_destroy(recorder);
    end();
    check_released(1, 4, 1);
}

PLAIN_TEST(values_behind_a_failing_command_are_released)
{
    begin();
    weft_query gone = weft_query_create(
        world, &(weft_query_desc){.terms = {{plain, WEFT_WRITE, 0, 0}, {team, 0, WEFT_ABSENT, 0}}});
    weft_recorder *recorder = recorder_create();
    set(recorder, rows[0], team, 1);
    CHECK_OK(weft_recorder_query_set_shared(recorder, gone, team, &(owned){2}));
    set(recorder, rows[1], team, 3);
    set(recorder, rows[2], team, 1);
    create_rows(recorder, 4, 5);
    CHECK_OK(weft_query_destroy(world, gone));
    CHECK_RESULT(weft_recorder_play(recorder), WEFT_BAD_HANDLE);
    CHECK_U64(released[1], 0); /* came before */
    CHECK_U64(released[2], 1);
    CHECK_U64(released[3], 1);
    check_released(4, 5, 0); /* rows in place are there first */
    weft_recorder_destroy(recorder);
    end();
    check_released(1, 5, 1);
}

PLAIN_TEST(no_value_is_released_twice_when_memory_is_refused)
{
    begin();
    for (uint64_t k = 1;; k++) {
        memset(released, 0, sizeof released);
        weft_recorder *recorder = recorder_create();
        record_each_kind(recorder);
        test_memory_fail(&memory, k, false);
        weft_result result = weft_recorder_play(recorder);
        test_memory_fail(&memory, 0, false);
        CHECK(result == WEFT_OK || result == WEFT_OUT_OF_MEMORY);
        weft_recorder_destroy(recorder);
        CHECK_OK(weft_query_destroy_entities(world, all));
        for (uint32_t key = 1; key <= 8; key++) CHECK(released[key] <= 1);
        CHECK_U64(weft_shared_values(world, team, NULL, 0), 1);
        CHECK_OK(weft_world_validate(world));
        if (result == WEFT_OK) break;
        CHECK_OK(weft_entity_create_many(world, bare, 8, rows));
    }
    check_released(1, 8, 1);
    end();
}

/* ---- components that come back ---- */

/* Plays commands of `recorder` and some more, so that they are folded or not. */
static void play_beside(weft_recorder *recorder, bool is_folded)
{
    for (uint32_t i = 0; i < (is_folded ? WEFT__FOLD_LEAST : 1); i++)
        CHECK_OK(weft_recorder_set(recorder, rows[1 + i % 7], plain, &i, sizeof i));
    CHECK_OK(weft_recorder_play(recorder));
}

PLAIN_TEST(a_shared_component_that_comes_back_has_its_default)
{
    for (uint32_t is_folded = 0; is_folded < 2; is_folded++) {
        begin();
        weft_component mark = weft_component_create_plain(world, "mark", 0, 1, 0);
        weft_recorder *recorder = recorder_create();
        CHECK_OK(weft_entity_set_shared(world, rows[0], team, &(owned){3}));
        CHECK_OK(weft_entity_set_shared(world, rows[0], side, &(owned){4}));
        CHECK_OK(weft_recorder_remove(recorder, rows[0], team));
        CHECK_OK(weft_recorder_add(recorder, rows[0], team));
        CHECK_OK(weft_recorder_add(recorder, rows[0], mark));
        play_beside(recorder, is_folded != 0);
        const owned *value = weft_entity_read_shared(world, rows[0], team);
        CHECK(value != NULL && value->key == 0);
        value = weft_entity_read_shared(world, rows[0], side);
        CHECK(value != NULL && value->key == 4);
        CHECK_U64(released[3], 1);
        weft_recorder_destroy(recorder);
        end();
    }
}

PLAIN_TEST(two_shared_components_that_come_back_have_their_defaults)
{
    for (uint32_t is_folded = 0; is_folded < 2; is_folded++) {
        begin();
        weft_recorder *recorder = recorder_create();
        CHECK_OK(weft_entity_set_shared(world, rows[0], team, &(owned){3}));
        CHECK_OK(weft_entity_set_shared(world, rows[0], side, &(owned){4}));
        for (uint32_t i = 0; i < 2; i++) {
            CHECK_OK(weft_recorder_remove(recorder, rows[0], i == 0 ? team : side));
            CHECK_OK(weft_recorder_add(recorder, rows[0], i == 0 ? team : side));
        }
        play_beside(recorder, is_folded != 0);
        CHECK_U64(((const owned *)weft_entity_read_shared(world, rows[0], team))->key, 0);
        CHECK_U64(((const owned *)weft_entity_read_shared(world, rows[0], side))->key, 0);
        weft_recorder_destroy(recorder);
        end();
    }
}

PLAIN_TEST(a_required_shared_component_that_comes_back_has_its_default)
{
    for (uint32_t is_folded = 0; is_folded < 2; is_folded++) {
        begin();
        weft_component badge =
            weft_component_create(world, &(weft_component_desc){.name = "badge",
                                                                .size = 4,
                                                                .flags = WEFT_SHARED,
                                                                .required = &side,
                                                                .required_count = 1});
        weft_recorder *recorder = recorder_create();
        CHECK_OK(weft_entity_add(world, rows[0], badge));
        CHECK_OK(weft_entity_set_shared(world, rows[0], side, &(owned){4}));
        CHECK_OK(weft_recorder_remove(recorder, rows[0], badge));
        CHECK_OK(weft_recorder_remove(recorder, rows[0], side));
        CHECK_OK(weft_recorder_set_shared(recorder, rows[0], badge, &(uint32_t){7}));
        play_beside(recorder, is_folded != 0);
        const owned *value = weft_entity_read_shared(world, rows[0], side);
        CHECK(value != NULL && value->key == 0);
        CHECK_U64(*(const uint32_t *)weft_entity_read_shared(world, rows[0], badge), 7);
        weft_recorder_destroy(recorder);
        end();
    }
}

PLAIN_TEST(a_component_that_comes_back_counts_as_changed)
{
    for (uint32_t is_folded = 0; is_folded < 2; is_folded++) {
        begin();
        weft_component mark = weft_component_create_plain(world, "mark", 0, 1, 0);
        CHECK_OK(weft_entity_add(world, rows[0], mark));
        CHECK_OK(weft_entity_add(world, rows[0], team));
        weft_world_advance_change_version(world);
        const uint32_t now = weft_world_change_version(world);
        weft_recorder *recorder = recorder_create();
        for (uint32_t i = 0; i < 2; i++) {
            weft_component one = i == 0 ? mark : team;
            CHECK_OK(weft_recorder_remove(recorder, rows[0], one));
            CHECK_OK(weft_recorder_add(recorder, rows[0], one));
        }
        play_beside(recorder, is_folded != 0);
        CHECK_U64(weft_entity_change_version(world, rows[0], mark), now);
        CHECK_U64(weft_entity_change_version(world, rows[0], team), now);
        weft_recorder_destroy(recorder);
        end();
    }
}
