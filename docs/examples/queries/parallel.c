/* SPDX-License-Identifier: MIT */
/* parallel.c: a loop on all cores, with a result per row. */
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

typedef struct {
    int value;
} Number;

enum { COUNT = 200000 };

static void is_prime(weft_slice *slice, void *user) /* several slices at once */
{
    char *primes = user;
    const Number *n = WEFT_READ_COLUMN(slice, 0, Number);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        int divisor = 2;
        while (divisor * divisor <= n[i].value && n[i].value % divisor != 0) divisor++;
        primes[slice->first + i] =
            n[i].value > 1 && divisor * divisor > n[i].value; /* places of its own */
    }
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component number = WEFT_COMPONENT(world, Number);
    static Number numbers[COUNT];
    for (int i = 0; i < COUNT; i++) numbers[i].value = i;
    weft_entity_create_filled(world, WEFT_ARCHETYPE(world, number), WEFT_VALUES({number, numbers}),
                              COUNT, NULL);
    weft_query all = weft_query_create(world, &(weft_query_desc){.terms = {{number}}});

    char *primes = calloc(COUNT, 1);
    if (weft_query_each_parallel(world, all, is_prime, primes) != WEFT_OK)
        puts(weft_world_error(world)->text);
    int found = 0;
    for (int i = 0; i < COUNT; i++) found += primes[i];
    printf("%d primes below %d\n", found, COUNT);
    free(primes);
    weft_world_destroy(world);
}

/* prints:
 * 17984 primes below 200000
 */
