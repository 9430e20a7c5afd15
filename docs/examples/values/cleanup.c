/* SPDX-License-Identifier: MIT */
/* cleanup.c: a cleanup component outlives its entity, so that what it stands for can be given
 * back. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    int channel;
} Sound;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component body = WEFT_TAG(world, Body);
    weft_component sound = WEFT_COMPONENT_FLAGS(world, Sound, WEFT_CLEANUP);
    weft_entity ship = weft_entity_create(world, WEFT_ARCHETYPE(world, body, sound));
    WEFT_SET(world, ship, sound, Sound, {7});

    weft_entity_destroy(world, ship);
    printf("alive: %d, body: %d, sound: %d\n", weft_entity_is_alive(world, ship),
           weft_entity_has(world, ship, body), weft_entity_has(world, ship, sound));

    weft_query gone = weft_query_create(
        world, &(weft_query_desc){
                   .terms = {{sound}, {body, .match = WEFT_NONE}}}); /* died, not cleaned up */
    weft_cursor c = weft_query_begin(world, gone);
    while (weft_query_next(&c)) {
        const Sound *s = WEFT_READ_COLUMN(&c.slice, 0, Sound);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            printf("stop channel %d\n", s[i].channel);
    }
    weft_query_remove(world, gone, sound); /* the last component: nothing is left */
    printf("left: %d\n", weft_entity_archetype(world, ship).id != 0);
    weft_world_destroy(world);
}

/* prints:
 * alive: 0, body: 0, sound: 1
 * stop channel 7
 * left: 0
 */
