/* SPDX-License-Identifier: MIT */
/* test_finder.c: finders and weft_entity_read over the column maps: the same values by every way,
 * while rows come, go and move, chunks are released and used again, and memory runs out. */
#include "os_fault.h"
#include "storage_fixture.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* weft_entity_read as a function, for callers without the definition of finder.h. */
static const void *called_get(const weft_world *world, weft_entity e, weft_component component)
{
    const void *(*get)(const weft_world *, weft_entity, weft_component) = weft_entity_read;
    __asm__("" : "+r"(get)); /* so that the compiler does not know which one it is */
    return get(world, e, component);
}

/* What a finder must say: the chunk's own word. */
static void check_same(const storage_fixture *f, const weft_finder *find, weft_entity e,
                       weft_component component)
{
    const void *value = weft_finder_read_slowly(f->world, e, component);
    CHECK_POINTER(weft_finder_read(find, e), value);
    CHECK_POINTER(weft_entity_read(f->world, e, component), value);
    CHECK_POINTER(called_get(f->world, e, component), value);
}

Test(finder, finds_what_the_chunk_says_while_rows_come_go_and_move)
{
    enum { COUNT = 20000 };
    storage_fixture f = storage_open();
    weft_entity *e = calloc(COUNT, sizeof *e);
    weft_finder early = weft_finder_open(f.world, f.position); /* before there is any chunk */
    weft_finder health = weft_finder_open(f.world, f.health);
    weft_archetype moving = storage_moving(&f);
    for (uint32_t i = 0; i < COUNT; i++) {
        e[i] = weft_entity_create(f.world, moving);
        CHECK_OK(WEFT_SET(f.world, e[i], f.position, vector3, {(float)i, 0, 0}));
    }
    for (uint32_t i = 0; i < COUNT; i += 3) CHECK_OK(weft_entity_add(f.world, e[i], f.health));
    for (uint32_t i = 0; i < COUNT; i += 7) CHECK_OK(weft_entity_destroy(f.world, e[i]));
    for (uint32_t i = 0; i < COUNT; i += 14) e[i] = weft_entity_create(f.world, moving);
    CHECK_OK(weft_world_validate(f.world));
    weft_finder late = weft_finder_open(f.world, f.position);
    for (uint32_t i = 0; i < COUNT; i++) {
        check_same(&f, &early, e[i], f.position);
        check_same(&f, &late, e[i], f.position);
        check_same(&f, &health, e[i], f.health);
        const vector3 *p = weft_finder_read(&early, e[i]);
        CHECK((p != NULL) == weft_entity_is_alive(f.world, e[i]));
        if (p != NULL && i % 7 != 0) CHECK_F64((double)p->x, (double)i, 0);
    }
    free(e);
    storage_close(&f);
}

/* Chunks that go leave their berths to others, which may have no such column. */
Test(finder, berths_of_released_chunks_are_forgotten)
{
    storage_fixture f = storage_open();
    weft_entity first[3000], second[3000];
    CHECK_OK(weft_entity_create_many(
        f.world, weft_archetype_create(f.world, (weft_component[]){f.position, f.velocity}, 2),
        3000, first));
    weft_finder find = weft_finder_open(f.world, f.position);
    CHECK(weft_finder_read(&find, first[2999]) != NULL);
    CHECK_OK(weft_entity_destroy_many(f.world, first, 3000));
    CHECK_OK(weft_entity_create_many(
        f.world, weft_archetype_create(f.world, (weft_component[]){f.velocity, f.health}, 2), 3000,
        second));
    for (uint32_t i = 0; i < 3000; i++) {
        CHECK_POINTER(weft_finder_read(&find, first[i]), NULL);
        CHECK_POINTER(weft_finder_read(&find, second[i]), NULL);
    }
    storage_close(&f);
}

Test(finder, whole_chunks_that_change_archetype_are_still_found)
{
    storage_fixture f = storage_open();
    weft_entity e[100];
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.position), 100, e));
    weft_finder find = weft_finder_open(f.world, f.position);
    weft_query all =
        weft_query_create(f.world, &(weft_query_desc){.terms = {{f.position, 0, 0, 0}}});
    const void *before = weft_finder_read(&find, e[50]);
    CHECK_OK(weft_query_add(f.world, all, f.tag));
    CHECK_POINTER(weft_finder_read(&find, e[50]), before);
    CHECK_OK(weft_query_add(f.world, all, f.health)); /* moves the rows */
    for (uint32_t i = 0; i < 100; i++) check_same(&f, &find, e[i], f.position);
    storage_close(&f);
}

Test(finder, handles_of_other_worlds_and_wild_ones_find_nothing)
{
    storage_fixture f = storage_open_with(&(weft_world_desc){.entity_tag = 5});
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    weft_finder find = weft_finder_open(f.world, f.position);
    CHECK(weft_finder_read(&find, e) != NULL);
    check_same(&f, &find, e, f.position);
    static const uint32_t flips[] = {1u << 31, 1u << 28, 1u << 27, 1u << 13, 1, 0xf0000000};
    for (uint32_t i = 0; i < sizeof flips / sizeof flips[0]; i++) {
        weft_entity wild = {e.index ^ flips[i], e.version};
        CHECK_POINTER(weft_finder_read(&find, wild), NULL);
        CHECK_POINTER(weft_entity_read(f.world, wild, f.position), NULL);
    }
    CHECK_POINTER(weft_finder_read(&find, (weft_entity){0, 0}), NULL);
    CHECK_POINTER(weft_finder_read(&find, (weft_entity){e.index, e.version + 2}), NULL);
    CHECK_OK(weft_entity_destroy(f.world, e));
    CHECK_POINTER(weft_finder_read(&find, e), NULL);
    CHECK_POINTER(weft_finder_read(&find, (weft_entity){e.index, e.version + 1}), NULL);
    storage_close(&f);
}

Test(finder, components_without_a_column_are_answered_like_weft_entity_get)
{
    storage_fixture f = storage_open();
    weft_component chunk = weft_component_create_plain(f.world, "chunk", 8, 8, WEFT_CHUNK);
    weft_component list = weft_component_create_plain(f.world, "list", 4, 4, WEFT_BUFFER);
    weft_component wide = weft_component_create_plain(f.world, "wide", 70000, 4, 0);
    weft_component all[] = {f.position, f.tag, chunk, list, wide};
    weft_entity e[40];
    CHECK_OK(weft_entity_create_many(f.world, weft_archetype_create(f.world, all, 5), 40, e));
    for (uint32_t k = 0; k < 5; k++) {
        weft_finder find = weft_finder_open(f.world, all[k]);
        for (uint32_t i = 0; i < 40; i++) check_same(&f, &find, e[i], all[k]);
        CHECK((weft_finder_read(&find, e[0]) == NULL) == (k == 1 || k == 2));
    }
    storage_close(&f);
}

Test(finder, a_bad_component_or_world_gives_a_finder_that_finds_nothing)
{
    storage_fixture f = storage_open();
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    weft_finder none = weft_finder_open(f.world, (weft_component){777});
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_BAD_HANDLE);
    CHECK_POINTER(weft_finder_read(&none, e), NULL);
    none = weft_finder_open(NULL, f.position);
    CHECK_POINTER(weft_finder_read(&none, e), NULL);
    none = (weft_finder){0};
    CHECK_POINTER(weft_finder_read(&none, e), NULL);
    storage_close(&f);
}

/* Ids beyond those that the world holds a map of in itself. */
Test(finder, the_last_of_many_components_has_a_map_like_the_first)
{
    storage_fixture f = storage_open();
    weft_component last = {0}, before = {0};
    char name[16];
    for (uint32_t i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "c%u", i);
        before = last;
        last = weft_component_create_plain(f.world, name, 8, 8, 0);
    }
    weft_entity e[100];
    CHECK_OK(weft_entity_create_many(
        f.world, weft_archetype_create(f.world, (weft_component[]){before, last}, 2), 100, e));
    weft_finder first = weft_finder_open(f.world, last), second = weft_finder_open(f.world, before);
    CHECK(first.blocks != NULL && second.blocks != NULL);
    for (uint32_t i = 0; i < 100; i++) {
        check_same(&f, &first, e[i], last);
        check_same(&f, &second, e[i], before);
    }
    storage_close(&f);
}

Test(finder, frequent_gets_of_a_component_make_its_map)
{
    storage_fixture f = storage_open();
    weft_entity e[10];
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.position), 10, e));
    for (uint32_t i = 0; i < 1000; i++) CHECK(weft_entity_read(f.world, e[i % 10], f.position));
    CHECK(f.world->front.maps.few[f.position.id] != NULL);
    CHECK(f.world->front.maps.few[f.velocity.id] == NULL);
    weft_world_stats before, after;
    weft_world_stats_get(f.world, &before, sizeof before);
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.velocity), 2000000,
                                     NULL)); /* more berths */
    weft_world_stats_get(f.world, &after, sizeof after);
    CHECK(after.bytes_total > before.bytes_total);
    for (uint32_t i = 0; i < 10; i++)
        CHECK_POINTER(weft_entity_read(f.world, e[i], f.position),
                      weft_finder_read_slowly(f.world, e[i], f.position));
    storage_close(&f);
}

Test(finder, without_address_space_values_are_found_through_the_chunk)
{
    test_os os;
    test_os_init(&os);
    storage_fixture f = storage_open_with(&(weft_world_desc){.os = &os.table});
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    for (uint64_t at = 1; at <= 2; at++) { /* the table of blocks; the map */
        test_os_fail_map(&os, at);
        weft_finder find = weft_finder_open(f.world, f.position);
        CHECK_POINTER(find.blocks, NULL);
        check_same(&f, &find, e, f.position);
    }
    weft_finder find = weft_finder_open(f.world, f.position);
    CHECK(find.blocks != NULL);
    check_same(&f, &find, e, f.position);
    storage_close(&f);
    CHECK_U64(at_load_rlx(&os.x_unmaps), at_load_rlx(&os.x_maps));
}

/* A loop of the owner hands finders out as well. */
Test(finder, a_slice_of_a_cursor_gives_a_finder)
{
    storage_fixture f = storage_open();
    weft_entity e[10];
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.position), 10, e));
    weft_finder_open(f.world, f.position);
    weft_query all =
        weft_query_create(f.world, &(weft_query_desc){.terms = {{f.position, 0, 0, 0}}});
    weft_cursor cursor = weft_query_begin(f.world, all);
    CHECK(weft_query_next(&cursor));
    weft_finder find = weft_slice_finder(&cursor.slice, f.position);
    const vector3 *column = weft_slice_read(&cursor.slice, 0);
    for (uint32_t i = 0; i < 10; i++) CHECK_POINTER(weft_finder_read(&find, e[i]), &column[i]);
    find = weft_slice_finder(&cursor.slice, (weft_component){777});
    CHECK_POINTER(weft_finder_read(&find, e[0]), NULL);
    weft_query_end(&cursor);
    storage_close(&f);
}

/* Batches overlap: one that ends early must not lose the batch before it. */
enum { FAR = 70000 }; /* entities whose slots are more than what counts as near */

/* In a world of `others` more entities. */
static void read_many_until_test(uint32_t others)
{
    enum { COUNT = 200 };
    storage_fixture f = storage_open();
    weft_entity e[COUNT];
    static uint32_t values[COUNT], out[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) values[i] = i + 1;
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.velocity), others, NULL));
    CHECK_OK(weft_entity_create_filled(f.world, WEFT_ARCHETYPE(f.world, f.health),
                                       WEFT_VALUES({f.health, values}), COUNT, e));
    for (uint32_t gone = 0; gone < COUNT; gone += 9) {
        weft_entity kept = e[gone];
        e[gone].version += 2;
        for (uint32_t i = 0; i < COUNT; i++) out[i] = 0;
        CHECK_RESULT(weft_entity_read_many(f.world, e, COUNT, f.health, out), WEFT_STALE_ENTITY);
        CHECK_U64(weft_world_error(f.world)->entity.index, kept.index);
        for (uint32_t i = 0; i < COUNT; i++) CHECK_U64(out[i], i < gone ? i + 1 : 0);
        e[gone] = kept;
    }
    for (uint32_t count = 0; count <= COUNT; count++) {
        for (uint32_t i = 0; i < COUNT; i++) out[i] = 0;
        CHECK_OK(weft_entity_read_many(f.world, e, count, f.health, out));
        for (uint32_t i = 0; i < COUNT; i++) CHECK_U64(out[i], i < count ? i + 1 : 0);
    }
    storage_close(&f);
}

Test(finder, an_array_is_filled_up_to_the_first_entity_without_a_value)
{
    read_many_until_test(1);
}

Test(finder, an_array_in_a_large_world_is_filled_up_to_the_first_entity_without_a_value)
{
    read_many_until_test(FAR);
}

/* Values of every size that has its own loop, and one that has none. */
static void read_many_sizes_test(uint32_t others)
{
    enum { COUNT = 300, MOST = 40 };
    storage_fixture f = storage_open();
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.velocity), others, NULL));
    for (uint32_t size = 4; size <= MOST; size += size < 16 ? 4 : 24) {
        char name[] = "size00";
        name[4] = (char)('0' + size / 10), name[5] = (char)('0' + size % 10);
        weft_component component = weft_component_create_plain(f.world, name, size, 4, 0);
        static unsigned char values[COUNT * MOST], out[COUNT * MOST];
        weft_entity e[COUNT];
        for (uint32_t i = 0; i < COUNT * size; i++) values[i] = (unsigned char)(i * 7 + i / 251);
        CHECK_OK(weft_entity_create_filled(f.world, WEFT_ARCHETYPE(f.world, component),
                                           WEFT_VALUES({component, values}), COUNT, e));
        weft_finder_open(f.world, component); /* makes its map */
        CHECK_OK(weft_entity_read_many(f.world, e, COUNT, component, out));
        for (uint32_t i = 0; i < COUNT * size; i++) CHECK_U64(out[i], values[i]);
    }
    storage_close(&f);
}

Test(finder, values_of_all_sizes_are_read)
{
    read_many_sizes_test(1);
    read_many_sizes_test(FAR);
}
