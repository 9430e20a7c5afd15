/* SPDX-License-Identifier: MIT */
/* bundle.c: a bundle: an entity with all its values in one call, from one struct. */
#include <stddef.h>
#include <stdio.h>
#include <weft/bundle.h>
#include <weft/weft.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
typedef struct {
    Position at;
    Velocity speed;
} Shot;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component position = WEFT_COMPONENT(world, Position);
    weft_component velocity = WEFT_COMPONENT(world, Velocity);

    weft_bundle shots = weft_bundle_open(
        world, WEFT_ARCHETYPE(world, position, velocity),
        (weft_bundle_field[]){{position, offsetof(Shot, at)}, {velocity, offsetof(Shot, speed)}},
        2);

    for (int i = 0; i < 3; i++) {
        Shot shot = {.at = {(float)i, 0}, .speed = {0, 10}};
        weft_entity e = weft_entity_create_bundle(world, &shots, &shot);
        const Velocity *v = weft_entity_read(world, e, velocity);
        printf("shot %d flies with %g\n", i, (double)v->y);
    }
    weft_world_destroy(world);
}

/* prints:
 * shot 0 flies with 10
 * shot 1 flies with 10
 * shot 2 flies with 10
 */
