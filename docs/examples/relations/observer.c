/* SPDX-License-Identifier: MIT */
/* observer.c: an observer sees what was added, at the next sync point, with all entities in one
 * batch. */
#include <stdio.h>
#include <weft/observer.h>
#include <weft/weft.h>

typedef struct {
    int size;
} Asteroid;

static void greet(const weft_observation *o, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < o->count; i++) {
        const Asteroid *a = weft_entity_read(o->world, o->entities[i], o->component);
        printf("an asteroid of size %d\n", a->size);
    }
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component asteroid = WEFT_COMPONENT(world, Asteroid);
    weft_observer_create(
        world, &(weft_observer_desc){
                   .name = "greet", .on = WEFT_ON_ADDED, .component = asteroid, .run = greet});

    weft_entity rock = weft_entity_create(world, weft_archetype_create(world, NULL, 0));
    WEFT_SET(world, rock, asteroid, Asteroid, {3});
    weft_entity other = weft_entity_create(world, WEFT_ARCHETYPE(world, asteroid));
    WEFT_SET(world, other, asteroid, Asteroid, {1});
    weft_world_step(world, 1);
    weft_world_step(world, 1); /* nothing new */
    weft_world_destroy(world);
}

/* prints:
 * an asteroid of size 3
 * an asteroid of size 1
 */
