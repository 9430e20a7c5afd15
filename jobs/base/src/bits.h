/* SPDX-License-Identifier: MIT */
/* bits.h: small integer helpers: rounding, logarithms, bit scans. Pure functions; arguments out of
 * range are the caller's mistake and not checked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Index of the lowest set bit; `word` is not 0. */
static inline uint32_t bits_lowest(uint64_t word)
{
    return (uint32_t)__builtin_ctzll(word);
}

/* Index of the highest set bit; `word` is not 0. */
static inline uint32_t bits_highest(uint64_t word)
{
    return 63u - (uint32_t)__builtin_clzll(word);
}

static inline uint32_t bits_count(uint64_t word)
{
    return (uint32_t)__builtin_popcountll(word);
}

/* The lowest `count` bits set; count 0..64. */
static inline uint64_t bits_mask(uint32_t count)
{
    return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

static inline bool bits_is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* Smallest power of two >= value; value 1..2^63. */
static inline uint64_t bits_round_up_power_of_two(uint64_t value)
{
    return value <= 1 ? 1 : UINT64_C(1) << (bits_highest(value - 1) + 1);
}

/* `value` rounded up to a multiple of `alignment`, a power of two. */
static inline size_t bits_align_up(size_t value, size_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

/* Lowest position of `count` set bits in a row, or 64. */
static inline uint32_t bits_find_run(uint64_t bits, uint32_t count)
{
    for (uint32_t have = 1; have < count;) {
        uint32_t step = have < count - have ? have : count - have;
        bits &= bits >> step;
        have += step;
    }
    return bits != 0 ? bits_lowest(bits) : 64;
}
