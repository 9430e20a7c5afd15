/* SPDX-License-Identifier: MIT */
/* totals.c: processes of a run share work; the sum has the same bits for any number of them.
 * Run it alone, or by mpirun -np 4. */
#include <stdio.h>
#include <weft/ranks.h>

int main(int argc, char **argv)
{
    if (weft_ranks_start(&argc, &argv) != WEFT_OK) {
        puts(weft_ranks_error()->text);
        return 1;
    }
    weft_sum sum = {0};
    uint64_t terms = 0;
    for (uint64_t i = 1 + weft_ranks_rank(); i <= 1000000; i += weft_ranks_count()) {
        weft_sum_add(&sum, 1 / ((double)i * (double)i));
        terms++;
    }
    weft_result result = weft_ranks_sum_exact(&sum, 1); /* every rank has it then */
    if (result == WEFT_OK) result = weft_ranks_sum(&terms, 1);
    if (result != WEFT_OK) weft_ranks_abort(1); /* the others would wait */
    if (weft_ranks_rank() == 0) printf("%d terms: %.17g\n", (int)terms, weft_sum_value(&sum));
    weft_ranks_stop();
}

/* prints:
 * 1000000 terms: 1.6449330668487265
 */
