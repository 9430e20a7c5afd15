/* SPDX-License-Identifier: MIT */
/* test_bundle.c: entities created from bundles: the same as those created and written one after the
 * other, change versions included; refusals of fields that cannot be one.
 */
#include "storage_fixture.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

typedef struct ship {
    uint32_t health;
    vector3 at;
    double unused;
    vector3 speed;
} ship;

static weft_bundle ships_open(const storage_fixture *f, weft_archetype archetype)
{
    const weft_bundle_field fields[] = {{f->velocity, offsetof(ship, speed)},
                                        {f->position, offsetof(ship, at)}};
    return weft_bundle_open(f->world, archetype, fields, 2);
}

Test(bundle, a_created_entity_has_the_values_of_the_struct_and_zeroes)
{
    storage_fixture f = storage_open();
    weft_archetype all = WEFT_ARCHETYPE(f.world, f.tag, f.velocity, f.health, f.position);
    weft_bundle ships = ships_open(&f, all);
    CHECK(ships.archetype.id == all.id);
    weft_entity entities[3000];
    for (uint32_t i = 0; i < 3000; i++) {
        ship s = {77, {(float)i, 1, 2}, 0, {3, (float)i, 4}};
        entities[i] = weft_entity_create_bundle(f.world, &ships, &s);
        CHECK(entities[i].version != 0);
        if (i % 3 == 0) CHECK_OK(weft_entity_destroy(f.world, entities[i / 2]));
        if (i % 3 == 0) entities[i / 2] = weft_entity_create_bundle(f.world, &ships, &s);
        const vector3 *at = weft_entity_read(f.world, entities[i / 2], f.position);
        const vector3 *speed = weft_entity_read(f.world, entities[i / 2], f.velocity);
        const uint32_t *health = weft_entity_read(f.world, entities[i / 2], f.health);
        CHECK(at != NULL && speed != NULL && health != NULL);
        CHECK(at->y == 1 && at->z == 2 && speed->x == 3 && speed->z == 4 && *health == 0);
        CHECK(at->x == speed->y);
        if (i % 3 == 0) CHECK(at->x == (float)i);
    }
    CHECK(weft_entity_has(f.world, entities[0], f.tag));
    storage_close(&f);
}

/* What one of three ways of creation gave: all values, the position only, none. */
static void check_values(const storage_fixture *f, weft_entity e, uint32_t way)
{
    const vector3 *at = weft_entity_read(f->world, e, f->position);
    const vector3 *speed = weft_entity_read(f->world, e, f->velocity);
    CHECK(at != NULL && speed != NULL);
    CHECK(at->x == (way == 2 ? 0 : 1) && at->y == (way == 2 ? 0 : 2));
    CHECK(speed->x == (way == 0 ? 4 : 0) && speed->z == (way == 0 ? 6 : 0));
}

/* Rows that were used, and are taken by bundles that cover them, by others, and by none. */
Test(bundle, values_of_rows_that_were_used_before_do_not_come_back)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    const weft_bundle covering = ships_open(&f, moving);
    const weft_bundle partial =
        weft_bundle_open(f.world, moving, &(weft_bundle_field){f.position, offsetof(ship, at)}, 1);
    const ship values = {1, {1, 2, 3}, 0, {4, 5, 6}};
    weft_entity entities[2000] = {0};
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < 20000; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        uint32_t way = (uint32_t)(state >> 20) % 3;
        weft_entity *e = &entities[(state >> 32) % 2000];
        if (e->version != 0) CHECK_OK(weft_entity_destroy(f.world, *e));
        if (state % 64 == 0) weft_world_advance_change_version(f.world);
        uint32_t since = weft_world_change_version(f.world);
        if (way == 2)
            *e = weft_entity_create(f.world, moving);
        else
            *e = weft_entity_create_bundle(f.world, way == 0 ? &covering : &partial, &values);
        check_values(&f, *e, way);
        CHECK(weft_entity_change_version(f.world, *e, f.velocity) == since);
    }
    storage_close(&f);
}

/* A value that is not of one to four words. */
Test(bundle, values_of_any_size_are_copied)
{
    storage_fixture f = storage_open();
    weft_component long_name = weft_component_create_plain(f.world, "long", 37, 1, 0);
    struct {
        char name[37];
        char flag;
    } values = {"123456789012345678901234567890123456", 'x'};
    weft_component flag = weft_component_create_plain(f.world, "flag", 1, 1, 0);
    const weft_bundle_field fields[] = {{flag, 37}, {long_name, 0}};
    weft_bundle bundle =
        weft_bundle_open(f.world, WEFT_ARCHETYPE(f.world, long_name, flag), fields, 2);
    for (uint32_t i = 0; i < 300; i++) {
        values.flag = (char)('a' + i % 26);
        weft_entity e = weft_entity_create_bundle(f.world, &bundle, &values);
        CHECK(strcmp(weft_entity_read(f.world, e, long_name), values.name) == 0);
        CHECK(*(const char *)weft_entity_read(f.world, e, flag) == values.flag);
    }
    storage_close(&f);
}

Test(bundle, a_created_entity_is_changed_since_the_version_before)
{
    storage_fixture f = storage_open();
    weft_bundle ships = ships_open(&f, storage_moving(&f));
    for (uint32_t i = 0; i < 1100; i++) {
        uint32_t since = weft_world_advance_change_version(f.world);
        weft_entity e = weft_entity_create_bundle(f.world, &ships, &(ship){.at = {1, 2, 3}});
        CHECK(weft_entity_change_version(f.world, e, f.position) >= since);
    }
    storage_close(&f);
}

Test(bundle, enableable_components_of_new_entities_are_enabled_and_have_their_values)
{
    storage_fixture f = storage_open();
    weft_component shield = weft_component_create_plain(f.world, "shield", 4, 4, WEFT_ENABLEABLE);
    weft_bundle bundle = weft_bundle_open(f.world, WEFT_ARCHETYPE(f.world, shield, f.position),
                                          &(weft_bundle_field){shield, 0}, 1);
    for (uint32_t i = 1; i < 300; i++) {
        weft_entity e = weft_entity_create_bundle(f.world, &bundle, &i);
        CHECK(weft_entity_is_enabled(f.world, e, shield));
        CHECK(*(const uint32_t *)weft_entity_read(f.world, e, shield) == i);
    }
    storage_close(&f);
}

static void refuses(const storage_fixture *f, weft_archetype archetype,
                    const weft_bundle_field *fields, uint32_t count, weft_result code)
{
    weft_bundle bundle = weft_bundle_open(f->world, archetype, fields, count);
    CHECK(weft_world_error(f->world)->code == code);
    CHECK(bundle.archetype.id == 0 && bundle.field_count == 0);
    ship s = {0};
    CHECK(weft_entity_create_bundle(f->world, &bundle, &s).version == 0);
}

Test(bundle, fields_that_cannot_be_one_are_refused)
{
    storage_fixture f = storage_open();
    weft_component buffer = weft_component_create_plain(f.world, "buffer", 4, 4, WEFT_BUFFER);
    weft_component shared = weft_component_create_plain(f.world, "shared", 4, 4, WEFT_SHARED);
    weft_archetype both = storage_moving(&f);
    weft_archetype kinds = WEFT_ARCHETYPE(f.world, f.tag, buffer, shared, f.position);
    const weft_bundle_field twice[] = {{f.position, 0}, {f.position, 12}};
    weft_bundle_field many[WEFT_BUNDLE_FIELDS + 1];
    for (uint32_t i = 0; i <= WEFT_BUNDLE_FIELDS; i++) many[i] = twice[0];
    refuses(&f, both, twice, 2, WEFT_INVALID_ARGUMENT);
    refuses(&f, both, NULL, 1, WEFT_INVALID_ARGUMENT);
    refuses(&f, both, &(weft_bundle_field){f.health, 0}, 1, WEFT_INVALID_ARGUMENT);
    refuses(&f, both, many, WEFT_BUNDLE_FIELDS + 1, WEFT_LIMIT);
    refuses(&f, kinds, &(weft_bundle_field){f.tag, 0}, 1, WEFT_TYPE_MISMATCH);
    refuses(&f, kinds, &(weft_bundle_field){buffer, 0}, 1, WEFT_TYPE_MISMATCH);
    refuses(&f, kinds, &(weft_bundle_field){shared, 0}, 1, WEFT_TYPE_MISMATCH);
    refuses(&f, (weft_archetype){0}, twice, 1, WEFT_BAD_HANDLE);
    weft_bundle good = weft_bundle_open(f.world, both, twice, 1);
    CHECK(weft_entity_create_bundle(f.world, &good, NULL).version == 0);
    CHECK(weft_world_error(f.world)->code == WEFT_INVALID_ARGUMENT);
    storage_close(&f);
}
