/* SPDX-License-Identifier: MIT */
/* test_refusals.c: commands that cannot be right: what recording and playback say about each, and
 * that the world is as if they had not been recorded. */
#include "invariant.h"

#include <weft/weft.h>

#include "plain.h"

#include <string.h>

static weft_world *world;
static weft_component plain, tag, shared, list, bit, cleanup, single;
static weft_archetype archetype;
static weft_entity first;
static weft_recorder *one, *two;

static weft_component kind(const char *name, uint32_t flags)
{
    return weft_component_create_plain(world, name, 4, 4, flags);
}

static void begin(void)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    plain = kind("plain", 0);
    tag = WEFT_TAG(world, tag);
    shared = kind("shared", WEFT_SHARED);
    list = kind("list", WEFT_BUFFER);
    bit = kind("bit", WEFT_ENABLEABLE);
    cleanup = kind("cleanup", WEFT_CLEANUP);
    single = kind("single", WEFT_RESOURCE);
    archetype = weft_archetype_create(world, &plain, 1);
    first = weft_entity_create(world, archetype);
    CHECK_OK(weft_recorder_create(world, &one));
    CHECK_OK(weft_recorder_create(world, &two));
}

static void end(void)
{
    weft_recorder_destroy(one);
    weft_recorder_destroy(two);
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}

/* The command was refused with `code`; playing says so, with `word`, and nothing else happens. */
static void check_refused(weft_result got, weft_result code, const char *word)
{
    uint64_t before = weft_world_hash(world, WEFT_HASH_CONTENT);
    CHECK_RESULT(got, code);
    CHECK_RESULT(weft_recorder_play(one), code);
    const char *text = weft_world_error(world)->text;
    if (strstr(text, word) == NULL || strstr(text, "recorded outside systems") == NULL)
        CHECK_TEXT(text, word);
    CHECK_U64(weft_world_hash(world, WEFT_HASH_CONTENT), before);
    CHECK_OK(weft_recorder_play(one)); /* said once */
}

PLAIN_TEST(every_command_that_cannot_be_right_is_refused_with_what_to_do)
{
    const uint32_t value = 1;
    const weft_entity null = {0, 0};
    const weft_component none = {0}, unknown = {999};
    const weft_result stale = WEFT_STALE_ENTITY, bad = WEFT_BAD_HANDLE, type = WEFT_TYPE_MISMATCH;
    begin();
    weft_query everything =
        weft_query_create(world, &(weft_query_desc){.terms = {{plain, WEFT_READ, WEFT_ALL, 0}}});
    check_refused(weft_recorder_add(one, null, tag), stale, "component tag on entity 0:0");
    check_refused(weft_recorder_destroy_entity(one, null), stale, "null");
    check_refused(weft_recorder_add(one, first, none), bad, "weft_component_create");
    check_refused(weft_recorder_remove(one, first, unknown), bad, "weft_component_create");
    check_refused(weft_recorder_add(one, first, single), type, "weft_slice_read_resource");
    check_refused(weft_recorder_set(one, first, plain, &value, 3), type, "sizeof");
    check_refused(weft_recorder_set(one, first, plain, NULL, 4), WEFT_INVALID_ARGUMENT, "NULL");
    check_refused(weft_recorder_set(one, first, shared, &value, 4), type, "set_shared");
    check_refused(weft_recorder_set(one, first, list, &value, 4), type, "append");
    check_refused(weft_recorder_set_shared(one, first, plain, &value), type, "not SHARED");
    check_refused(weft_recorder_set_shared(one, first, shared, NULL), WEFT_INVALID_ARGUMENT,
                  "NULL");
    check_refused(weft_recorder_enable(one, first, plain, true), type, "ENABLEABLE");
    check_refused(weft_recorder_append(one, first, plain, &value, 1), type, "no BUFFER");
    check_refused(weft_recorder_append(one, first, list, NULL, 1), WEFT_INVALID_ARGUMENT, "NULL");
    check_refused(weft_recorder_query_add(one, (weft_query){0}, tag), bad, "the query");
    check_refused(weft_recorder_query_destroy_entities(one, (weft_query){0}), bad, "the query");
    check_refused(weft_recorder_query_set_shared(one, everything, plain, &value), type,
                  "not SHARED");
    check_refused(weft_recorder_query_set_shared(one, everything, shared, NULL),
                  WEFT_INVALID_ARGUMENT, "NULL");
    check_refused(weft_recorder_query_enable(one, everything, plain, true), type, "ENABLEABLE");
    check_refused(weft_recorder_query_add(one, everything, single), type,
                  "weft_slice_read_resource");
    check_refused(weft_recorder_set_buffer(one, first, plain, &value, 1), type, "no BUFFER");
    check_refused(weft_recorder_set_buffer(one, first, list, NULL, 1), WEFT_INVALID_ARGUMENT,
                  "NULL");
    check_refused(weft_recorder_set_name(one, null, "name"), stale, "null");
    end();
}

PLAIN_TEST(creations_that_cannot_be_right_give_null_handles_and_say_what_to_do)
{
    weft_slice rows;
    const weft_archetype bad[] = {{0}, {999}};
    begin();
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_U64(weft_recorder_create_entity(one, bad[i]).version, 0);
        check_refused(WEFT_BAD_HANDLE, WEFT_BAD_HANDLE, "weft_archetype_create");
        check_refused(weft_recorder_create_rows(one, bad[i], 1, &rows), WEFT_BAD_HANDLE,
                      "weft_archetype_create");
    }
    CHECK_U64(weft_recorder_instantiate(one, (weft_entity){0, 0}).version, 0);
    check_refused(WEFT_STALE_ENTITY, WEFT_STALE_ENTITY, "null");
    CHECK_RESULT(weft_recorder_create_rows(one, archetype, 0, &rows), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_recorder_create_rows(one, archetype, 1, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_recorder_create_rows(one, archetype, UINT32_MAX, &rows));
    CHECK(rows.count > 1000 && rows.count < 1000000); /* one chunk; ask again for the rest */
    CHECK_OK(weft_recorder_play(one));
    end();
}

PLAIN_TEST(a_deferred_entity_is_good_in_its_recorder_until_that_is_played)
{
    begin();
    weft_entity mine = weft_recorder_create_entity(one, archetype);
    weft_entity other = weft_recorder_create_entity(two, archetype);
    CHECK(mine.version != other.version);
    CHECK_RESULT(weft_recorder_add(two, mine, tag), WEFT_STALE_ENTITY);
    CHECK_U64(weft_recorder_instantiate(two, mine).version, 0);
    CHECK_RESULT(weft_recorder_play(two), WEFT_STALE_ENTITY);
    if (strstr(weft_world_error(world)->text, "another recorder") == NULL)
        CHECK_TEXT(weft_world_error(world)->text, "another recorder");
    CHECK_RESULT(weft_recorder_add(two, other, tag), WEFT_STALE_ENTITY); /* played */
    weft_entity out_of_range = {mine.index + 1, mine.version};
    CHECK_RESULT(weft_recorder_add(one, out_of_range, tag), WEFT_STALE_ENTITY);
    CHECK_OK(weft_recorder_add(one, mine, tag));
    CHECK_RESULT(weft_recorder_play(one), WEFT_STALE_ENTITY); /* reported; the rest is played */
    weft_query tagged =
        weft_query_create(world, &(weft_query_desc){.terms = {{tag, WEFT_NO_ACCESS, 0, 0}}});
    CHECK_U64(weft_query_count(world, tagged), 1);
    CHECK_RESULT(weft_recorder_play(two), WEFT_STALE_ENTITY); /* of the second attempt above */
    CHECK_OK(weft_recorder_play(two));
    end();
}

PLAIN_TEST(an_entity_of_another_world_is_refused_where_worlds_have_tags)
{
    weft_world *there;
    begin();
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .entity_tag = 3}, &there));
    weft_component other = weft_component_create_plain(there, "plain", 4, 4, 0);
    weft_entity foreign = weft_entity_create(there, weft_archetype_create(there, &other, 1));
    uint64_t before = weft_world_hash(world, WEFT_HASH_LAYOUT);
    /* checked builds refuse it; in others it is found at playback, as of a dead one */
    weft_result expected = WEFT_IS_CHECKED ? WEFT_BAD_HANDLE : WEFT_OK;
    CHECK_RESULT(weft_recorder_add(one, foreign, tag), expected);
    CHECK_RESULT(weft_recorder_destroy_entity(one, foreign), expected);
    CHECK_RESULT(weft_recorder_play(one), expected);
    CHECK_U64(weft_world_hash(world, WEFT_HASH_LAYOUT), before);
    CHECK(weft_entity_is_alive(there, foreign));
    CHECK_OK(weft_world_destroy(there));
    end();
}

PLAIN_TEST(a_query_destroyed_or_changed_between_recording_and_playback)
{
    begin();
    weft_query_desc desc = {.terms = {{plain, WEFT_READ, 0, 0}}};
    weft_query query = weft_query_create(world, &desc);
    CHECK_OK(weft_recorder_query_add(one, query, tag));
    CHECK_OK(weft_recorder_create_entity(one, archetype).version != 0 ? WEFT_OK : WEFT_BUSY);
    CHECK_OK(weft_query_destroy(world, query));
    CHECK_RESULT(weft_recorder_play(one), WEFT_BAD_HANDLE);
    const char *text = weft_world_error(world)->text;
    if (strstr(text, "command query_add of component tag on query") == NULL)
        CHECK_TEXT(text, "command query_add of component tag on query");
    CHECK(!weft_entity_has(world, first, tag));
    query = weft_query_create(world, &desc);
    CHECK_OK(weft_recorder_query_add(one, query, tag));
    weft_entity late = weft_entity_create(world, archetype); /* matches at playback */
    CHECK_OK(weft_recorder_play(one));
    CHECK(weft_entity_has(world, first, tag) && weft_entity_has(world, late, tag));
    const weft_component others[] = {single, {999, single.world}};
    for (uint32_t i = 0; i < 2; i++) {
        weft_result expected = i == 0 ? WEFT_TYPE_MISMATCH : WEFT_BAD_HANDLE;
        CHECK_RESULT(weft_recorder_query_add(one, query, others[i]), expected);
        CHECK_RESULT(weft_recorder_play(one), expected);
    }
    end();
}

PLAIN_TEST(every_kind_of_component_is_added_and_removed_by_commands_as_at_once)
{
    begin();
    const weft_component kinds[] = {plain,
                                    tag,
                                    shared,
                                    list,
                                    bit,
                                    cleanup,
                                    weft_component_prefab(world),
                                    weft_component_inactive(world),
                                    weft_component_linked_group(world)};
    enum { KINDS = sizeof kinds / sizeof kinds[0], MANY = 60 };
    for (uint32_t many = 0; many < 2; many++) /* one by one, and folded */
        for (uint32_t k = 0; k < KINDS; k++) {
            weft_entity rows[MANY];
            uint32_t count = many == 0 ? 1 : MANY;
            CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, plain), count, rows));
            for (uint32_t i = 0; i < count; i++)
                CHECK_OK(weft_recorder_add(one, rows[i], kinds[k]));
            CHECK_OK(weft_recorder_play(one));
            for (uint32_t i = 0; i < count; i++) CHECK(weft_entity_has(world, rows[i], kinds[k]));
            for (uint32_t i = 0; i < count; i++)
                CHECK_OK(weft_recorder_remove(one, rows[i], kinds[k]));
            CHECK_OK(weft_recorder_play(one));
            for (uint32_t i = 0; i < count; i++) {
                CHECK(weft_entity_is_alive(world, rows[i]));
                CHECK(!weft_entity_has(world, rows[i], kinds[k]));
            }
            CHECK_OK(weft_world_validate(world));
        }
    end();
}

PLAIN_TEST(an_empty_playback_moves_nothing_and_changes_no_version)
{
    begin();
    const void *value = weft_entity_read(world, first, plain);
    uint64_t hash = weft_world_hash(world, WEFT_HASH_LAYOUT);
    uint32_t version = weft_world_change_version(world);
    for (uint32_t i = 0; i < 3; i++) CHECK_OK(weft_recorder_play(one));
    CHECK_POINTER(weft_entity_read(world, first, plain), value);
    CHECK_U64(weft_world_hash(world, WEFT_HASH_LAYOUT), hash);
    CHECK_U64(weft_world_change_version(world), version);
    end();
}
