/* SPDX-License-Identifier: MIT */
/* test_sum.c: exact sums of doubles: independent of order and division, rounded once.
 *
 * Values are random bits, or multiples of a small power of two whose sum an integer of 128 bits
 * has. */
#include "check.h"
#include "plain.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/sum.h>

__extension__ typedef __int128 wide_int;

static double of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double sum_of(const double *values, uint32_t count)
{
    weft_sum sum = {0};
    for (uint32_t i = 0; i < count; i++) weft_sum_add(&sum, values[i]);
    return weft_sum_value(&sum);
}

PLAIN_TEST(the_sum_of_one_value_is_the_value)
{
    test_random random = test_random_init(23);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = test_random_next(&random);
        if (i % 5 == 0) bits &= ~(UINT64_C(0x7FF) << 52); /* subnormal */
        const double value = of_bits(bits);
        if (isnan(value) || value == 0) continue;
        CHECK_U64(bits_of(sum_of(&value, 1)), bits);
    }
}

PLAIN_TEST(sums_are_equal_in_any_order_and_division)
{
    test_random random = test_random_init(23);
    enum { COUNT = 5000 };
    static double values[COUNT];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < COUNT; i++) {
            do values[i] = of_bits(test_random_next(&random));
            while (!isfinite(values[i]));
        }
        const uint64_t expected = bits_of(sum_of(values, COUNT));
        for (int i = COUNT - 1; i > 0; i--) {
            const uint64_t other = test_random_below(&random, (uint64_t)i + 1);
            const double kept = values[i];
            values[i] = values[other], values[other] = kept;
        }
        weft_sum parts[7] = {{{0}, 0}}, whole = {0};
        for (int i = 0; i < COUNT; i++)
            weft_sum_add(&parts[test_random_below(&random, 7)], values[i]);
        for (int k = 0; k < 7; k++) weft_sum_merge(&whole, &parts[k]);
        CHECK_U64(bits_of(weft_sum_value(&whole)), expected);
        for (int i = 0; i < COUNT; i++) weft_sum_add(&whole, -values[i]);
        CHECK_U64(bits_of(weft_sum_value(&whole)), 0);
    }
}

/* Multiples of 2^-30 below 2^40: an integer of 128 bits has their sum, a long division rounds
 * it. */
PLAIN_TEST(sums_are_the_nearest_doubles)
{
    test_random random = test_random_init(23);
    for (int round = 0; round < 2000; round++) {
        weft_sum sum = {0};
        wide_int exact = 0;
        const uint64_t count = 1 + test_random_below(&random, 300);
        for (uint64_t i = 0; i < count; i++) {
            const int64_t whole = (int64_t)(test_random_next(&random) >> 11) - ((int64_t)1 << 52);
            const int places = (int)test_random_below(&random, 30);
            exact += (wide_int)whole * ((wide_int)1 << places);
            weft_sum_add(&sum, ldexp((double)whole, places - 30));
        }
        const wide_int size = exact < 0 ? -exact : exact;
        int drop = 0;
        while (size >> drop >= (wide_int)1 << 53) drop++;
        wide_int kept = size >> drop;
        const wide_int twice = (size - (kept << drop)) * 2, one = (wide_int)1 << drop;
        if (drop && (twice > one || (twice == one && (kept & 1)))) kept++;
        const double expected = ldexp((double)kept, drop - 30);
        CHECK_F64(weft_sum_value(&sum), exact < 0 ? -expected : expected, 0);
    }
}

PLAIN_TEST(ties_go_to_even_and_a_bit_far_below_decides)
{
    const double half = 0x1p-53;
    CHECK_F64(sum_of((double[]){1, half}, 2), 1, 0);
    CHECK_F64(sum_of((double[]){1, half, 0x1p-1074}, 3), 1 + 0x1p-52, 0);
    CHECK_F64(sum_of((double[]){1, half, -0x1p-1074}, 3), 1, 0);
    CHECK_F64(sum_of((double[]){1 + 0x1p-52, half}, 2), 1 + 0x1p-51, 0);
    CHECK_F64(sum_of((double[]){-1, -half, -0x1p-1074}, 3), -(1 + 0x1p-52), 0);
}

PLAIN_TEST(infinities_nan_overflow_and_nothing)
{
    const double big = 0x1.fffffffffffffp1023, inf = (double)INFINITY, nan = (double)NAN;
    CHECK_F64(sum_of(NULL, 0), 0, 0);
    CHECK(sum_of((double[]){big, big}, 2) == inf);
    CHECK_F64(sum_of((double[]){big, big, -big}, 3), big, 0);
    CHECK(sum_of((double[]){1, inf}, 2) == inf);
    CHECK(sum_of((double[]){-inf, big}, 2) == -inf);
    CHECK(isnan(sum_of((double[]){inf, -inf}, 2)));
    CHECK(isnan(sum_of((double[]){1, nan}, 2)));
    CHECK_U64(bits_of(sum_of((double[]){-0.0, -0.0}, 2)), 0);
}

/* What MPI_SUM of the words does. */
PLAIN_TEST(words_of_settled_sums_add_up)
{
    test_random random = test_random_init(23);
    weft_sum all = {0}, total = {0};
    for (int rank = 0; rank < 50; rank++) {
        weft_sum part = {0};
        for (int i = 0; i < 3000; i++) {
            const double value = ldexp((double)(int64_t)test_random_next(&random),
                                       (int)test_random_below(&random, 600) - 300);
            weft_sum_add(&part, value);
            weft_sum_add(&all, value);
        }
        weft_sum_settle(&part);
        for (int i = 0; i < WEFT_SUM_WORDS; i++) total.words[i] += part.words[i];
    }
    weft_sum_settle(&total);
    CHECK_U64(bits_of(weft_sum_value(&total)), bits_of(weft_sum_value(&all)));
}
