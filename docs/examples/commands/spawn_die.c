/* SPDX-License-Identifier: MIT */
/* spawn_die.c: entities that make entities and die: commands, recorded by systems, played where
 * they can be seen. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    int age;
} Cell;

static weft_component cell;
static weft_archetype cells;

static void live(weft_slice *slice, void *user)
{
    (void)user;
    Cell *c = WEFT_WRITE_COLUMN(slice, 0, Cell);
    const weft_entity *e = weft_slice_entities(slice);
    weft_recorder *r = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        c[i].age++;
        if (c[i].age == 2) weft_recorder_create_entity(r, cells); /* divides once */
        if (c[i].age == 4) weft_recorder_destroy_entity(r, e[i]);
    }
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    cell = WEFT_COMPONENT(world, Cell);
    cells = WEFT_ARCHETYPE(world, cell);
    weft_entity_create_many(world, cells, 1000, NULL);
    weft_system_create(world,
                       &(weft_system_desc){.name = "live",
                                           .run = live,
                                           .over.rows.terms = {{cell, WEFT_WRITE}},
                                           .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_DESTROY,
                                           .records = {cell},
                                           .destroys = {cell}});

    weft_query all = weft_query_create(world, &(weft_query_desc){.terms = {{cell}}});
    for (int i = 1; i <= 6; i++) {
        weft_world_step(world, 1);
        printf("step %d: %d cells\n", i, (int)weft_query_count(world, all));
    }
    weft_world_destroy(world);
}

/* prints:
 * step 1: 1000 cells
 * step 2: 2000 cells
 * step 3: 2000 cells
 * step 4: 2000 cells
 * step 5: 2000 cells
 * step 6: 2000 cells
 */
