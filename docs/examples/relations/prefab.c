/* SPDX-License-Identifier: MIT */
/* prefab.c: a prefab with parts: each instance is a copy of all of them. */
#include <stdio.h>
#include <weft/type.h>
#include <weft/weft.h>

typedef struct {
    float x;
} Position;
typedef struct {
    weft_entity body;
} Turret;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component position = WEFT_COMPONENT(world, Position);
    weft_component turret = weft_component_create(
        world, &(weft_component_desc){.name = "Turret",
                                      .size = sizeof(Turret),
                                      .alignment = _Alignof(Turret),
                                      .field_count = 1,
                                      .fields = (weft_field[]){WEFT_FIELD(Turret, body)}});
    weft_component group = weft_component_linked_group(world);

    weft_entity body = weft_entity_create(world, WEFT_ARCHETYPE(world, position, group));
    weft_entity gun = weft_entity_create(world, WEFT_ARCHETYPE(world, position, turret));
    WEFT_SET(world, gun, turret, Turret, {body}); /* leads from copy to copy */
    weft_buffers parts = weft_entity_write_buffer(world, body, group);
    weft_buffers_append(&parts, 0, (weft_entity[]){body, gun}, 2);
    weft_entity_add(world, body, weft_component_prefab(world)); /* queries skip it and its parts */

    weft_entity tanks[3];
    weft_entity_instantiate(world, body, 3, tanks);
    weft_query guns = weft_query_create(world, &(weft_query_desc){.terms = {{turret}}});
    printf("%d tanks with a gun\n", (int)weft_query_count(world, guns));

    Turret found[3];
    weft_query_read_values(world, guns, turret, found, 3);
    printf("the second gun is on the second tank: %d\n",
           weft_entity_equal(found[1].body, tanks[1]));
    weft_entity_destroy(world, tanks[0]);
    printf("%d left\n", (int)weft_query_count(world, guns));
    weft_world_destroy(world);
}

/* prints:
 * 3 tanks with a gun
 * the second gun is on the second tank: 1
 * 2 left
 */
