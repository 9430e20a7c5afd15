/* SPDX-License-Identifier: MIT */
/* exact_sum.c: a sum of doubles that does not depend on the order: every bit is kept until the
 * end. */
#include <stdio.h>
#include <weft/sum.h>

int main(void)
{
    const double values[] = {1e16, 1, -1e16, 1, 1e-3, 1};
    double forward = 0, backward = 0;
    weft_sum exact = {{0}, 0}, first = {{0}, 0}, second = {{0}, 0};
    for (int i = 0; i < 6; i++) {
        forward += values[i];
        backward += values[5 - i];
        weft_sum_add(&exact, values[i]);
        weft_sum_add(i % 2 ? &first : &second, values[5 - i]); /* as two workers might */
    }
    weft_sum_merge(&first, &second);
    printf("plain: %g and %g\n", forward, backward);
    printf("exact: %g and %g\n", weft_sum_value(&exact), weft_sum_value(&first));
}

/* prints:
 * plain: 2.001 and 4
 * exact: 3.001 and 3.001
 */
