/* SPDX-License-Identifier: MIT */
/* random.c: the generator of random.h.
 */
#include "random.h"

#include "check.h"

#include <stdlib.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static test_random from_seed(uint64_t seed)
{
    test_random random;
    for (int i = 0; i < 4; i++) random.words[i] = splitmix(&seed);
    return random;
}

test_random test_random_init(uint64_t seed)
{
    const char *text = getenv("WEFT_TEST_SEED");
    if (text) seed = strtoull(text, NULL, 0);
    test_note_seed(seed);
    return from_seed(seed);
}

test_random test_random_fork(const test_random *random, uint64_t index)
{
    return from_seed(random->words[0] ^ (index + 1) * UINT64_C(0xd6e8feb86659fd93));
}

static uint64_t rotate(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

uint64_t test_random_next(test_random *random)
{
    uint64_t *w = random->words;
    const uint64_t result = rotate(w[1] * 5, 7) * 9, t = w[1] << 17;
    w[2] ^= w[0];
    w[3] ^= w[1];
    w[1] ^= w[2];
    w[0] ^= w[3];
    w[2] ^= t;
    w[3] = rotate(w[3], 45);
    return result;
}

uint64_t test_random_below(test_random *random, uint64_t bound)
{
    CHECK(bound > 0);
    const uint64_t limit = UINT64_MAX - UINT64_MAX % bound; /* above it the remainder is uneven */
    uint64_t value;
    do {
        value = test_random_next(random);
    } while (value >= limit);
    return value % bound;
}

double test_random_unit(test_random *random)
{
    return (double)(test_random_next(random) >> 11) * 0x1p-53;
}
