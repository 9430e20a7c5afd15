/* SPDX-License-Identifier: MIT */
/* stale.c: handles of dead entities are refused: they never mean the entity that took the place. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    weft_entity victim;
} Target;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component target = WEFT_COMPONENT(world, Target);
    weft_archetype missile = WEFT_ARCHETYPE(world, target);

    weft_entity plane = weft_entity_create(world, weft_archetype_create(world, NULL, 0));
    weft_entity rocket = weft_entity_create(world, missile);
    WEFT_SET(world, rocket, target, Target, {plane});

    weft_entity_destroy(world, plane);
    weft_entity bird = weft_entity_create(world, weft_archetype_create(world, NULL, 0));
    printf("the bird has the plane's index: %d\n",
           weft_entity_index(bird) == weft_entity_index(plane));

    const Target *t = weft_entity_read(world, rocket, target);
    if (!weft_entity_is_alive(world, t->victim)) puts("the target is gone; the bird is safe");
    weft_result result = weft_entity_add(world, t->victim, target);
    printf("%s\n", weft_result_name(result));
    weft_world_destroy(world);
}

/* prints:
 * the bird has the plane's index: 1
 * the target is gone; the bird is safe
 * WEFT_STALE_ENTITY
 */
