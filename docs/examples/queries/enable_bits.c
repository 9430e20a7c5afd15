/* SPDX-License-Identifier: MIT */
/* enable_bits.c: switch a component off without moving the entity: queries skip such rows. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    float fuel;
} Engine;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component engine = WEFT_COMPONENT_FLAGS(world, Engine, WEFT_ENABLEABLE);
    weft_entity ships[6];
    weft_entity_create_many(world, WEFT_ARCHETYPE(world, engine), 6, ships);
    weft_entity_enable(world, ships[1], engine, false);
    weft_entity_enable(world, ships[4], engine, false);

    weft_query running =
        weft_query_create(world, &(weft_query_desc){.terms = {{engine, WEFT_WRITE}}});
    weft_cursor c = weft_query_begin(world, running);
    while (weft_query_next(&c)) {
        Engine *e = WEFT_WRITE_COLUMN(&c.slice, 0, Engine);
        uint32_t begin = 0, end = 0;
        while (weft_slice_next_run(&c.slice, &begin, &end)) { /* runs of enabled rows */
            printf("rows %d to %d\n", (int)begin, (int)end - 1);
            for (uint32_t i = begin; i < end; i++) e[i].fuel = 1;
        }
    }
    const Engine *off = weft_entity_read(world, ships[4], engine); /* the value is still there */
    printf("fuel of ship 4: %g\n", (double)off->fuel);
    weft_world_destroy(world);
}

/* prints:
 * rows 0 to 0
 * rows 2 to 3
 * rows 5 to 5
 * fuel of ship 4: 0
 */
