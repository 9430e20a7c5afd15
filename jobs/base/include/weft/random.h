/* SPDX-License-Identifier: MIT */
/* random.h: random numbers that depend on what they are for, not on when they are taken.
 *
 * Public, header only. A generator is named by four numbers: the seed of the run, the number of
 * an entity (or of anything else that has one), the tick, and a stream, which tells apart uses
 * of the same entity in the same tick. Equal names give equal numbers, on every thread, machine
 * and rank, so a system that draws from generators of its entities is deterministic for any
 * number of workers. Nothing is stored between ticks and nothing is shared.
 *
 * The method is Philox4x32 with ten rounds (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As
 * Easy as 1, 2, 3; SC 2011). Not for cryptography.
 *
 * Threads: any: nothing is shared. Nothing here fails. */
#ifndef WEFT_RANDOM_H
#define WEFT_RANDOM_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- random numbers ---- */

/* A block of four numbers of Philox4x32-10: a function of the counter (128 bits) and the key (64
 * bits). Cost: about 4 ns; loops over blocks are vectorised by the compiler. */
static inline void weft_random_block(const uint32_t counter[4], const uint32_t key[2],
                                     uint32_t out[4])
{
    uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t left = (uint64_t)a * 0xD2511F53u, right = (uint64_t)c * 0xCD9E8D57u;
        a = (uint32_t)(right >> 32) ^ b ^ k0;
        b = (uint32_t)right;
        c = (uint32_t)(left >> 32) ^ d ^ k1;
        d = (uint32_t)left;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

/* A generator. Owner: the caller; a value. counter = {id low, id high, tick, stream << 16 | block};
 * always used <= 4: numbers of the current block already given. */
typedef struct weft_random {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t block[4];
    uint32_t used;
} weft_random;

/* The generator of these four numbers. For an entity, give an id that a run repeats: an index of
 * the simulation, or the handle's index while entities are created in the same order. It has
 * 262,144 numbers of 32 bits; then it starts again. */
static inline weft_random weft_random_of(uint64_t seed, uint64_t id, uint32_t tick, uint16_t stream)
{
    weft_random random = {{(uint32_t)seed, (uint32_t)(seed >> 32)},
                          {(uint32_t)id, (uint32_t)(id >> 32), tick, (uint32_t)stream << 16},
                          {0, 0, 0, 0},
                          4};
    return random;
}

/* The next 32 bits. */
static inline uint32_t weft_random_u32(weft_random *random)
{
    if (random->used == 4) {
        weft_random_block(random->counter, random->key, random->block);
        random->counter[3] =
            (random->counter[3] & 0xFFFF0000u) | ((random->counter[3] + 1) & 0xFFFFu);
        random->used = 0;
    }
    return random->block[random->used++];
}

/* The next 64 bits: two numbers, the lower half first. */
static inline uint64_t weft_random_u64(weft_random *random)
{
    uint64_t low = weft_random_u32(random);
    return low | (uint64_t)weft_random_u32(random) << 32;
}

/* Uniform in [0, 1): one of 2^24 values. */
static inline float weft_random_float(weft_random *random)
{
    return (float)(weft_random_u32(random) >> 8) * 0x1p-24f;
}

/* Uniform in [0, 1): one of 2^53 values. */
static inline double weft_random_double(weft_random *random)
{
    return (double)(weft_random_u64(random) >> 11) * 0x1p-53;
}

/* Uniform in 0..limit-1, without bias (Lemire: Fast Random Integer Generation in an Interval,
 * 2019); 0 for a limit of 0 or 1. Takes one number, rarely more. */
static inline uint32_t weft_random_below(weft_random *random, uint32_t limit)
{
    uint64_t product = (uint64_t)weft_random_u32(random) * limit;
    if ((uint32_t)product < limit) {
        const uint32_t least = (0u - limit) % limit; /* 2^32 mod limit */
        while ((uint32_t)product < least) product = (uint64_t)weft_random_u32(random) * limit;
    }
    return (uint32_t)(product >> 32);
}

/* Normal with mean 0 and variance 1 (Marsaglia's polar method, 1964). Needs libm: equal on machines
 * whose logarithm is the same, with any options of the compiler. Takes four numbers or more. */
static inline double weft_random_normal(weft_random *random)
{
    double x, square;
    do {
        x = 2 * weft_random_double(random) - 1;
        const double y = 2 * weft_random_double(random) - 1;
        double squares[2] = {x * x, y * y};
        __asm__("" : "+m"(squares)); /* rounded: a fused multiply-add gives another sum */
        square = squares[0] + squares[1];
    } while (square >= 1 || square == 0);
    return x * sqrt(-2 * log(square) / square);
}

#ifdef __cplusplus
}
#endif
#endif
