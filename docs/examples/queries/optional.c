/* SPDX-License-Identifier: MIT */
/* optional.c: an optional term: one loop for entities with and without a component. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    int damage;
} Weapon;
typedef struct {
    int extra;
} Poison;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component weapon = WEFT_COMPONENT(world, Weapon);
    weft_component poison = WEFT_COMPONENT(world, Poison);

    weft_entity sword = weft_entity_create(world, WEFT_ARCHETYPE(world, weapon));
    weft_entity dagger = weft_entity_create(world, WEFT_ARCHETYPE(world, weapon, poison));
    WEFT_SET(world, sword, weapon, Weapon, {8});
    WEFT_SET(world, dagger, weapon, Weapon, {3});
    WEFT_SET(world, dagger, poison, Poison, {4});

    weft_query armed = weft_query_create(
        world, &(weft_query_desc){.terms = {{weapon}, {poison, .match = WEFT_OPTIONAL}}});
    weft_cursor c = weft_query_begin(world, armed);
    while (weft_query_next(&c)) {
        const Weapon *w = WEFT_READ_COLUMN(&c.slice, 0, Weapon);
        const Poison *p =
            WEFT_READ_COLUMN(&c.slice, 1, Poison); /* NULL for the whole slice, or an array */
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            printf("%d damage\n", w[i].damage + (p != NULL ? p[i].extra : 0));
    }
    weft_world_destroy(world);
}

/* prints:
 * 8 damage
 * 7 damage
 */
