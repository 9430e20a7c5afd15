/* SPDX-License-Identifier: MIT */
/* save_load.c: save a world to a file, load it into another one: the same entities with the same
 * handles. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    int gold;
} Purse;

int main(void)
{
    weft_world *before, *after;
    if (weft_world_create(NULL, &before) != WEFT_OK || weft_world_create(NULL, &after) != WEFT_OK)
        return 1;
    weft_component purse = WEFT_COMPONENT(before, Purse);
    weft_entity thief = weft_entity_create(before, WEFT_ARCHETYPE(before, purse));
    WEFT_SET(before, thief, purse, Purse, {77});
    weft_entity_set_name(before, thief, "thief");

    if (weft_world_save(before, "game.world", NULL) != WEFT_OK)
        puts(weft_world_error(before)->text);

    weft_component purse_after = WEFT_COMPONENT(after, Purse); /* the program knows its types */
    if (weft_world_load(after, "game.world", NULL) != WEFT_OK) puts(weft_world_error(after)->text);
    const Purse *p = weft_entity_read(after, weft_entity_find(after, "thief"), purse_after);
    printf("the thief has %d\n", p->gold);
    printf("same hash: %d\n",
           weft_world_hash(before, WEFT_HASH_CONTENT) == weft_world_hash(after, WEFT_HASH_CONTENT));
    remove("game.world");
    weft_world_destroy(after);
    weft_world_destroy(before);
}

/* prints:
 * the thief has 77
 * same hash: 1
 */
