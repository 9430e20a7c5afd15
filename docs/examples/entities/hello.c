/* SPDX-License-Identifier: MIT */
/* hello.c: create an entity with two components, write, read, destroy. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    int points;
} Health;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component position = WEFT_COMPONENT(world, Position);
    weft_component health = WEFT_COMPONENT(world, Health);

    weft_entity hero = weft_entity_create(world, WEFT_ARCHETYPE(world, position, health));
    WEFT_SET(world, hero, position, Position, {3, 4});
    Health *h = weft_entity_write(world, hero, health);
    h->points = 10;

    const Position *p = weft_entity_read(world, hero, position);
    printf("at %g, %g with %d points\n", (double)p->x, (double)p->y, h->points);

    weft_entity_destroy(world, hero);
    printf("alive: %d\n", weft_entity_is_alive(world, hero));
    weft_world_destroy(world);
}

/* prints:
 * at 3, 4 with 10 points
 * alive: 0
 */
