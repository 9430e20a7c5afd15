/* SPDX-License-Identifier: MIT */
/* sum.c: exact sums of doubles: carries, merging, and the one rounding at the end. The number and
 * its parts: <weft/sum.h>. */
#include <math.h>
#include <stdbool.h>
#include <weft/sum.h>

enum { POSITIVE = WEFT_SUM_PARTS, NEGATIVE, NOT_A_NUMBER, PART_BITS = 32, LEAST_EXPONENT = -1075 };

__extension__ typedef unsigned __int128 wide;

void weft_sum_settle(weft_sum *sum)
{
    int64_t carry = 0;
    for (int i = 0; i < WEFT_SUM_PARTS - 1; i++) {
        const int64_t whole = sum->words[i] + carry;
        sum->words[i] = whole & 0xFFFFFFFF;
        carry = (whole - sum->words[i]) / ((int64_t)1 << PART_BITS); /* exact, also below 0 */
    }
    sum->words[WEFT_SUM_PARTS - 1] += carry;
    sum->adds = 0;
}

void weft_sum_merge(weft_sum *sum, const weft_sum *other)
{
    weft_sum settled = *other;
    weft_sum_settle(&settled);
    weft_sum_settle(sum);
    for (int i = 0; i < WEFT_SUM_WORDS; i++) sum->words[i] += settled.words[i];
    weft_sum_settle(sum);
}

void weft_sum_add_special(weft_sum *sum, double value)
{
    sum->words[isnan(value) ? NOT_A_NUMBER : value > 0 ? POSITIVE : NEGATIVE]++;
}

/* Makes the sum one without a sign; returns whether it was negative. `sum` is settled. */
static bool make_absolute(weft_sum *sum)
{
    if (sum->words[WEFT_SUM_PARTS - 1] >= 0) return false;
    for (int i = 0; i < WEFT_SUM_PARTS; i++) sum->words[i] = -sum->words[i];
    weft_sum_settle(sum);
    return true;
}

static int bits_of(wide value)
{
    const uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* The top three parts hold at least 65 bits of the sum: more than a double and its rounding
 * take. */
static double magnitude(const weft_sum *sum)
{
    int top = WEFT_SUM_PARTS - 1;
    while (top > 0 && sum->words[top] == 0) top--;
    wide value = 0;
    for (int i = top; i > top - 3; i--)
        value = (value << PART_BITS) | (i >= 0 ? (uint64_t)sum->words[i] : 0);
    bool has_more = false;
    for (int i = top - 3; i >= 0; i--) has_more = has_more || sum->words[i] != 0;
    /* value * 2^exponent as the nearest double; `has_more`: a little more than value. */
    int exponent = LEAST_EXPONENT + PART_BITS * (top - 2);
    const int least = LEAST_EXPONENT + 1 - exponent; /* a result has no bit below 2^-1074 */
    int drop = bits_of(value) - 53;
    if (drop < least) drop = least;
    if (drop <= 0) return ldexp((double)(uint64_t)value, exponent);
    const wide rest = value & (((wide)1 << drop) - 1), half = (wide)1 << (drop - 1);
    uint64_t kept = (uint64_t)(value >> drop);
    if (rest > half || (rest == half && (has_more || (kept & 1)))) kept++;
    return ldexp((double)kept, exponent + drop);
}

double weft_sum_value(const weft_sum *sum)
{
    const int64_t *words = sum->words;
    if (words[NOT_A_NUMBER] != 0 || (words[POSITIVE] != 0 && words[NEGATIVE] != 0))
        return (double)NAN;
    if (words[POSITIVE] != 0) return (double)INFINITY;
    if (words[NEGATIVE] != 0) return -(double)INFINITY;
    weft_sum settled = *sum;
    weft_sum_settle(&settled);
    const bool is_negative = make_absolute(&settled);
    const double value = magnitude(&settled);
    return is_negative ? -value : value;
}
