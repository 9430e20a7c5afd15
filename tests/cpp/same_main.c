/* SPDX-License-Identifier: MIT */
/* same_main.c: fills the world of same_c.c or same_cpp.cpp and steps it; prints the hash of its
 * content. same_body is what is counted: whole steps, the library's own instructions included. */
#include <stdio.h>

#include "same.h"

#define ROWS 40000

static void fill(weft_world *world)
{
    weft_component position = weft_component_find(world, "Position");
    weft_component velocity = weft_component_find(world, "Velocity");
    weft_component radius = weft_component_find(world, "Radius");
    weft_component health = weft_component_find(world, "Health");
    for (uint32_t i = 0; i < ROWS; i++) {
        const weft_component types[] = {position, velocity, health, radius};
        weft_entity e = weft_entity_create(world, weft_archetype_create(world, types, 3 + (i & 1)));
        Position *p = weft_entity_write(world, e, position);
        Velocity *v = weft_entity_write(world, e, velocity);
        *p = (Position){(float)(i % 100), (float)i, 0};
        *v = (Velocity){(float)(i % 7), 1, -1};
        if (i % 3 == 0) weft_entity_enable(world, e, health, false);
    }
}

__attribute__((noinline)) void same_body(weft_world *world);
void same_body(weft_world *world)
{
    for (int i = 0; i < 10; i++) weft_world_step(world, 0.5f);
}

int main(void)
{
    weft_world *world = same_create();
    if (world == NULL) return 1;
    fill(world);
    weft_world_step(world, 0.5f); /* compiles the schedule */
    same_body(world);
    printf("%016llx\n", (unsigned long long)weft_world_hash(world, WEFT_HASH_CONTENT));
    return 0;
}
