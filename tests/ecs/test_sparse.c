/* SPDX-License-Identifier: MIT */
/* test_sparse.c: SPARSE components: what they do, what they refuse, hooks. Beside a model:
 * test_sparse_random.c. */
#include "sparse_fixture.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(sparse, comes_and_goes_without_moving_the_entity)
{
    sparse_fixture s = sparse_open();
    weft_world *world = s.f.world;
    weft_entity e = weft_entity_create(world, storage_moving(&s.f));
    weft_entity_place before, after;
    CHECK_OK(weft_entity_place_get(world, e, &before, sizeof before));
    CHECK(!weft_entity_has(world, e, s.burning));
    CHECK(weft_entity_read(world, e, s.burning) == NULL);
    CHECK_RESULT(weft_world_error(world)->code, WEFT_NOT_FOUND);
    CHECK_OK(weft_entity_add(world, e, s.burning));
    CHECK_OK(weft_entity_add(world, e, s.burning));
    CHECK_OK(weft_entity_add(world, e, s.marked));
    CHECK(weft_entity_has(world, e, s.burning) && weft_entity_has(world, e, s.marked));
    CHECK_U64(*(const uint32_t *)weft_entity_read(world, e, s.burning), 0);
    CHECK_OK(WEFT_SET(world, e, s.burning, uint32_t, {7}));
    CHECK_U64(*(const uint32_t *)weft_entity_read(world, e, s.burning), 7);
    *(uint32_t *)weft_entity_write(world, e, s.burning) = 8;
    weft_finder find = weft_finder_open(world, s.burning);
    CHECK_U64(*(const uint32_t *)weft_finder_read(&find, e), 8);
    CHECK(weft_entity_read(world, e, s.marked) == NULL);
    CHECK_RESULT(weft_world_error(world)->code, WEFT_TYPE_MISMATCH);
    CHECK_OK(weft_entity_place_get(world, e, &after, sizeof after));
    CHECK_U64(before.archetype.id, after.archetype.id);
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_entity_remove(world, e, s.burning));
    CHECK_OK(weft_entity_remove(world, e, s.burning));
    CHECK(!weft_entity_has(world, e, s.burning));
    CHECK_POINTER(weft_finder_read(&find, e), NULL);
    CHECK_OK(weft_entity_destroy(world, e));
    CHECK_RESULT(weft_entity_add(world, e, s.burning), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_entity_remove(world, e, s.marked), WEFT_STALE_ENTITY);
    weft_entity next = weft_entity_create(world, storage_moving(&s.f));
    CHECK_U64(next.index, e.index);
    CHECK(!weft_entity_has(world, next, s.marked));
    storage_close(&s.f);
}

/* Entities [0, count) burn with their number. */
static void burn_all(sparse_fixture *s, weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        entities[i] = weft_entity_create(s->f.world, storage_moving(&s->f));
        CHECK_OK(weft_entity_set(s->f.world, entities[i], s->burning, &i, 4));
    }
}

static bool is_found(weft_world *world, weft_query query, weft_entity entity)
{
    bool is_found = false;
    weft_cursor c = weft_query_begin(world, query);
    while (weft_query_next(&c))
        for (uint32_t i = 0; i < c.slice.count; i++)
            is_found = is_found || (c.slice.entities[i].index == entity.index &&
                                    c.slice.entities[i].version == entity.version);
    return is_found;
}

Test(sparse, a_row_that_fills_a_hole_keeps_value_and_version)
{
    enum { COUNT = 3000 };
    static weft_entity entities[COUNT];
    sparse_fixture s = sparse_open();
    weft_world *world = s.f.world;
    burn_all(&s, entities, COUNT);
    weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{s.burning}}});
    uint32_t since = weft_world_advance_change_version(world);
    CHECK_OK(weft_query_filter_changed(world, query, s.burning, since));
    CHECK_U64(weft_query_count(world, query), 0);
    CHECK_OK(WEFT_SET(world, entities[COUNT - 1], s.burning, uint32_t, {7}));
    CHECK_OK(weft_entity_remove(world, entities[0], s.burning)); /* its row is the last one's */
    CHECK(is_found(world, query, entities[COUNT - 1]));
    CHECK_U64(*(const uint32_t *)weft_entity_read(world, entities[COUNT - 1], s.burning), 7);
    for (uint32_t i = 1; i < COUNT - 1; i += 3)
        CHECK_OK(weft_entity_remove(world, entities[i], s.burning));
    CHECK_OK(weft_world_validate(world));
    for (uint32_t i = 2; i < COUNT - 1; i++) {
        const uint32_t *value = weft_entity_read(world, entities[i], s.burning);
        CHECK(i % 3 == 1 ? value == NULL : *value == i);
    }
    storage_close(&s.f);
}

Test(sparse, dead_entities_get_no_row_that_is_ready)
{
    weft_entity entities[100];
    sparse_fixture s = sparse_open();
    weft_world *world = s.f.world;
    burn_all(&s, entities, 100);
    for (uint32_t i = 0; i < 100; i += 2) {
        CHECK_OK(weft_entity_destroy(world, entities[i]));
        weft_entity next = weft_entity_create(world, storage_moving(&s.f));
        CHECK_OK(weft_entity_add(world, next, s.burning)); /* zero, where another row ended */
        CHECK_U64(*(const uint32_t *)weft_entity_read(world, next, s.burning), 0);
        CHECK_RESULT(weft_entity_add(world, entities[i], s.burning), WEFT_STALE_ENTITY);
        CHECK_RESULT(weft_entity_set(world, entities[i], s.burning, &i, 4), WEFT_STALE_ENTITY);
        CHECK_RESULT(weft_entity_remove(world, entities[i], s.burning), WEFT_STALE_ENTITY);
    }
    CHECK_OK(weft_world_validate(world));
    storage_close(&s.f);
}

Test(sparse, more_types_than_are_near)
{
    enum { TYPES = 3 * WEFT__SPARSE_NEAR };
    sparse_fixture s = sparse_open();
    weft_world *world = s.f.world;
    weft_component types[TYPES];
    weft_entity e = weft_entity_create(world, storage_moving(&s.f));
    for (uint32_t i = 0; i < TYPES; i++) {
        char name[16];
        snprintf(name, sizeof name, "type %u", i);
        types[i] = weft_component_create_plain(world, name, 4, 4, WEFT_SPARSE);
        CHECK_OK(weft_entity_add(world, e, types[i]));
    }
    for (uint32_t i = 0; i < TYPES; i += 2) CHECK_OK(weft_entity_remove(world, e, types[i]));
    for (uint32_t i = 0; i < TYPES; i++) CHECK(weft_entity_has(world, e, types[i]) == (i % 2 != 0));
    CHECK_RESULT(weft_entity_add(world, e, (weft_component){0}), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_entity_add(world, e, (weft_component){types[0].id, types[0].world + 1}),
                 WEFT_BAD_HANDLE);
    storage_close(&s.f);
}

Test(sparse, says_what_it_is_not)
{
    sparse_fixture s = sparse_open();
    weft_world *world = s.f.world;
    CHECK(weft_component_create_plain(world, "a", 4, 4, WEFT_SPARSE | WEFT_ENABLEABLE).id == 0);
    CHECK(strstr(weft_world_error(world)->text, "SPARSE goes with NOT_HASHED only") != NULL);
    CHECK(WEFT_ARCHETYPE(world, s.f.position, s.burning).id == 0);
    CHECK_RESULT(weft_world_error(world)->code, WEFT_TYPE_MISMATCH);
    CHECK(strstr(weft_world_error(world)->text, "weft_entity_add") != NULL);
    weft_component handle = weft_component_create_plain(world, "handle", 4, 4, WEFT_CLEANUP);
    weft_entity e = weft_entity_create(world, WEFT_ARCHETYPE(world, s.f.position, handle));
    CHECK_OK(weft_entity_add(world, e, s.burning));
    CHECK_OK(weft_entity_destroy(world, e)); /* a residue, which has nothing sparse */
    CHECK(weft_entity_has(world, e, handle) && !weft_entity_has(world, e, s.burning));
    CHECK_RESULT(weft_entity_add(world, e, s.burning), WEFT_STALE_ENTITY);
    CHECK(strstr(weft_world_error(world)->text, "residue") != NULL);
    storage_close(&s.f);
}

static uint32_t ended;

static void count_ends(void *values, uint32_t count, void *user)
{
    (void)values, (void)user;
    ended += count;
}

static void make_five(void *values, uint32_t count, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < count; i++) ((uint32_t *)values)[i] = 5;
}

Test(sparse, values_are_constructed_and_end_once)
{
    storage_fixture f = storage_open();
    weft_component owned = weft_component_create(
        f.world, &(weft_component_desc){.name = "owned",
                                        .size = 4,
                                        .flags = WEFT_SPARSE,
                                        .hooks = {.construct = make_five, .destruct = count_ends}});
    weft_entity e[300];
    CHECK_OK(weft_entity_create_many(f.world, storage_moving(&f), 300, e));
    ended = 0;
    for (uint32_t i = 0; i < 300; i++) CHECK_OK(weft_entity_add(f.world, e[i], owned));
    for (uint32_t i = 0; i < 300; i++)
        CHECK_U64(*(const uint32_t *)weft_entity_read(f.world, e[i], owned), 5);
    CHECK_OK(weft_entity_remove(f.world, e[7], owned));
    CHECK_U64(ended, 1);
    CHECK_OK(WEFT_SET(f.world, e[8], owned, uint32_t, {9}));
    CHECK_U64(ended, 2);
    CHECK_OK(weft_entity_destroy(f.world, e[8]));
    CHECK_U64(ended, 3);
    CHECK_OK(weft_entity_destroy_many(f.world, e, 100));
    CHECK_U64(ended, 101);
    storage_close(&f);
    CHECK_U64(ended, 301);
}

Test(sparse, a_query_of_sparse_terms_switches_the_components_of_its_entities)
{
    sparse_fixture s = sparse_open();
    weft_world *world = s.f.world;
    weft_component shield = weft_component_create_plain(world, "shield", 4, 4, WEFT_ENABLEABLE);
    weft_entity entities[200];
    weft_query burning = weft_query_create(world, &(weft_query_desc){.terms = {{s.burning}}});
    for (uint32_t i = 0; i < 200; i++) {
        entities[i] = weft_entity_create(world, storage_moving(&s.f));
        if (i % 2 == 0) CHECK_OK(weft_entity_add(world, entities[i], shield));
        if (i % 3 == 0) CHECK_OK(weft_entity_add(world, entities[i], s.burning));
    }
    weft_recorder *commands;
    CHECK_OK(weft_recorder_create(world, &commands));
    for (uint32_t way = 0; way < 4; way++) { /* by call and by command, off and on */
        bool enabled = way % 2 == 1;
        if (way < 2)
            CHECK_OK(weft_query_enable(world, burning, shield, enabled));
        else
            CHECK_OK(weft_recorder_query_enable(commands, burning, shield, enabled));
        if (way >= 2) CHECK_OK(weft_recorder_play(commands));
        for (uint32_t i = 0; i < 200; i++)
            CHECK_U64(weft_entity_is_enabled(world, entities[i], shield),
                      i % 2 == 0 && (enabled || i % 3 != 0));
    }
    weft_recorder_destroy(commands);
    CHECK(weft_entity_is_enabled(world, entities[3], s.burning)); /* as any that it has */
    CHECK(!weft_entity_is_enabled(world, entities[1], s.burning));
    CHECK_OK(weft_world_validate(world));
    storage_close(&s.f);
}
