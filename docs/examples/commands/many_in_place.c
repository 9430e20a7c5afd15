/* SPDX-License-Identifier: MIT */
/* many_in_place.c: many new entities from a system: their columns are filled in place, nothing
 * is copied later. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    float x;
} Position;
typedef struct {
    float x;
} Velocity;

static weft_component position, velocity;
static weft_archetype sparks;

static void explode(weft_slice *slice, void *user) /* no rows: called once per step */
{
    (void)user;
    weft_slice rows;
    for (uint32_t left = 10000; left > 0; left -= rows.count) { /* at most a chunk at a time */
        if (weft_recorder_create_rows(weft_slice_recorder(slice), sparks, left, &rows) != WEFT_OK)
            return;
        Position *p = WEFT_WRITE_COLUMN(&rows, 0, Position); /* in the order of the archetype */
        Velocity *v = WEFT_WRITE_COLUMN(&rows, 1, Velocity);
        for (uint32_t i = 0; i < rows.count; i++) {
            p[i].x = 0;
            v[i].x = (float)(left - i);
        }
    }
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    position = WEFT_COMPONENT(world, Position);
    velocity = WEFT_COMPONENT(world, Velocity);
    sparks = WEFT_ARCHETYPE(world, position, velocity);
    weft_system_create(world, &(weft_system_desc){.name = "explode",
                                                  .run = explode,
                                                  .effects = WEFT_RECORDS_CREATE,
                                                  .records = {position, velocity}});
    weft_world_step(world, 1);

    weft_query all = weft_query_create(world, &(weft_query_desc){.terms = {{velocity}}});
    static Velocity v[10000];
    printf("%d sparks\n", (int)weft_query_read_values(world, all, velocity, v, 10000));
    printf("from %g to %g\n", (double)v[0].x, (double)v[9999].x);
    weft_world_destroy(world);
}

/* prints:
 * 10000 sparks
 * from 10000 to 1
 */
