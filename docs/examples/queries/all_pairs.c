/* SPDX-License-Identifier: MIT */
/* all_pairs.c: rows of a query as one flat array: each with each, over all chunks. */
#include <math.h>
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    float x, y;
} Position;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component position = WEFT_COMPONENT(world, Position);
    Position at[] = {{0, 0}, {10, 0}, {3, 4}, {10, 1}};
    weft_entity_create_filled(world, WEFT_ARCHETYPE(world, position), WEFT_VALUES({position, at}),
                              4, NULL);
    weft_query all = weft_query_create(world, &(weft_query_desc){.terms = {{position}}});

    weft_indexed rows;
    if (weft_indexed_open(world, all, 0, &rows) != WEFT_OK) return 1;
    double nearest = 1e9;
    for (uint64_t i = 0; i < rows.count; i++)
        for (uint64_t j = i + 1; j < rows.count; j++) {
            const Position *a = weft_indexed_read(&rows, i), *b = weft_indexed_read(&rows, j);
            double apart = hypot((double)(a->x - b->x), (double)(a->y - b->y));
            if (apart < nearest) nearest = apart;
        }
    weft_indexed_close(&rows);
    printf("the nearest two are %g apart\n", nearest);
    weft_world_destroy(world);
}

/* prints:
 * the nearest two are 1 apart
 */
