/* SPDX-License-Identifier: MIT */
/* changed.c: visit only what was written since the last look: a filter on changes skips whole
 * slices. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    float x;
} Position;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component position = WEFT_COMPONENT(world, Position);
    static weft_entity e[100000];
    weft_entity_create_many(world, WEFT_ARCHETYPE(world, position), 100000, e);
    weft_query all = weft_query_create(world, &(weft_query_desc){.terms = {{position}}});

    uint32_t since = weft_world_advance_change_version(world); /* what is written from here on */
    weft_query_filter_changed(world, all, position, since);
    printf("%d rows to look at\n", (int)weft_query_count(world, all));

    WEFT_SET(world, e[70000], position, Position, {5});
    int rows = (int)weft_query_count(world, all); /* the slice around it: 64 to 1,024 rows */
    printf("some rows: %d\n", rows >= 64 && rows <= 1024);
    weft_world_destroy(world);
}

/* prints:
 * 0 rows to look at
 * some rows: 1
 */
