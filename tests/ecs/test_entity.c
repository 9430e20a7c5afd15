/* SPDX-License-Identifier: MIT */
/* test_entity.c: single entities: creation, values, add, remove, destroy, set archetype, swap. */
#include "storage_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

Test(entity, created_entities_are_alive_distinct_and_zeroed)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    weft_entity entities[1000];
    for (int i = 0; i < 1000; i++) {
        entities[i] = weft_entity_create(f.world, moving);
        CHECK_U64(entities[i].version, 1);
        CHECK_U64(entities[i].index, (unsigned)i);
        const vector3 *p = weft_entity_read(f.world, entities[i], f.position);
        CHECK(p != NULL && p->x == 0 && p->y == 0 && p->z == 0);
    }
    CHECK_OK(weft_world_validate(f.world));
    storage_close(&f);
}

Test(entity, add_and_remove_keep_the_other_values)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    weft_entity entities[500];
    for (uint32_t i = 0; i < 500; i++) {
        entities[i] = weft_entity_create(f.world, moving);
        CHECK_OK(WEFT_SET(f.world, entities[i], f.position, vector3, {(float)i, 1, 2}));
    }
    for (uint32_t i = 0; i < 500; i += 2) {
        CHECK_OK(weft_entity_add(f.world, entities[i], f.health));
        CHECK_OK(weft_entity_set(f.world, entities[i], f.health, &i, sizeof i));
    }
    CHECK_OK(weft_world_validate(f.world));
    for (uint32_t i = 0; i < 500; i++) {
        const vector3 *p = weft_entity_read(f.world, entities[i], f.position);
        CHECK_F64((double)p->x, (double)i, 0);
        CHECK(weft_entity_has(f.world, entities[i], f.health) == (i % 2 == 0));
    }
    for (uint32_t i = 0; i < 500; i += 4) {
        CHECK_U64(*(const uint32_t *)weft_entity_read(f.world, entities[i], f.health), i);
        CHECK_OK(weft_entity_remove(f.world, entities[i], f.health));
        CHECK_OK(weft_entity_remove(f.world, entities[i], f.health));
        CHECK(!weft_entity_has(f.world, entities[i], f.health));
    }
    for (uint32_t i = 0; i < 500; i++) {
        const vector3 *p = weft_entity_read(f.world, entities[i], f.position);
        CHECK_F64((double)p->x, (double)i, 0);
    }
    storage_close(&f);
}

Test(entity, destroyed_handles_are_refused_everywhere)
{
    storage_fixture f = storage_open();
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    CHECK_OK(weft_entity_destroy(f.world, e));
    CHECK(!weft_entity_is_alive(f.world, e));
    CHECK_RESULT(weft_entity_destroy(f.world, e), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_entity_add(f.world, e, f.health), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_entity_remove(f.world, e, f.position), WEFT_STALE_ENTITY);
    CHECK_RESULT(WEFT_SET(f.world, e, f.position, vector3, {1, 2, 3}), WEFT_STALE_ENTITY);
    CHECK(weft_entity_read(f.world, e, f.position) == NULL);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_STALE_ENTITY);
    CHECK(!weft_entity_has(f.world, e, f.position));
    weft_entity again = weft_entity_create(f.world, storage_moving(&f));
    CHECK_U64(again.index, e.index);
    CHECK_U64(again.version, e.version + 2);
    CHECK(!weft_entity_is_alive(f.world, e));
    CHECK_RESULT(weft_entity_destroy(f.world, e), WEFT_STALE_ENTITY);
    CHECK(weft_entity_is_alive(f.world, again));
    storage_close(&f);
}

Test(entity, destroying_from_start_middle_and_end_leaves_the_table_exact)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    weft_entity entities[200];
    for (uint32_t i = 0; i < 200; i++) {
        entities[i] = weft_entity_create(f.world, moving);
        CHECK_OK(WEFT_SET(f.world, entities[i], f.velocity, vector3, {(float)i, 0, 0}));
    }
    for (uint32_t i = 0; i < 200; i += 3) {
        CHECK_OK(weft_entity_destroy(f.world, entities[i]));
        CHECK_OK(weft_world_validate(f.world));
    }
    for (uint32_t i = 0; i < 200; i++) {
        const vector3 *v = weft_entity_read(f.world, entities[i], f.velocity);
        CHECK((v == NULL) == (i % 3 == 0));
        if (v != NULL) CHECK_F64((double)v->x, (double)i, 0);
    }
    storage_close(&f);
}

/* Fills the values of an entity, after seeing that they were zero. */
static weft_entity create_and_use(storage_fixture *f, weft_archetype moving)
{
    weft_entity e = weft_entity_create(f->world, moving);
    const vector3 *p = weft_entity_read(f->world, e, f->position);
    const vector3 *v = weft_entity_read(f->world, e, f->velocity);
    CHECK(p != NULL && p->x == 0 && p->y == 0 && p->z == 0);
    CHECK(v != NULL && v->x == 0 && v->y == 0 && v->z == 0);
    CHECK_OK(WEFT_SET(f->world, e, f->position, vector3, {1, 2, 3}));
    CHECK_OK(WEFT_SET(f->world, e, f->velocity, vector3, {4, 5, 6}));
    return e;
}

/* Rows are made ready for creation some at a time: whatever goes in between, the next is zero. */
Test(entity, rows_are_zero_again_whoever_had_them_and_in_whatever_order_they_went)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    weft_entity entities[700];
    uint32_t count = 0, state = 7;
    for (uint32_t round = 0; round < 3000; round++) {
        state = state * 1664525 + 1013904223;
        uint32_t choice = state >> 24;
        if (count < 20 || (choice < 140 && count < 700)) {
            entities[count++] = create_and_use(&f, moving);
        } else {
            uint32_t gone = choice < 200 ? count - 1 : state % count; /* last or any */
            CHECK_OK(weft_entity_destroy(f.world, entities[gone]));
            entities[gone] = entities[--count];
        }
        if (round % 16 == 0) CHECK_OK(weft_world_validate(f.world));
        if (round % 1000 == 500) weft_world_advance_change_version(f.world);
    }
    storage_close(&f);
}

static uint64_t changed_rows(storage_fixture *f, weft_query query, uint32_t since)
{
    CHECK_OK(weft_query_filter_reset(f->world, query));
    CHECK_OK(weft_query_filter_changed(f->world, query, f->position, since));
    return weft_query_count(f->world, query);
}

/* The rows made ready earlier are of an older version, and those behind a slice's end of a newer
 * one than the row before it: a created entity is changed all the same. */
Test(entity, each_created_entity_is_changed_since_the_version_before)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    weft_query query = weft_query_create(
        f.world, &(weft_query_desc){.terms = {{f.position, WEFT_READ, WEFT_ALL, 0}}});
    weft_entity entities[1100];
    for (uint32_t i = 0; i < 1100; i++) {
        uint32_t since = weft_world_advance_change_version(f.world);
        CHECK_U64(changed_rows(&f, query, since), 0);
        entities[i] = weft_entity_create(f.world, moving);
        CHECK(weft_query_matches(f.world, query, entities[i]));
        since = weft_world_advance_change_version(f.world);
        CHECK_U64(changed_rows(&f, query, since), 0);
        CHECK_OK(weft_entity_destroy(f.world, weft_entity_create(f.world, moving)));
        CHECK_OK(weft_entity_destroy(f.world, entities[i]));
        entities[i] = weft_entity_create(f.world, moving);
        CHECK(weft_query_matches(f.world, query, entities[i]));
    }
    storage_close(&f);
}
