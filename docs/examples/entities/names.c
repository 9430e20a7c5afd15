/* SPDX-License-Identifier: MIT */
/* names.c: give entities names and find them again. */
#include <stdio.h>
#include <weft/weft.h>

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_archetype nothing = weft_archetype_create(world, NULL, 0);
    weft_entity boss = weft_entity_create(world, nothing);
    weft_entity guard = weft_entity_create(world, nothing);

    weft_entity_set_name_unique(world, boss, "boss");
    if (weft_entity_set_name_unique(world, guard, "boss") == WEFT_ALREADY_EXISTS)
        puts("there is only one boss");
    weft_entity_set_name(world, guard, "guard"); /* several may have this name */

    printf("found the boss: %d\n", weft_entity_equal(weft_entity_find(world, "boss"), boss));
    printf("no princess: %d\n", weft_entity_is_null(weft_entity_find(world, "princess")));
    printf("the other one is called %s\n", weft_entity_name(world, guard));
    weft_world_destroy(world);
}

/* prints:
 * there is only one boss
 * found the boss: 1
 * no princess: 1
 * the other one is called guard
 */
