/* SPDX-License-Identifier: MIT */
/* random.h: seeded random numbers for tests (xoshiro256** seeded by splitmix64; Blackman and Vigna
 * 2018).
 *
 * A generator belongs to one thread. Its seed comes from the environment variable WEFT_TEST_SEED,
 * else from the test; failure reports of check.h name it.
 */
#ifndef WEFT_TESTS_RANDOM_H
#define WEFT_TESTS_RANDOM_H

#include <stdint.h>

/* Owner: one thread. Invariant: not all words are zero. */
typedef struct test_random {
    uint64_t words[4];
} test_random;

/* Generator of the test: WEFT_TEST_SEED if set, else `seed`; notes it for failure reports. */
test_random test_random_init(uint64_t seed);
/* Independent generator number `index` of the same seed: one per thread. */
test_random test_random_fork(const test_random *random, uint64_t index);
uint64_t test_random_next(test_random *random);
/* Uniform in [0, bound); bound > 0. */
uint64_t test_random_below(test_random *random, uint64_t bound);
/* Uniform in [0, 1). */
double test_random_unit(test_random *random);

#endif
