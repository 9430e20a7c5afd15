/* SPDX-License-Identifier: MIT */
/* storage_fixture.h: a world with a few components for the tests of the storage. */
#ifndef WEFT_TESTS_STORAGE_FIXTURE_H
#define WEFT_TESTS_STORAGE_FIXTURE_H

#include "check.h"

#include <weft/ecs.h>

typedef struct vector3 {
    float x, y, z;
} vector3;

/* Owner: one test. */
typedef struct storage_fixture {
    weft_world *world;
    weft_component position, velocity, health, tag, other_tag;
} storage_fixture;

static inline storage_fixture storage_open_with(const weft_world_desc *desc)
{
    storage_fixture f = {0};
    weft_world_desc one = *desc;
    one.workers = 1;
    CHECK_OK(weft_world_create(&one, &f.world));
    f.position = weft_component_create_plain(f.world, "position", sizeof(vector3), 4, 0);
    f.velocity = weft_component_create_plain(f.world, "velocity", sizeof(vector3), 4, 0);
    f.health = weft_component_create_plain(f.world, "health", sizeof(uint32_t), 4, 0);
    f.tag = weft_component_create_plain(f.world, "tag", 0, 1, 0);
    f.other_tag = weft_component_create_plain(f.world, "other_tag", 0, 1, 0);
    CHECK(f.other_tag.id != 0);
    return f;
}

static inline storage_fixture storage_open(void)
{
    return storage_open_with(&(weft_world_desc){0});
}

/* Validates, then destroys. */
static inline void storage_close(storage_fixture *f)
{
    if (weft_world_validate(f->world) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(f->world)->text);
    CHECK_OK(weft_world_destroy(f->world));
    f->world = NULL;
}

static inline weft_archetype storage_moving(const storage_fixture *f)
{
    return weft_archetype_create(f->world, (weft_component[]){f->position, f->velocity}, 2);
}

#endif
