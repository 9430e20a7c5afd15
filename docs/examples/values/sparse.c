/* SPDX-License-Identifier: MIT */
/* sparse.c: a sparse component comes and goes without moving its entity. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    int x;
} Position;
typedef struct {
    int turns;
} Frozen;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component position = WEFT_COMPONENT(world, Position);
    weft_component frozen = WEFT_COMPONENT_FLAGS(world, Frozen, WEFT_SPARSE);
    weft_entity units[1000];
    weft_entity_create_many(world, WEFT_ARCHETYPE(world, position), 1000, units);

    Position *kept = weft_entity_write(world, units[3], position);
    for (int i = 0; i < 1000; i += 100) WEFT_SET(world, units[i], frozen, Frozen, {2});
    WEFT_SET(world, units[3], frozen, Frozen, {2});
    printf("the position stayed where it is: %d\n",
           kept == weft_entity_write(world, units[3], position));

    weft_query cold = weft_query_create(world, &(weft_query_desc){.terms = {{frozen, WEFT_WRITE}}});
    weft_query free_units = weft_query_create(
        world, &(weft_query_desc){.terms = {{position}, {frozen, .match = WEFT_NONE}}});
    printf("%d frozen, %d free\n", (int)weft_query_count(world, cold),
           (int)weft_query_count(world, free_units));
    weft_query_remove(world, cold, frozen);
    printf("%d frozen, %d free\n", (int)weft_query_count(world, cold),
           (int)weft_query_count(world, free_units));
    weft_world_destroy(world);
}

/* prints:
 * the position stayed where it is: 1
 * 11 frozen, 989 free
 * 0 frozen, 1000 free
 */
