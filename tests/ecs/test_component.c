/* SPDX-License-Identifier: MIT */
/* test_component.c: registration of types and what it refuses; resources; dynamic buffers. */
#include "buffer_append.h"
#include "storage_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static weft_result refused(weft_world *world, const weft_component_desc *desc)
{
    CHECK_U64(weft_component_create(world, desc).id, 0);
    CHECK(weft_world_error(world)->text[0] != '\0');
    return weft_world_error(world)->code;
}

Test(component, the_same_name_and_layout_give_the_same_type_another_layout_is_refused)
{
    storage_fixture f = storage_open();
    weft_component again = weft_component_create_plain(f.world, "position", 12, 4, 0);
    CHECK_U64(again.id, f.position.id);
    CHECK_RESULT(refused(f.world, &(weft_component_desc){.name = "position", .size = 16}),
                 WEFT_ALREADY_EXISTS);
    CHECK_U64(weft_component_find(f.world, "position").id, f.position.id);
    CHECK_U64(weft_component_find(f.world, "nothing").id, 0);
    CHECK_TEXT(weft_component_info(f.world, f.position)->name, "position");
    CHECK(weft_component_info(f.world, (weft_component){9999}) == NULL);
    storage_close(&f);
}

static void no_end(void *values, uint32_t count, void *user)
{
    (void)values, (void)count, (void)user;
}

static size_t no_bytes(const void *value, void *out, size_t capacity, void *user)
{
    (void)value, (void)out, (void)capacity, (void)user;
    return 0;
}

static uint64_t no_hash(const void *value, void *user)
{
    (void)value, (void)user;
    return 0;
}

Test(component, impossible_descriptions_are_refused_with_a_reason)
{
    storage_fixture f = storage_open();
    weft_field outside = {"far", WEFT_FIELD_U32, 6, 1};
    weft_field twice[] = {{"a", WEFT_FIELD_ENTITY, 0, 2}, {"b", WEFT_FIELD_BLOB, 8, 1}};
    weft_field same[] = {{"a", WEFT_FIELD_I32, 0, 1}, {"a", WEFT_FIELD_I32, 4, 1}};
    weft_field nameless[] = {{"", WEFT_FIELD_I32, 0, 1}, {"b", WEFT_FIELD_I32, 4, 1}};
    const weft_field no_least = {.name = "x", .kind = WEFT_FIELD_F32, .least = (double)NAN};
    const weft_field no_most = {.name = "x", .kind = WEFT_FIELD_F32, .most = (double)NAN};
    const weft_field inverted = {.name = "x", .kind = WEFT_FIELD_F32, .least = 2, .most = 1};
    const weft_field unit = {.name = "x", .kind = WEFT_FIELD_F32, .unit = "parsnips"};
    weft_field quote = {"a \"b\"", WEFT_FIELD_I32, 0, 1};
    char long_name[257] = {0};
    memset(long_name, 'n', 256);
    weft_field long_field = {long_name, WEFT_FIELD_I32, 0, 1};
    static weft_field many[70000]; /* so many references that 32 bits do not count them */
    for (uint32_t i = 0; i < 70000; i++) many[i] = (weft_field){"all", WEFT_FIELD_ENTITY, 0, 65536};
    const weft_component_desc bad[] = {
        {.name = NULL, .size = 4},
        {.name = "", .size = 4},
        {.name = "three", .size = 3, .alignment = 3},
        {.name = "wide", .size = 128, .alignment = 128},
        {.name = "page", .size = 4096, .alignment = 4096},
        {.name = "odd", .size = 12, .alignment = 8},
        {.name = "huge", .size = SIZE_MAX - 7},
        {.name = "megachunk", .size = 1 << 20},
        {.name = "kinds", .size = 4, .flags = WEFT_SHARED | WEFT_BUFFER},
        {.name = "resource", .size = 4, .flags = WEFT_RESOURCE | WEFT_ENABLEABLE},
        {.name = "flags", .size = 4, .flags = 1u << 30},
        {.name = "rest", .size = 4, .flags = WEFT_CLEANUP | WEFT_ENABLEABLE},
        {.name = "chunk", .size = 4, .flags = WEFT_CHUNK, .hooks.destruct = no_end},
        {.name = "shared", .size = 4, .flags = WEFT_SHARED, .hooks.destruct = no_end},
        {.name = "half", .size = 4, .hooks.save = no_bytes},
        {.name = "hash", .size = 4, .flags = WEFT_SHARED, .shared_hash = no_hash},
        {.name = "list", .size = 1 << 10, .flags = WEFT_BUFFER, .buffer_capacity = 1 << 20},
        {.name = "field", .size = 8, .fields = &outside, .field_count = 1},
        {.name = "no_fields", .size = 8, .field_count = 1},
        {.name = "twice", .size = 16, .fields = twice, .field_count = 2},
        {.name = "same", .size = 8, .fields = same, .field_count = 2},
        {.name = "nameless", .size = 8, .fields = nameless, .field_count = 2},
        {.name = "quote", .size = 4, .fields = &quote, .field_count = 1},
        {.name = "long", .size = 4, .fields = &long_field, .field_count = 1},
        {.name = "no_least", .size = 4, .fields = &no_least, .field_count = 1},
        {.name = "no_most", .size = 4, .fields = &no_most, .field_count = 1},
        {.name = "inverted", .size = 4, .fields = &inverted, .field_count = 1},
        {.name = "unit", .size = 4, .fields = &unit, .field_count = 1},
        {.name = "latin \xe9", .size = 4},
        {.name = "many", .size = 65536 * 8, .fields = many, .field_count = 70000},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_RESULT(refused(f.world, &bad[i]), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(refused(f.world, NULL), WEFT_INVALID_ARGUMENT);
    storage_close(&f);
}

Test(component, alignment_up_to_64_is_kept_in_every_row)
{
    storage_fixture f = storage_open();
    weft_component wide = weft_component_create_plain(f.world, "wide", 64, 64, 0);
    for (int i = 0; i < 300; i++) {
        weft_entity e[1];
        CHECK_OK(weft_entity_create_many(
            f.world, weft_archetype_create(f.world, (weft_component[]){wide, f.health}, 2), 1, e));
        CHECK_U64((uintptr_t)weft_entity_read(f.world, e[0], wide) % 64, 0);
    }
    storage_close(&f);
}

Test(component, rows_larger_than_a_unit_work_and_larger_than_a_chunk_are_refused)
{
    storage_fixture f = storage_open();
    weft_component big = weft_component_create_plain(f.world, "big", 300000, 4, 0);
    weft_component big2 = weft_component_create_plain(f.world, "big2", 900000, 4, 0);
    CHECK(big.id != 0 && big2.id != 0);
    weft_entity e[5];
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, big), 5, e));
    for (int i = 0; i < 5; i++) memset(weft_entity_write(f.world, e[i], big), i, 300000);
    CHECK_RESULT(weft_entity_add(f.world, e[2], big2), WEFT_LIMIT);
    for (int i = 0; i < 5; i++)
        CHECK_U64(((const unsigned char *)weft_entity_read(f.world, e[i], big))[299999], i);
    storage_close(&f);
}

Test(component, a_thousand_components_on_one_entity)
{
    storage_fixture f = storage_open();
    weft_component list[1000];
    char name[16];
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "c%u", i);
        list[i] = weft_component_create_plain(f.world, name, 4, 4, 0);
    }
    weft_entity e;
    CHECK_OK(weft_entity_create_many(f.world, weft_archetype_create(f.world, list, 1000), 1, &e));
    for (uint32_t i = 0; i < 1000; i++) CHECK_OK(weft_entity_set(f.world, e, list[i], &i, 4));
    CHECK_OK(weft_entity_remove(f.world, e, list[500]));
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t *value = weft_entity_read(f.world, e, list[i]);
        CHECK(i == 500 ? value == NULL : *value == i);
    }
    storage_close(&f);
}

Test(component, chunk_values_of_an_archetype_above_a_gibibyte_are_refused)
{
    enum { COUNT = 4200, BYTES = 1000000 }; /* 32 bits do not count their bytes */
    storage_fixture f = storage_open();
    static weft_component list[COUNT];
    char name[16];
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "c%u", i);
        list[i] = weft_component_create_plain(f.world, name, BYTES, 1, WEFT_CHUNK);
        CHECK(list[i].id != 0);
    }
    static const uint32_t counts[] = {COUNT, COUNT / 2, 1074};
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_U64(weft_archetype_create(f.world, list, counts[i]).id, 0);
        CHECK_RESULT(weft_world_error(f.world)->code, WEFT_LIMIT);
    }
    weft_entity e;
    CHECK_OK(weft_entity_create_many(f.world, weft_archetype_create(f.world, list, 3), 1, &e));
    weft_query_desc desc = {
        .terms = {{list[0], WEFT_WRITE}, {list[1], WEFT_WRITE}, {list[2], WEFT_WRITE}}};
    weft_cursor cursor = weft_query_begin(f.world, weft_query_create(f.world, &desc));
    CHECK(weft_query_next(&cursor));
    for (uint32_t i = 0; i < 3; i++) memset(weft_slice_write_chunk(&cursor.slice, i), 1, BYTES);
    weft_query_end(&cursor);
    storage_close(&f);
}

Test(component, the_limit_of_types_is_exact)
{
    storage_fixture f = storage_open_with(&(weft_world_desc){.component_limit = 7});
    CHECK(weft_component_create_plain(f.world, "six", 4, 4, 0).id != 0);
    CHECK(weft_component_create_plain(f.world, "seven", 4, 4, 0).id != 0);
    CHECK_RESULT(refused(f.world, &(weft_component_desc){.name = "eight", .size = 4}), WEFT_LIMIT);
    storage_close(&f);
}

Test(component, stable_hashes_do_not_depend_on_the_order_of_registration)
{
    storage_fixture a = storage_open(), b = storage_open();
    weft_component first = weft_component_create_plain(a.world, "x", 8, 8, 0);
    weft_component_create_plain(b.world, "y", 8, 8, 0);
    weft_component second = weft_component_create_plain(b.world, "x", 8, 8, 0);
    CHECK_U64(weft_component_hash(a.world, first), weft_component_hash(b.world, second));
    CHECK(weft_component_hash(a.world, first) != weft_component_hash(a.world, a.position));
    storage_close(&a);
    storage_close(&b);
}

/* A count of 0 says one element, as field.h promises: both worlds have the same component. */
Test(component, a_count_of_none_is_a_count_of_one)
{
    static const weft_field none[] = {{.name = "x", .kind = WEFT_FIELD_F32}};
    static const weft_field one[] = {{.name = "x", .kind = WEFT_FIELD_F32, .count = 1}};
    weft_type type = {.name = "X", .size = 4, .alignment = 4, .fields = none, .field_count = 1};
    storage_fixture a = storage_open(), b = storage_open(), c = storage_open();
    weft_component_desc desc = {
        .name = "X", .size = 4, .alignment = 4, .fields = none, .field_count = 1};
    uint64_t hash = weft_component_hash(a.world, weft_component_create(a.world, &desc));
    desc.fields = one;
    CHECK_U64(weft_component_hash(b.world, weft_component_create(b.world, &desc)), hash);
    weft_component described =
        weft_component_create(c.world, &(weft_component_desc){.type = &type});
    CHECK_U64(weft_component_hash(c.world, described), hash);
    storage_close(&a);
    storage_close(&b);
    storage_close(&c);
}

Test(component, a_resource_is_zero_until_written_and_belongs_to_no_entity)
{
    storage_fixture f = storage_open();
    weft_component clock = weft_component_create_plain(f.world, "clock", 8, 8, WEFT_RESOURCE);
    CHECK_U64(*(const uint64_t *)weft_resource_read(f.world, clock), 0);
    *(uint64_t *)weft_resource_write(f.world, clock) = 5;
    CHECK_U64(*(const uint64_t *)weft_resource_read(f.world, clock), 5);
    CHECK(weft_resource_write(f.world, f.position) == NULL);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_TYPE_MISMATCH);
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    CHECK_RESULT(weft_entity_add(f.world, e, clock), WEFT_TYPE_MISMATCH);
    CHECK_U64(weft_archetype_create(f.world, &clock, 1).id, 0);
    storage_close(&f);
}

Test(component, wrong_sizes_kinds_and_handles_are_named)
{
    storage_fixture f = storage_open();
    weft_component list = weft_component_create_plain(f.world, "list", 4, 4, WEFT_BUFFER);
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    uint64_t value = 1;
    CHECK_RESULT(weft_entity_set(f.world, e, f.health, &value, 8), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_entity_set(f.world, e, f.health, NULL, 4), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_set(f.world, e, list, &value, 4), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_entity_add(f.world, e, (weft_component){0}), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_entity_add(f.world, e, (weft_component){777}), WEFT_BAD_HANDLE);
    CHECK(weft_entity_read(f.world, e, (weft_component){777}) == NULL);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_BAD_HANDLE);
    CHECK(weft_entity_read(f.world, e, f.health) == NULL);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_NOT_FOUND);
    CHECK_OK(weft_entity_add(f.world, e, f.tag));
    CHECK(weft_entity_read(f.world, e, f.tag) == NULL);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_TYPE_MISMATCH);
    weft_component twice[] = {f.tag, f.position, f.tag};
    CHECK_U64(weft_archetype_create(f.world, twice, 3).id, 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_entity_create(f.world, (weft_archetype){0}).version, 0);
    CHECK_U64(weft_entity_create(f.world, (weft_archetype){4000}).version, 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_BAD_HANDLE);
    storage_close(&f);
}

Test(component, buffers_grow_to_the_heap_keep_their_elements_and_trim_back)
{
    storage_fixture f = storage_open();
    weft_component list = weft_component_create_plain(f.world, "list", 4, 4, WEFT_BUFFER);
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    CHECK_OK(weft_entity_add(f.world, e, list));
    for (uint32_t i = 0; i < 1000; i++) CHECK_OK(test_buffer_append(f.world, list, e, &i, 1));
    CHECK_OK(weft_entity_add(f.world, e, f.tag));
    CHECK_OK(weft_entity_add(f.world, e, f.health)); /* the row moves, the elements stay */
    const weft_buffer *buffer = weft_entity_read(f.world, e, list);
    weft_buffers rows = weft_entity_write_buffer(f.world, e, list);
    CHECK(buffer->heap != NULL);
    CHECK_OK(weft_buffers_reserve(&rows, 0, 0)); /* full: the next one moves it */
    CHECK_OK(weft_buffers_append(&rows, 0, weft_buffer_read(buffer), 500));
    for (uint32_t i = 0; i < 1500; i++)
        CHECK_U64(((const uint32_t *)weft_buffer_read(buffer))[i], i % 1000);
    CHECK_OK(weft_buffers_resize(&rows, 0, 5));
    CHECK_OK(weft_buffers_reserve(&rows, 0, 0));
    CHECK(buffer->heap == NULL);
    CHECK_U64(buffer->count, 5);
    CHECK_U64(((const uint32_t *)weft_buffer_read(buffer))[4], 4);
    CHECK_OK(weft_buffers_resize(&rows, 0, 8));
    CHECK_U64(((const uint32_t *)weft_buffer_read(buffer))[7], 0);
    CHECK_RESULT(weft_buffers_resize(&rows, 0, UINT32_MAX), WEFT_LIMIT);
    storage_close(&f);
}

Test(component, all_references_of_an_array_that_is_described_by_its_bytes_are_walked)
{
    storage_fixture f = storage_open();
    const weft_field field = {.name = "to", .kind = WEFT_FIELD_ENTITY, .bytes = 24};
    weft_component links = weft_component_create(
        f.world,
        &(weft_component_desc){
            .name = "links", .size = 24, .alignment = 4, .fields = &field, .field_count = 1});
    weft_archetype archetype = weft_archetype_create(f.world, NULL, 0);
    weft_entity host = weft_entity_create(f.world, archetype);
    weft_entity gone = weft_entity_create(f.world, archetype);
    const weft_entity to[3] = {gone, gone, gone};
    CHECK_OK(weft_entity_set(f.world, host, links, to, sizeof to));
    CHECK_OK(weft_entity_destroy(f.world, gone));
    uint64_t cleared;
    CHECK_OK(weft_world_clear_references(f.world, &cleared));
    CHECK_U64(cleared, 3);
    storage_close(&f);
}
