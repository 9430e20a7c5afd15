/* SPDX-License-Identifier: MIT */
/* two_systems.c: two systems: weft derives their order from what they read and write, and runs
 * both in parallel. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    float y;
} Position;
typedef struct {
    float y;
} Velocity;

static void fall(weft_slice *slice, void *user)
{
    (void)user;
    Velocity *v = WEFT_WRITE_COLUMN(slice, 0, Velocity);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) v[i].y -= 10 * weft_slice_dt(slice);
}

static void move(weft_slice *slice, void *user)
{
    (void)user;
    Position *p = WEFT_WRITE_COLUMN(slice, 0, Position);
    const Velocity *v = WEFT_READ_COLUMN(slice, 1, Velocity);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) p[i].y += v[i].y * weft_slice_dt(slice);
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component position = WEFT_COMPONENT(world, Position);
    weft_component velocity = WEFT_COMPONENT(world, Velocity);
    weft_entity apple = weft_entity_create(world, WEFT_ARCHETYPE(world, position, velocity));
    WEFT_SET(world, apple, position, Position, {100});

    weft_system_create(world, &(weft_system_desc){.name = "fall",
                                                  .run = fall,
                                                  .over.rows.terms = {{velocity, WEFT_WRITE}}});
    weft_system_create(
        world, &(weft_system_desc){.name = "move",
                                   .run = move,
                                   .over.rows.terms = {{position, WEFT_WRITE}, {velocity}}});
    for (int i = 0; i < 4; i++) weft_world_step(world, 0.5f);

    const Position *p = weft_entity_read(world, apple, position);
    printf("after 2 s at %g\n", (double)p->y);
    weft_world_destroy(world);
}

/* prints:
 * after 2 s at 75
 */
