/* SPDX-License-Identifier: MIT */
/* transforms.c: places relative to parents: a moon around a planet, by the transform system. */
#include <stdio.h>
#include <weft/relation.h>
#include <weft/transform.h>
#include <weft/weft.h>

static weft_local_transform at(float x)
{
    weft_local_transform place = weft_local_transform_none();
    place.position[0] = x;
    return place;
}

int main(void)
{
    weft_world *world;
    weft_transform transform;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    if (weft_transform_create(world, NULL, &transform) != WEFT_OK) return 1;
    weft_component parent = weft_component_parent(world);
    weft_entity planet =
        weft_entity_create(world, WEFT_ARCHETYPE(world, transform.local, transform.world));
    weft_entity moon =
        weft_entity_create(world, WEFT_ARCHETYPE(world, transform.local, transform.world));
    weft_local_transform ten = at(10), one = at(1);
    ten.scale = 2; /* doubles all that is below the planet */
    weft_entity_set(world, planet, transform.local, &ten, sizeof ten);
    weft_entity_set(world, moon, transform.local, &one, sizeof one);
    weft_relation_set(world, moon, parent, planet);
    weft_world_step(world, 0.1f);

    const weft_world_transform *m = weft_entity_read(world, moon, transform.world);
    printf("the moon is at %g\n", (double)m->rows[0][3]);
    weft_world_destroy(world);
}

/* prints:
 * the moon is at 12
 */
