/* SPDX-License-Identifier: MIT */
/* same_c.c: the systems of same_cpp.cpp, by the C interface, as one writes them by hand. */
#include "same.h"

static void move(weft_slice *s, void *user)
{
    (void)user;
    Position *p = WEFT_WRITE_COLUMN(s, 0, Position);
    const Velocity *v = WEFT_READ_COLUMN(s, 1, Velocity);
    const float dt = weft_slice_dt(s);
    for (uint32_t i = 0, n = weft_slice_count(s); i < n; i++) {
        p[i].x += v[i].x * dt;
        p[i].y += v[i].y * dt;
        p[i].z += v[i].z * dt;
    }
}

static void bounce(weft_slice *s, void *user)
{
    (void)user;
    const Position *p = WEFT_READ_COLUMN(s, 0, Position);
    Velocity *v = WEFT_WRITE_COLUMN(s, 1, Velocity);
    const Radius *r = WEFT_READ_COLUMN(s, 2, Radius);
    for (uint32_t i = 0, n = weft_slice_count(s); i < n; i++) {
        float radius = r != NULL ? r[i].metres : 1;
        if (p[i].x > 100 - radius) v[i].x = -v[i].x;
    }
}

static void heal(weft_slice *s, void *user)
{
    (void)user;
    Health *h = WEFT_WRITE_COLUMN(s, 0, Health);
    const weft_entity *e = weft_slice_entities(s);
    weft_slice_walk walk = {0};
    while (weft_slice_next_row(s, &walk)) h[walk.row].points += 1 + (float)(e[walk.row].index & 1);
}

weft_world *same_create(void)
{
    weft_world *world = NULL;
    if (weft_world_create(&(weft_world_desc){.workers = 1}, &world) != WEFT_OK) return NULL;
    weft_component position = WEFT_COMPONENT(world, Position);
    weft_component velocity = WEFT_COMPONENT(world, Velocity);
    weft_component radius = WEFT_COMPONENT(world, Radius);
    weft_component health = WEFT_COMPONENT_FLAGS(world, Health, WEFT_ENABLEABLE);
    weft_system_create(
        world, &(weft_system_desc){.name = "move",
                                   .run = move,
                                   .over.rows.terms = {{position, WEFT_WRITE, WEFT_ALL, 0},
                                                       {velocity, WEFT_READ, WEFT_ALL, 0}}});
    weft_system_create(
        world, &(weft_system_desc){.name = "bounce",
                                   .run = bounce,
                                   .over.rows.terms = {{position, WEFT_READ, WEFT_ALL, 0},
                                                       {velocity, WEFT_WRITE, WEFT_ALL, 0},
                                                       {radius, WEFT_READ, WEFT_OPTIONAL, 0}}});
    weft_system_create(world,
                       &(weft_system_desc){.name = "heal",
                                           .run = heal,
                                           .over.rows.terms = {{health, WEFT_WRITE, WEFT_ALL, 0}}});
    return world;
}
