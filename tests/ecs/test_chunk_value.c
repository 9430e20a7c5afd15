/* SPDX-License-Identifier: MIT */
/* test_chunk_value.c: CHUNK components: one value per chunk, reached through slices and no other
 * way, and untouched by entities that come and go. */
#include "query_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

/* The value of the chunk that an entity is in, by a loop over `query`, whose term 0 it is. */
static int32_t value_at(const fixture *f, weft_query query, weft_entity entity)
{
    weft_entity_place place, other;
    CHECK_OK(weft_entity_place_get(f->world, entity, &place, sizeof place));
    weft_cursor cursor = weft_query_begin(f->world, query);
    int32_t value = -1;
    while (weft_query_next(&cursor)) {
        CHECK_OK(weft_entity_place_get(f->world, cursor.slice.entities[0], &other, sizeof other));
        if (other.archetype.id == place.archetype.id && other.chunk == place.chunk)
            value = *(const int32_t *)weft_slice_read_chunk(&cursor.slice, 0);
    }
    return value;
}

static void check_refused(const fixture *f, weft_result result)
{
    const weft_error *error = weft_world_error(f->world);
    CHECK_RESULT(result, WEFT_TYPE_MISMATCH);
    CHECK_RESULT(error->code, WEFT_TYPE_MISMATCH);
    if (strstr(error->text, "weft_slice_write_chunk") == NULL)
        test_fail(__FILE__, __LINE__, error->text);
}

Test(chunk_value, an_entity_that_comes_does_not_touch_the_value_of_its_chunk)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity there[3], comes;
    FIXTURE_CREATE(&f, 3, there, f.a, f.h);
    FIXTURE_CREATE(&f, 1, &comes, f.a);
    weft_query query = FIXTURE_QUERY(&f, {f.h, WEFT_WRITE}, {f.a});
    weft_cursor cursor = weft_query_begin(f.world, query);
    while (weft_query_next(&cursor)) *(int32_t *)weft_slice_write_chunk(&cursor.slice, 0) = 41;
    int32_t other = 7;
    check_refused(&f, weft_entity_set(f.world, comes, f.h, &other, sizeof other));
    check_refused(&f, weft_entity_set_many(f.world, &comes, 1, f.h, &other, sizeof other));
    check_refused(&f, weft_entity_set(f.world, there[1], f.h, &other, sizeof other));
    CHECK(!weft_entity_has(f.world, comes, f.h));
    CHECK_OK(weft_entity_add(f.world, comes, f.h));
    CHECK_I64(value_at(&f, query, comes), 41);
    CHECK_OK(weft_entity_destroy(f.world, there[0]));
    CHECK_OK(weft_entity_remove(f.world, there[1], f.h));
    CHECK_I64(value_at(&f, query, comes), 41);
    fixture_close(&f);
}

Test(chunk_value, no_entity_is_a_way_to_it)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a, f.h);
    CHECK_POINTER(weft_entity_read(f.world, e, f.h), NULL);
    check_refused(&f, weft_world_error(f.world)->code);
    CHECK_POINTER(weft_entity_write(f.world, e, f.h), NULL);
    check_refused(&f, weft_world_error(f.world)->code);
    weft_finder finder = weft_finder_open(f.world, f.h);
    CHECK_POINTER(weft_finder_read(&finder, e), NULL);
    weft_recorder *commands;
    int32_t value = 1;
    CHECK_OK(weft_recorder_create(f.world, &commands));
    CHECK_RESULT(weft_recorder_set(commands, e, f.h, &value, sizeof value), WEFT_TYPE_MISMATCH);
    weft_recorder_destroy(commands);
    fixture_close(&f);
}

/* A run of a filtered loop is a part of a chunk, but the value is the chunk's. */
Test(chunk_value, a_write_through_a_part_of_a_chunk_is_a_change_in_all_of_it)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[2000];
    FIXTURE_CREATE(&f, 2000, e, f.a, f.h);
    weft_query part = FIXTURE_QUERY(&f, {f.a}, {f.h, WEFT_WRITE});
    weft_query watch = FIXTURE_QUERY(&f, {f.h});
    uint32_t since = weft_world_advance_change_version(f.world);
    ((int32_t *)weft_entity_write(f.world, e[0], f.a))[0] = 1;
    CHECK_OK(weft_query_filter_changed(f.world, part, f.a, since));
    weft_entity_place place;
    CHECK_OK(weft_entity_place_get(f.world, e[0], &place, sizeof place));
    since = weft_world_advance_change_version(f.world);
    weft_cursor cursor = weft_query_begin(f.world, part);
    CHECK(weft_query_next(&cursor));
    CHECK(cursor.slice.count < place.chunk_rows); /* else the test shows nothing */
    *(int32_t *)weft_slice_write_chunk(&cursor.slice, 1) = 5;
    CHECK(!weft_query_next(&cursor));
    CHECK_OK(weft_query_filter_changed(f.world, watch, f.h, since));
    CHECK_U64(weft_query_count(f.world, watch), place.chunk_rows);
    fixture_close(&f);
}
