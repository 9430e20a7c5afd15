/* SPDX-License-Identifier: MIT */
/* count_copy.c: count, take the only one, copy values out and back. */
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

typedef struct {
    int points;
} Score;

static int by_points(const void *a, const void *b)
{
    return ((const Score *)b)->points - ((const Score *)a)->points;
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component score = WEFT_COMPONENT(world, Score);
    weft_component king = WEFT_TAG(world, King);
    Score begin[] = {{30}, {50}, {10}, {40}};
    weft_entity e[4];
    weft_entity_create_filled(world, WEFT_ARCHETYPE(world, score), WEFT_VALUES({score, begin}), 4,
                              e);
    weft_entity_add(world, e[2], king);

    weft_query scores = weft_query_create(world, &(weft_query_desc){.terms = {{score}}});
    weft_query kings = weft_query_create(world, &(weft_query_desc){.terms = {{king}}});
    printf("%d scores, empty: %d\n", (int)weft_query_count(world, scores),
           weft_query_is_empty(world, scores));
    printf("the king is entity 2: %d\n", weft_entity_equal(weft_query_single(world, kings), e[2]));

    Score copy[16]; /* queries do not sort: sort a copy */
    uint64_t count = weft_query_read_values(world, scores, score, copy, 16);
    qsort(copy, count, sizeof *copy, by_points);
    for (uint64_t i = 0; i < count; i++) printf("%d\n", copy[i].points);
    weft_world_destroy(world);
}

/* prints:
 * 4 scores, empty: 0
 * the king is entity 2: 1
 * 50
 * 40
 * 30
 * 10
 */
