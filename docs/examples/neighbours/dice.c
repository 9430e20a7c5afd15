/* SPDX-License-Identifier: MIT */
/* dice.c: random numbers by name: entity 7 throws the same in tick 3, for any caller. */
#include <stdio.h>
#include <weft/random.h>

static uint32_t throw_dice(uint64_t entity, uint32_t tick)
{
    weft_random random = weft_random_of(2026, entity, tick, 0); /* seed, id, tick, stream */
    return 1 + weft_random_below(&random, 6);
}

int main(void)
{
    for (uint32_t tick = 0; tick < 5; tick++) {
        printf("tick %u:", tick);
        for (uint64_t entity = 0; entity < 10; entity++) printf(" %u", throw_dice(entity, tick));
        puts("");
    }
    printf("entity 7 in tick 3, again: %u\n", throw_dice(7, 3));
}

/* prints:
 * tick 0: 3 6 5 5 4 2 6 5 4 6
 * tick 1: 5 6 1 2 3 1 6 6 6 2
 * tick 2: 2 6 1 3 6 5 3 3 6 2
 * tick 3: 6 1 1 3 6 4 1 4 1 1
 * tick 4: 4 5 5 3 6 5 4 3 1 2
 * entity 7 in tick 3, again: 4
 */
