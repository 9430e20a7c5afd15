/* SPDX-License-Identifier: MIT */
/* test_stamps.c: the writers and readers of the checklist that test_filter.c leaves: what new rows,
 * scatters, buffers and look-ups do to change versions, and who holds shared values. */
#include "buffer_append.h"
#include "query_fixture.h"

#include <criterion/criterion.h>

/* Rows that changed in a component since the last call of weft_world_advance_change_version. */
static weft_query changes_of(fixture *f, weft_component component)
{
    weft_query query = FIXTURE_QUERY(f, {component});
    uint32_t since = weft_world_advance_change_version(f->world);
    CHECK_OK(weft_query_filter_changed(f->world, query, component, since));
    CHECK_U64(weft_query_count(f->world, query), 0);
    return query;
}

Test(stamps, new_rows_are_changed_in_all_their_components)
{
    fixture f;
    fixture_open(&f, 4);
    weft_entity e[4], copies[4];
    FIXTURE_CREATE(&f, 4, e, f.a, f.b, f.l);
    weft_query a = changes_of(&f, f.a), b = FIXTURE_QUERY(&f, {f.b});
    CHECK_OK(weft_query_filter_changed(f.world, b, f.b, weft_world_change_version(f.world) - 1));
    FIXTURE_CREATE(&f, 3, NULL, f.a, f.b, f.l);
    CHECK_U64(weft_query_count(f.world, a), 3);
    CHECK_U64(weft_query_count(f.world, b), 3);
    CHECK_OK(weft_query_filter_reset(f.world, a));
    CHECK_OK(
        weft_query_filter_changed(f.world, a, f.a, weft_world_advance_change_version(f.world)));
    CHECK_OK(weft_entity_instantiate(f.world, e[0], 4, copies));
    for (uint32_t i = 0; i < 4; i++) CHECK(weft_query_matches(f.world, a, copies[i]));
    CHECK(!weft_query_matches(f.world, a, e[0]));
    fixture_close(&f);
}

Test(stamps, scatters_look_ups_and_loops_stamp_what_they_write)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e, other;
    FIXTURE_CREATE(&f, 1, &e, f.a);
    FIXTURE_CREATE(&f, 1, &other, f.a, f.b);
    weft_query with_b = FIXTURE_QUERY(&f, {f.b}, {f.a});
    weft_query a = changes_of(&f, f.a);
    CHECK_OK(weft_query_write_values(f.world, with_b, f.a, &(int32_t){5}, 1));
    CHECK(weft_query_matches(f.world, a, other) && !weft_query_matches(f.world, a, e));
    a = changes_of(&f, f.a);
    weft_cursor cursor = weft_query_begin(f.world, with_b);
    CHECK(weft_query_next(&cursor));
    CHECK(weft_slice_read_entity(&cursor.slice, e, f.a) != NULL);
    CHECK_U64(weft_query_count(f.world, a), 0);
    CHECK(weft_slice_write_entity(&cursor.slice, e, f.a) != NULL);
    CHECK(weft_query_matches(f.world, a, e) && !weft_query_matches(f.world, a, other));
    weft_query_end(&cursor);
    a = changes_of(&f, f.a);
    CHECK_U64(fixture_iterate(&f, FIXTURE_QUERY(&f, {f.a, WEFT_WRITE}, {f.b})).rows, 1);
    CHECK(weft_query_matches(f.world, a, other) && !weft_query_matches(f.world, a, e));
    fixture_close(&f);
}

Test(stamps, buffers_are_stamped_by_writers_and_not_by_readers)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component list = fixture_component(&f, "list", 4, WEFT_BUFFER);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a, list);
    weft_query changed = changes_of(&f, list);
    const weft_buffer *read = weft_entity_read(f.world, e, list);
    CHECK(read != NULL && weft_buffer_read(read) != NULL);
    CHECK_U64(fixture_iterate(&f, FIXTURE_QUERY(&f, {list}, {f.a, WEFT_WRITE})).rows, 1);
    CHECK_U64(weft_query_count(f.world, changed), 0);
    CHECK_OK(test_buffer_append(f.world, list, e, &(int32_t){1}, 1));
    CHECK_U64(weft_query_count(f.world, changed), 1);
    fixture_close(&f);
}

Test(stamps, an_enable_bit_set_through_a_slice_stamps_also_where_columns_are_asked_for)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.x);
    weft_query changed = changes_of(&f, f.x);
    weft_query asked = weft_query_create(
        f.world, &(weft_query_desc){.terms = {{f.x, WEFT_WRITE}}, .stamps_asked = true});
    weft_cursor cursor = weft_query_begin(f.world, asked);
    CHECK(weft_query_next(&cursor));
    CHECK_U64(weft_query_count(f.world, changed), 0);
    weft_slice_enable(&cursor.slice, 0, 0, true);
    CHECK_U64(weft_query_count(f.world, changed), 1);
    weft_query_end(&cursor);
    fixture_close(&f);
}

static void count_values(void *values, uint32_t count, void *user)
{
    (void)values;
    *(uint32_t *)user += count;
}

Test(stamps, a_scatter_destructs_the_values_that_it_replaces)
{
    fixture f;
    fixture_open(&f, 0);
    uint32_t ended = 0;
    weft_component owned = weft_component_create(
        f.world, &(weft_component_desc){.name = "owned",
                                        .size = 4,
                                        .hooks = {.destruct = count_values, .user = &ended}});
    FIXTURE_CREATE(&f, 3, NULL, f.a, owned);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {owned, .match = WEFT_OPTIONAL});
    FIXTURE_CREATE(&f, 2, NULL, f.a);
    CHECK_OK(weft_query_write_values(f.world, query, owned, (int32_t[5]){1, 2, 3, 4, 5}, 5));
    CHECK_U64(ended, 3);
    fixture_close(&f);
    CHECK_U64(ended, 6);
}

static void count_release(void *value, void *user)
{
    (void)value;
    ++*(uint32_t *)user;
}

Test(stamps, recorded_commands_hold_shared_values_until_they_are_played_or_dropped)
{
    fixture f;
    fixture_open(&f, 0);
    uint32_t released = 0;
    weft_component counted =
        weft_component_create(f.world, &(weft_component_desc){.name = "counted",
                                                              .size = 4,
                                                              .flags = WEFT_SHARED,
                                                              .shared_release = count_release,
                                                              .hooks.user = &released});
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a);
    weft_recorder *commands;
    CHECK_OK(weft_recorder_create(f.world, &commands));
    CHECK_OK(weft_recorder_set_shared(commands, e, counted, &(int32_t){5}));
    CHECK_OK(weft_recorder_play(commands));
    CHECK_I64(*(const int32_t *)weft_entity_read_shared(f.world, e, counted), 5);
    CHECK_U64(released, 0);
    CHECK_OK(weft_recorder_set_shared(commands, e, counted, &(int32_t){6}));
    CHECK_OK(weft_recorder_play(commands));
    CHECK_U64(released, 1); /* five went with its last row */
    CHECK_U64(weft_shared_values(f.world, counted, NULL, 0), 2);
    CHECK_OK(weft_recorder_set_shared(commands, e, counted, &(int32_t){7}));
    weft_recorder_destroy(commands); /* never played */
    CHECK_U64(weft_shared_values(f.world, counted, NULL, 0), 2);
    CHECK_OK(weft_entity_destroy(f.world, e));
    CHECK_U64(weft_shared_values(f.world, counted, NULL, 0), 1);
    CHECK_U64(weft_shared_values(f.world, counted, NULL, 8), 1);
    fixture_validate(&f);
    CHECK_OK(weft_world_destroy(f.world));
    test_memory_fini(&f.memory);
}

/* A component of 8 bytes, one reference, with a field for it. */
static weft_component reference_component(fixture *f, const char *name, uint32_t flags)
{
    const weft_field field = {.name = "target", .kind = WEFT_FIELD_ENTITY};
    return weft_component_create(f->world, &(weft_component_desc){.name = name,
                                                                  .size = sizeof(weft_entity),
                                                                  .flags = flags,
                                                                  .fields = &field,
                                                                  .field_count = 1});
}

Test(stamps, clearing_references_to_the_dead_changes_what_had_one_only)
{
    fixture f;
    fixture_open(&f, 2);
    weft_component target = reference_component(&f, "target", 0);
    weft_component list = reference_component(&f, "list", WEFT_BUFFER);
    weft_component common = reference_component(&f, "common", WEFT_CHUNK);
    weft_component leader = reference_component(&f, "leader", WEFT_RESOURCE);
    weft_entity alive, dead, e[4];
    FIXTURE_CREATE(&f, 1, &alive, f.b);
    FIXTURE_CREATE(&f, 1, &dead, f.b);
    FIXTURE_CREATE(&f, 4, e, target, list, common, f.a, f.l); /* two chunks of two */
    for (uint32_t i = 0; i < 4; i++) {
        const weft_entity *of = i == 2 ? &dead : &alive;
        CHECK_OK(weft_entity_set(f.world, e[i], target, of, sizeof *of));
        CHECK_OK(test_buffer_append(f.world, list, e[i], of, 1));
        CHECK_OK(test_buffer_append(f.world, list, e[i], &alive, 1));
    }
    weft_cursor cursor = weft_query_begin(f.world, FIXTURE_QUERY(&f, {common, WEFT_WRITE}));
    CHECK(weft_query_next(&cursor)); /* the first chunk's value is to a dead one, too */
    *(weft_entity *)weft_slice_write_chunk(&cursor.slice, 0) = dead;
    weft_query_end(&cursor);
    *(weft_entity *)weft_resource_write(f.world, leader) = dead;
    CHECK_OK(weft_entity_destroy(f.world, dead));
    weft_query changed[] = {changes_of(&f, f.a), changes_of(&f, list), changes_of(&f, common),
                            changes_of(&f, target)};
    uint64_t cleared = 7;
    CHECK_OK(weft_world_clear_references(f.world, &cleared));
    CHECK_U64(cleared, 4);
    CHECK_U64(weft_query_count(f.world, changed[0]), 0);
    for (uint32_t i = 0; i < 4; i++) {
        const weft_entity *value = weft_entity_read(f.world, e[i], target);
        const weft_buffer *buffer = weft_entity_read(f.world, e[i], list);
        const weft_entity *items = weft_buffer_read(buffer);
        CHECK_U64(value->index, i == 2 ? 0 : alive.index);
        CHECK_U64(items[0].index, i == 2 ? 0 : alive.index);
        CHECK_U64(items[1].index, alive.index);
        CHECK_U64(weft_query_matches(f.world, changed[1], e[i]), i >= 2);
        CHECK_U64(weft_query_matches(f.world, changed[2], e[i]), i < 2);
        CHECK_U64(weft_query_matches(f.world, changed[3], e[i]), i >= 2);
    }
    CHECK_U64(((const weft_entity *)weft_resource_read(f.world, leader))->version, 0);
    CHECK_OK(weft_world_clear_references(f.world, &cleared)); /* nothing is left */
    CHECK_U64(cleared, 0);
    CHECK_RESULT(weft_world_clear_references(NULL, NULL), WEFT_INVALID_ARGUMENT);
    cursor = weft_query_begin(f.world, changed[0]);
    CHECK_RESULT(weft_world_clear_references(f.world, NULL), WEFT_WRONG_PHASE);
    weft_query_end(&cursor);
    fixture_close(&f);
}

Test(stamps, references_in_packed_structs_are_found_where_they_are)
{
    fixture f;
    fixture_open(&f, 0);
    const weft_field field = {.name = "two", .kind = WEFT_FIELD_ENTITY, .offset = 1, .count = 2};
    weft_component packed = weft_component_create(
        f.world,
        &(weft_component_desc){
            .name = "packed", .size = 17, .alignment = 1, .fields = &field, .field_count = 1});
    weft_entity e[3], two[2], dead;
    FIXTURE_CREATE(&f, 3, e, packed);
    FIXTURE_CREATE(&f, 1, &dead, f.b);
    for (uint32_t i = 0; i < 3; i++) {
        memcpy(two, (weft_entity[]){e[i], dead}, sizeof two);
        memcpy((char *)weft_entity_write(f.world, e[i], packed) + 1, two, sizeof two);
    }
    CHECK_OK(weft_entity_destroy(f.world, dead));
    uint64_t cleared;
    CHECK_OK(weft_world_clear_references(f.world, &cleared));
    CHECK_U64(cleared, 3);
    for (uint32_t i = 0; i < 3; i++) {
        memcpy(two, (const char *)weft_entity_read(f.world, e[i], packed) + 1, sizeof two);
        CHECK(two[0].index == e[i].index && two[0].version == e[i].version);
        CHECK(two[1].index == 0 && two[1].version == 0);
    }
    fixture_close(&f);
}

Test(stamps, a_resource_query_may_be_filtered_and_hold_a_buffer)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component list = fixture_component(&f, "list", 4, WEFT_BUFFER);
    weft_entity e[2], only;
    FIXTURE_CREATE(&f, 2, e, f.a, f.s, f.x, list);
    CHECK_OK(weft_entity_set_shared(f.world, e[1], f.s, &(int32_t){3}));
    weft_query query = FIXTURE_QUERY(&f, {list}, {f.s}, {f.x});
    CHECK_U64(weft_query_single(f.world, query).index, 0);
    CHECK_OK(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_EQUAL, &(int32_t){3}, 1));
    only = weft_query_single(f.world, query);
    CHECK_U64(only.index, e[1].index);
    CHECK_OK(test_buffer_append(f.world, list, only, &(int32_t){9}, 1));
    CHECK_OK(weft_entity_enable(f.world, e[1], f.x, false)); /* disabled rows do not count */
    CHECK_U64(weft_query_single(f.world, query).index, 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_NOT_FOUND);
    CHECK_OK(weft_query_filter_reset(f.world, query));
    CHECK_U64(weft_query_single(f.world, query).index, e[0].index); /* the only enabled one */
    fixture_close(&f);
}
