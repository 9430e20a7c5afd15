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
        const vector3 *p = weft_entity_get(f.world, entities[i], f.position);
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
        const vector3 *p = weft_entity_get(f.world, entities[i], f.position);
        CHECK_F64((double)p->x, (double)i, 0);
        CHECK(weft_entity_has(f.world, entities[i], f.health) == (i % 2 == 0));
    }
    for (uint32_t i = 0; i < 500; i += 4) {
        CHECK_U64(*(const uint32_t *)weft_entity_get(f.world, entities[i], f.health), i);
        CHECK_OK(weft_entity_remove(f.world, entities[i], f.health));
        CHECK_OK(weft_entity_remove(f.world, entities[i], f.health));
        CHECK(!weft_entity_has(f.world, entities[i], f.health));
    }
    for (uint32_t i = 0; i < 500; i++) {
        const vector3 *p = weft_entity_get(f.world, entities[i], f.position);
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
    CHECK(weft_entity_get(f.world, e, f.position) == NULL);
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
        const vector3 *v = weft_entity_get(f.world, entities[i], f.velocity);
        CHECK((v == NULL) == (i % 3 == 0));
        if (v != NULL) CHECK_F64((double)v->x, (double)i, 0);
    }
    storage_close(&f);
}
