/* SPDX-License-Identifier: MIT */
/* resource.c: a resource: one value per world. Systems that only read it run side by side. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    float gravity;
    int landed;
} Rules;
typedef struct {
    float height;
} Ball;

static weft_component rules, ball;

static void fall(weft_slice *slice, void *user)
{
    (void)user;
    const Rules *r = weft_slice_read_resource(slice, rules);
    Ball *b = WEFT_WRITE_COLUMN(slice, 0, Ball);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        b[i].height -= r->gravity * weft_slice_dt(slice);
}

static void referee(weft_slice *slice, void *user)
{
    (void)user;
    Rules *r = weft_slice_write_resource(slice, rules);
    const Ball *b = WEFT_READ_COLUMN(slice, 0, Ball);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) r->landed += b[i].height <= 0;
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    rules = WEFT_COMPONENT_FLAGS(world, Rules, WEFT_RESOURCE);
    ball = WEFT_COMPONENT(world, Ball);
    ((Rules *)weft_resource_write(world, rules))->gravity = 2;
    Ball heights[] = {{1}, {3}, {5}};
    weft_entity_create_filled(world, WEFT_ARCHETYPE(world, ball), WEFT_VALUES({ball, heights}), 3,
                              NULL);

    weft_system_create(world, &(weft_system_desc){.name = "fall",
                                                  .run = fall,
                                                  .over.rows.terms = {{ball, WEFT_WRITE}},
                                                  .resources = {{rules}}});
    weft_system_create(world, &(weft_system_desc){.name = "referee",
                                                  .run = referee,
                                                  .over.rows.terms = {{ball}},
                                                  .resources = {{rules, WEFT_WRITE}},
                                                  .flags = WEFT_SYSTEM_SERIAL});
    weft_world_step(world, 2);
    printf("%d landed\n", ((const Rules *)weft_resource_read(world, rules))->landed);
    weft_world_destroy(world);
}

/* prints:
 * 2 landed
 */
