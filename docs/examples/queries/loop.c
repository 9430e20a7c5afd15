/* SPDX-License-Identifier: MIT */
/* loop.c: loop over all entities that have two components and not a third. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    float x;
} Position;
typedef struct {
    float x;
} Velocity;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component position = WEFT_COMPONENT(world, Position);
    weft_component velocity = WEFT_COMPONENT(world, Velocity);
    weft_component parked = WEFT_TAG(world, Parked);

    weft_entity car = weft_entity_create(world, WEFT_ARCHETYPE(world, position, velocity));
    weft_entity bus = weft_entity_create(world, WEFT_ARCHETYPE(world, position, velocity, parked));
    WEFT_SET(world, car, velocity, Velocity, {2});
    WEFT_SET(world, bus, velocity, Velocity, {3});

    weft_query moving = weft_query_create(
        world, &(weft_query_desc){
                   /* make once, keep */
                   .terms = {{position, WEFT_WRITE}, {velocity}, {parked, .match = WEFT_NONE}}});

    weft_cursor c = weft_query_begin(world, moving);
    while (weft_query_next(&c)) { /* a slice: a run of rows, columns are arrays */
        Position *p = WEFT_WRITE_COLUMN(&c.slice, 0, Position);
        const Velocity *v = WEFT_READ_COLUMN(&c.slice, 1, Velocity);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) p[i].x += v[i].x;
    }

    printf("car at %g\n", (double)((const Position *)weft_entity_read(world, car, position))->x);
    printf("bus at %g\n", (double)((const Position *)weft_entity_read(world, bus, position))->x);
    weft_world_destroy(world);
}

/* prints:
 * car at 2
 * bus at 0
 */
