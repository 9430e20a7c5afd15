/* SPDX-License-Identifier: MIT */
/* test_required_systems.c: what systems record brings required components: the schedule and checked
 * builds know. */
#include "check.h"

#include <criterion/criterion.h>
#include <weft/weft.h>

static weft_component base, armed, target;
static weft_archetype with_armed;

static void arm(weft_slice *slice, void *user)
{
    (void)user;
    weft_recorder *commands = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        CHECK_OK(weft_recorder_add(commands, weft_slice_entities(slice)[i], armed));
    CHECK(weft_recorder_create_entity(commands, with_armed).version != 0);
}

static void count_targets(weft_slice *slice, void *user)
{
    *(uint32_t *)user += weft_slice_count(slice);
}

Test(required_systems, a_later_system_sees_what_came_along_in_the_same_step)
{
    weft_world *world;
    uint32_t seen = 0;
    CHECK_OK(weft_world_create(NULL, &world));
    base = weft_component_create_plain(world, "base", 4, 4, 0);
    target = weft_component_create_plain(world, "target", 4, 4, 0);
    const weft_component_desc desc = {
        .name = "armed", .size = 4, .required = &target, .required_count = 1};
    armed = weft_component_create(world, &desc);
    with_armed = WEFT_ARCHETYPE(world, armed);
    weft_entity_create(world, WEFT_ARCHETYPE(world, base));
    weft_system_create(world, &(weft_system_desc){.name = "arm",
                                                  .run = arm,
                                                  .over.rows = {.terms = {{base, WEFT_READ}}},
                                                  .effects = WEFT_RECORDS_ADD | WEFT_RECORDS_CREATE,
                                                  .records = {armed}});
    weft_system_create(world, &(weft_system_desc){.name = "count",
                                                  .run = count_targets,
                                                  .user = &seen,
                                                  .over.rows = {.terms = {{target, WEFT_READ}}},
                                                  .after = {"arm"},
                                                  .flags = WEFT_SYSTEM_SERIAL});
    CHECK_OK(weft_world_step(world, 0));
    CHECK_U64(seen, 2);
    weft_world_destroy(world);
}
