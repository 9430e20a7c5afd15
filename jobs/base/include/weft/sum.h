/* SPDX-License-Identifier: MIT */
/* sum.h: exact sums of doubles, which do not depend on the order of what is added.
 *
 * Public. Sums of floating-point numbers depend on their order, so a total over slices, workers
 * or ranks changes when the work is divided otherwise. A weft_sum keeps every bit: add in any
 * order, merge partial sums in any order, and round once at the end. The result is the double
 * next to the true sum.
 *
 * The method is the small superaccumulator of Neal (Fast Exact Summation Using Small and Large
 * Superaccumulators, 2015): the sum is one long fixed-point number in parts of 32 bits, each in a
 * word of 64, so that carries wait.
 *
 * Threads: holder (the thread that has the sum). */
#ifndef WEFT_SUM_H
#define WEFT_SUM_H

#include <string.h>
#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- exact sums ---- */

/* Parts of a sum, 32 bits each: from the least bit of a double to 2^1069. */
#define WEFT_SUM_PARTS 67
/* The parts, then counts of +infinity, -infinity and NaN. */
#define WEFT_SUM_WORDS 70
/* Additions until carries must be passed on: each adds less than 2^52 + 2^32 to a word of 2^63. */
#define WEFT_SUM_MOST_ADDS 2000

/* An exact sum. Owner: the caller; a value; zero-initialised it is 0. Always: the sum is that of
 * words[i] * 2^(32 i - 1075) over the parts. Settled (adds == 0), the words are whole on their
 * own: the sum of two settled sums is the sum of their words, integer by integer, as MPI_SUM of
 * MPI_INT64_T makes it for up to 2^30 ranks; call weft_sum_settle before and after. */
typedef struct weft_sum {
    int64_t words[WEFT_SUM_WORDS];
    uint32_t adds; /* since the words were settled, at most WEFT_SUM_MOST_ADDS */
} weft_sum;

/* Passes carries on. Parts are in 0..2^32-1 then, but the last, which has the sign. */
WEFT_API void weft_sum_settle(weft_sum *sum);

/* Adds the exact sum `other` to `sum`. `other` may be `sum` itself. Cost: about 60 ns. */
WEFT_API void weft_sum_merge(weft_sum *sum, const weft_sum *other);

/* The double next to the sum, of two equally near ones the even one; +-infinity beyond the range;
 * NaN where a NaN or both infinities were added. A sum of zeros is +0. Cost: about 100 ns. */
WEFT_API double weft_sum_value(const weft_sum *sum);

/* Counts an infinity or a NaN. weft_sum_add calls it. */
WEFT_API void weft_sum_add_special(weft_sum *sum, double value);

/* Adds a double exactly. Cost: about 2 ns. */
static inline void weft_sum_add(weft_sum *sum, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t exponent = (uint32_t)(bits >> 52) & 0x7FF;
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    if (exponent == 0x7FF) {
        weft_sum_add_special(sum, value);
        return;
    }
    if (exponent != 0)
        mantissa |= (uint64_t)1 << 52;
    else
        exponent = 1; /* subnormal: the same weight as the least normal numbers */
    const uint32_t shift = exponent & 31, part = exponent >> 5;
    const int64_t low = (int64_t)((mantissa << shift) & 0xFFFFFFFFu);
    const int64_t high = (int64_t)(mantissa >> (32 - shift));
    const int64_t sign = -(int64_t)(bits >> 63); /* 0 or -1: x ^ sign - sign negates */
    sum->words[part] += (low ^ sign) - sign;
    sum->words[part + 1] += (high ^ sign) - sign;
    if (++sum->adds == WEFT_SUM_MOST_ADDS) weft_sum_settle(sum);
}

#ifdef __cplusplus
}
#endif
#endif
