/* SPDX-License-Identifier: MIT */
/* test_shared_world.c: shared components in a world: values on entities, chunks split by value,
 * references, filters, versions. */
#include "query_fixture.h"

#include "shared.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <string.h>

static int32_t value_of(const fixture *f, weft_entity entity)
{
    int32_t value;
    const void *shared = weft_entity_read_shared(f->world, entity, f->s);
    CHECK(shared != NULL);
    memcpy(&value, shared, sizeof value);
    return value;
}

static void set_value(fixture *f, weft_entity entity, int32_t value)
{
    CHECK_OK(weft_entity_set_shared(f->world, entity, f->s, &value));
}

Test(shared_world, a_value_is_set_read_replaced_and_removed)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[2];
    FIXTURE_CREATE(&f, 2, e, f.a);
    CHECK_POINTER(weft_entity_read_shared(f.world, e[0], f.s), NULL);
    set_value(&f, e[0], 7); /* adds the component */
    CHECK(weft_entity_has(f.world, e[0], f.s) && !weft_entity_has(f.world, e[1], f.s));
    CHECK_I64(value_of(&f, e[0]), 7);
    set_value(&f, e[0], 8);
    CHECK_I64(value_of(&f, e[0]), 8);
    CHECK_OK(weft_entity_add(f.world, e[1], f.s)); /* plain add: the default */
    CHECK_I64(value_of(&f, e[1]), 0);
    CHECK_OK(weft_entity_add(f.world, e[0], f.b)); /* other changes keep the value */
    CHECK_I64(value_of(&f, e[0]), 8);
    CHECK_OK(weft_entity_remove(f.world, e[0], f.s));
    CHECK_POINTER(weft_entity_read_shared(f.world, e[0], f.s), NULL);
    fixture_close(&f);
}

Test(shared_world, values_in_use_are_listed_default_first_and_go_with_their_last_entity)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[3];
    FIXTURE_CREATE(&f, 3, e, f.a);
    const void *values[8];
    CHECK_U64(weft_shared_values(f.world, f.s, values, 8), 1);
    for (int32_t i = 0; i < 3; i++) set_value(&f, e[i], 10 + i / 2);
    CHECK_U64(weft_shared_values(f.world, f.s, values, 8), 3);
    CHECK_I64(*(const int32_t *)values[0], 0);
    CHECK_I64(*(const int32_t *)values[1], 10);
    CHECK_I64(*(const int32_t *)values[2], 11);
    CHECK_OK(weft_entity_destroy(f.world, e[0]));
    CHECK_U64(weft_shared_values(f.world, f.s, values, 8), 3); /* one of two */
    CHECK_OK(weft_entity_destroy(f.world, e[1]));
    CHECK_U64(weft_shared_values(f.world, f.s, values, 8), 2);
    CHECK_U64(weft_shared_values(f.world, f.a, values, 8), 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_TYPE_MISMATCH);
    fixture_close(&f);
}

static void count_release(void *value, void *user)
{
    (void)value;
    ++*(uint32_t *)user;
}

Test(shared_world, the_release_hook_runs_once_after_the_last_reference_of_any_kind)
{
    fixture f;
    fixture_open(&f, 0);
    uint32_t released = 0;
    weft_component_desc desc = {.name = "counted",
                                .size = 4,
                                .flags = WEFT_SHARED,
                                .shared_release = count_release,
                                .hooks.user = &released};
    weft_component counted = weft_component_create(f.world, &desc);
    weft_entity e[2], copy;
    FIXTURE_CREATE(&f, 2, e, f.a);
    int32_t five = 5;
    for (int i = 0; i < 2; i++) CHECK_OK(weft_entity_set_shared(f.world, e[i], counted, &five));
    weft_query query = FIXTURE_QUERY(&f, {counted});
    CHECK_OK(weft_query_filter_shared(f.world, query, counted, WEFT_FILTER_EQUAL, &five, 1));
    CHECK_OK(weft_entity_instantiate(f.world, e[0], 1, &copy));
    CHECK_OK(weft_entity_destroy_many(f.world, e, 2));
    CHECK_U64(released, 0);
    CHECK_OK(weft_entity_add(f.world, copy, f.b)); /* moves: no extra reference */
    CHECK_OK(weft_entity_remove(f.world, copy, counted));
    CHECK_U64(released, 0); /* the filter holds it */
    CHECK_OK(weft_query_filter_reset(f.world, query));
    CHECK_U64(released, 1);
    CHECK_OK(weft_entity_set_shared(f.world, copy, counted, &five));
    CHECK_OK(weft_query_destroy(f.world, query));
    fixture_validate(&f);
    CHECK_OK(weft_world_destroy(f.world));
    CHECK_U64(released, 2); /* the end of the world releases what lives */
    test_memory_fini(&f.memory);
}

Test(shared_world, a_filter_on_a_value_nobody_has_finds_it_when_it_comes)
{
    fixture f;
    fixture_open(&f, 0);
    weft_query query = FIXTURE_QUERY(&f, {f.s});
    CHECK_OK(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_EQUAL, &(int32_t){9}, 1));
    CHECK_U64(weft_shared_values(f.world, f.s, NULL, 0), 2); /* the filter made it */
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a);
    CHECK(weft_query_is_empty(f.world, query));
    set_value(&f, e, 9);
    CHECK(weft_query_matches(f.world, query, e));
    set_value(&f, e, 8);
    CHECK(weft_query_is_empty(f.world, query));
    set_value(&f, e, 9);
    CHECK_OK(weft_entity_remove(f.world, e, f.s));
    CHECK(weft_query_is_empty(f.world, query));
    fixture_close(&f);
}

Test(shared_world, the_default_can_be_filtered_on)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[3];
    FIXTURE_CREATE(&f, 3, e, f.s);
    set_value(&f, e[1], 4);
    weft_query query = FIXTURE_QUERY(&f, {f.s});
    CHECK_OK(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_EQUAL, &(int32_t){0}, 1));
    CHECK_U64(weft_query_count(f.world, query), 2);
    set_value(&f, e[1], 0); /* back to the default: stored nowhere */
    CHECK_U64(weft_query_count(f.world, query), 3);
    CHECK_U64(weft_shared_values(f.world, f.s, NULL, 0), 1);
    fixture_close(&f);
}

enum { YELLOW = 1, GREEN, RED, CHILLIES = 600 };

/* Chunks of the archetypes a query matches, by the rows of each. */
static uint32_t chunk_sizes(fixture *f, weft_query query, uint32_t *sizes, uint32_t capacity)
{
    uint32_t count = 0;
    weft_cursor cursor = weft_query_begin(f->world, query);
    const void *last = NULL;
    while (weft_query_next(&cursor)) {
        bool is_new = cursor.slice.chunk != last;
        last = cursor.slice.chunk;
        if (is_new && count < capacity) sizes[count] = 0;
        count += is_new;
        if (count <= capacity) sizes[count - 1] += cursor.slice.count;
    }
    return count;
}

Test(shared_world, chillies_are_split_by_colour_and_changed_by_headers_only)
{
    static weft_entity e[CHILLIES];
    fixture f;
    fixture_open(&f, 100);
    FIXTURE_CREATE(&f, CHILLIES, e, f.l, f.a);
    for (int32_t i = 0; i < CHILLIES; i++) {
        CHECK_OK(weft_entity_set(f.world, e[i], f.a, &i, sizeof i));
        set_value(&f, e[i], i < 50 ? YELLOW : i < 200 ? GREEN : RED);
    }
    weft_query all = FIXTURE_QUERY(&f, {f.s}), red = FIXTURE_QUERY(&f, {f.s});
    uint32_t sizes[16];
    CHECK_U64(chunk_sizes(&f, all, sizes, 16), 7);
    const uint32_t expected[7] = {50, 100, 50, 100, 100, 100, 100};
    for (uint32_t i = 0; i < 7; i++) CHECK_U64(sizes[i], expected[i]);
    int32_t colour = RED;
    CHECK_OK(weft_query_filter_shared(f.world, red, f.s, WEFT_FILTER_EQUAL, &colour, 1));
    CHECK_U64(chunk_sizes(&f, red, sizes, 16), 4);
    weft_cursor cursor = weft_query_begin(f.world, red);
    CHECK(weft_query_next(&cursor));
    CHECK_U64(cursor.slice.first, 200); /* the last four chunks */
    CHECK_I64(*(const int32_t *)weft_slice_read_shared(&cursor.slice, 0), RED);
    weft_query_end(&cursor);

    /* one entity's value moves only it */
    weft_world_stats before, after;
    weft_world_stats_get(f.world, &before, sizeof before);
    set_value(&f, e[0], RED);
    weft_world_stats_get(f.world, &after, sizeof after);
    CHECK(after.rows_moved - before.rows_moved <= 2); /* it, and who fills its place */
    CHECK_U64(weft_query_count(f.world, red), 401);

    /* removal through the filter: no row moves */
    weft_world_stats_get(f.world, &before, sizeof before);
    CHECK_OK(weft_query_remove(f.world, red, f.s));
    weft_world_stats_get(f.world, &after, sizeof after);
    CHECK_U64(after.bytes_moved - before.bytes_moved, 0);
    CHECK_U64(weft_query_count(f.world, red), 0);
    CHECK_U64(weft_query_count(f.world, all), 199);
    for (int32_t i = 0; i < CHILLIES; i++)
        CHECK_I64(*(const int32_t *)weft_entity_read(f.world, e[i], f.a), i);
    fixture_close(&f);
}

Test(shared_world, a_second_shared_type_splits_again)
{
    static weft_entity e[CHILLIES];
    fixture f;
    fixture_open(&f, 100);
    FIXTURE_CREATE(&f, CHILLIES, e, f.l);
    for (int32_t i = 0; i < CHILLIES; i++) {
        bool flag = i % 2 == 0;
        set_value(&f, e[i], i < 50 ? YELLOW : i < 200 ? GREEN : RED);
        CHECK_OK(weft_entity_set_shared(f.world, e[i], f.f, &flag));
    }
    uint32_t sizes[16];
    weft_query all = FIXTURE_QUERY(&f, {f.s}, {f.f});
    CHECK_U64(chunk_sizes(&f, all, sizes, 16), 2 * (1 + 1 + 2)); /* 25 25, 75 75, 2x100 2x100 */
    weft_query some = FIXTURE_QUERY(&f, {f.s}, {f.f});
    CHECK_OK(weft_query_filter_shared(f.world, some, f.f, WEFT_FILTER_EQUAL, &(bool){true}, 1));
    CHECK_U64(weft_query_count(f.world, some), CHILLIES / 2);
    fixture_close(&f);
}

Test(shared_world, setting_a_value_on_a_query_edits_headers_and_skips_chunks_that_have_it)
{
    enum { ROWS = 20000 };
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, ROWS, NULL, f.a, f.s);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.s});
    weft_world_stats before, after;
    weft_world_stats_get(f.world, &before, sizeof before);
    int32_t value = 3;
    CHECK_OK(weft_query_set_shared(f.world, query, f.s, &value));
    weft_world_stats_get(f.world, &after, sizeof after);
    CHECK_U64(after.bytes_moved - before.bytes_moved, 0);
    CHECK_OK(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_EQUAL, &value, 1));
    CHECK_U64(weft_query_count(f.world, query), ROWS);
    weft_query changed = FIXTURE_QUERY(&f, {f.s});
    CHECK_OK(weft_query_filter_changed(f.world, changed, f.s,
                                       weft_world_advance_change_version(f.world)));
    CHECK_OK(weft_query_set_shared(f.world, query, f.s, &value));
    CHECK_U64(weft_query_count(f.world, changed), 0);
    fixture_close(&f);
}

Test(shared_world, many_shared_types_and_values_on_one_archetype_work)
{
    enum { TYPES = 20 };
    fixture f;
    fixture_open(&f, 0);
    weft_component list[TYPES];
    for (uint32_t i = 0; i < TYPES; i++) {
        char name[8] = {'v', (char)('a' + i), 0};
        list[i] = fixture_component(&f, name, 8, WEFT_SHARED);
    }
    weft_entity e[8];
    CHECK_OK(weft_entity_create_many(f.world, weft_archetype_create(f.world, list, TYPES), 8, e));
    for (uint64_t i = 0; i < 8; i++)
        for (uint64_t t = 0; t < TYPES; t++) {
            uint64_t value = i * t;
            CHECK_OK(weft_entity_set_shared(f.world, e[i], list[t], &value));
        }
    for (uint64_t i = 0; i < 8; i++)
        for (uint64_t t = 0; t < TYPES; t++)
            CHECK_U64(*(const uint64_t *)weft_entity_read_shared(f.world, e[i], list[t]), i * t);
    weft_query query = FIXTURE_QUERY(&f, {list[19]});
    CHECK_OK(weft_query_set_shared(f.world, query, list[19], &(uint64_t){1}));
    CHECK_U64(*(const uint64_t *)weft_entity_read_shared(f.world, e[5], list[19]), 1);
    CHECK_U64(*(const uint64_t *)weft_entity_read_shared(f.world, e[5], list[18]), 90);
    fixture_close(&f);
}

Test(shared_world, a_many_valued_type_does_not_waste_a_unit_per_value)
{
    enum { VALUES = 2000 };
    static weft_entity e[VALUES];
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, VALUES, e, f.a);
    for (int32_t i = 0; i < VALUES; i++) set_value(&f, e[i], i);
    weft_world_stats stats;
    weft_world_stats_get(f.world, &stats, sizeof stats);
    CHECK(stats.units_used * 16384 <= (uint64_t)VALUES * 2048); /* 1 KiB parts, not 16 KiB units */
    fixture_close(&f);
}

Test(shared_world, wrong_calls_are_refused)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a, f.s);
    CHECK_RESULT(weft_entity_set_shared(f.world, e, f.a, &(int32_t){1}), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_entity_set_shared(f.world, e, f.s, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_set_shared(f.world, e, (weft_component){0}, &e), WEFT_BAD_HANDLE);
    weft_query query = FIXTURE_QUERY(&f, {f.a});
    CHECK_RESULT(weft_query_set_shared(f.world, query, f.a, &e), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_query_set(f.world, query, f.s, &e, 4), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_query_set(f.world, query, f.a, &e, 8), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_query_set(f.world, query, f.a, NULL, 4), WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_entity_destroy(f.world, e));
    CHECK_RESULT(weft_entity_set_shared(f.world, e, f.s, &(int32_t){1}), WEFT_STALE_ENTITY);
    CHECK_POINTER(weft_entity_read_shared(f.world, e, f.s), NULL);
    fixture_close(&f);
}

/* Entity i of the world has what a naive list says. */
static void check_values(fixture *f, const weft_entity *entities, const int32_t *expected,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const int32_t *value = weft_entity_read_shared(f->world, entities[i], f->s);
        CHECK_I64(value == NULL ? -1 : *value, expected[i]);
        CHECK_I64(*(const int32_t *)weft_entity_read(f->world, entities[i], f->a), (int32_t)i);
    }
}

Test(shared_world, a_value_is_set_on_an_array_of_entities_each_row_moving_once)
{
    enum { COUNT = 60 };
    fixture f;
    fixture_open(&f, 10);
    weft_entity e[COUNT];
    int32_t expected[COUNT];
    FIXTURE_CREATE(&f, COUNT / 2, e, f.a, f.s, f.l);
    FIXTURE_CREATE(&f, COUNT / 2, e + COUNT / 2, f.a, f.l);
    for (int32_t i = 0; i < COUNT; i++) {
        CHECK_OK(weft_entity_set(f.world, e[i], f.a, &i, 4));
        expected[i] = i < COUNT / 2 ? 0 : -1;
    }
    /* scattered, one of them twice, of both archetypes: those without it get the component */
    const int32_t seven = 7, eight = 8;
    weft_entity some[COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < COUNT; i += 3) {
        some[count++] = e[COUNT - 3 - i];
        expected[COUNT - 3 - i] = seven;
    }
    some[count++] = e[0];
    weft_world_stats before, after;
    weft_world_stats_get(f.world, &before, sizeof before);
    CHECK_OK(weft_entity_set_shared_many(f.world, some, count, f.s, &seven));
    weft_world_stats_get(f.world, &after, sizeof after);
    CHECK(after.rows_moved - before.rows_moved >= COUNT / 3);
    check_values(&f, e, expected, COUNT);
    fixture_validate(&f);
    /* once more: nothing changes, no version */
    weft_query changed = FIXTURE_QUERY(&f, {f.s});
    CHECK_OK(weft_query_filter_order(f.world, changed, weft_world_advance_change_version(f.world)));
    CHECK_OK(weft_entity_set_shared_many(f.world, some, count, f.s, &seven));
    CHECK_U64(weft_query_count(f.world, changed), 0);
    CHECK_OK(weft_entity_set_shared_many(f.world, NULL, 0, f.s, &seven));
    /* a dead one: nothing changes */
    CHECK_OK(weft_entity_destroy(f.world, e[1]));
    weft_entity with_dead[] = {e[4], e[1], e[5]};
    CHECK_RESULT(weft_entity_set_shared_many(f.world, with_dead, 3, f.s, &eight),
                 WEFT_STALE_ENTITY);
    CHECK_U64(weft_world_error(f.world)->entity.index, e[1].index);
    CHECK_I64(*(const int32_t *)weft_entity_read_shared(f.world, e[4], f.s), expected[4]);
    CHECK_U64(weft_shared_values(f.world, f.s, NULL, 0), 2); /* eight was let go again */
    CHECK_RESULT(weft_entity_set_shared_many(f.world, NULL, 1, f.s, &eight), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_set_shared_many(f.world, some, 1, f.a, &eight), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_entity_set_shared_many(f.world, some, 1, f.s, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_set_shared_many(NULL, some, 1, f.s, &eight), WEFT_INVALID_ARGUMENT);
    fixture_close(&f);
}

Test(shared_world, an_array_with_all_rows_of_a_chunk_edits_its_header_only)
{
    fixture f;
    fixture_open(&f, 10);
    weft_entity e[40];
    FIXTURE_CREATE(&f, 40, e, f.a, f.s, f.l);
    const int32_t seven = 7;
    weft_world_stats before, after;
    weft_world_stats_get(f.world, &before, sizeof before);
    CHECK_OK(weft_entity_set_shared_many(f.world, e + 10, 20, f.s, &seven));
    weft_world_stats_get(f.world, &after, sizeof after);
    CHECK_U64(after.bytes_moved - before.bytes_moved, 0);
    CHECK_U64(after.chunks, 4);
    for (uint32_t i = 0; i < 40; i++)
        CHECK_I64(*(const int32_t *)weft_entity_read_shared(f.world, e[i], f.s),
                  i >= 10 && i < 30 ? 7 : 0);
    fixture_close(&f);
}
