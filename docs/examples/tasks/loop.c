/* SPDX-License-Identifier: MIT */
/* loop.c: the job system alone: a loop on all cores, and a sum that does not depend on who did
 * what. */
#include <stdio.h>
#include <weft/jobs.h>

enum { COUNT = 1 << 20, BLOCK = 1024 };
static float values[COUNT];
static double sums[COUNT / BLOCK];

static int sum_blocks(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    (void)argument;
    for (uint32_t block = begin; block < end; block++) {
        double sum = 0;
        for (uint32_t i = block * BLOCK; i < (block + 1) * BLOCK; i++) sum += (double)values[i];
        sums[block] = sum; /* a place per block, added up in order below */
    }
    return 0;
}

int main(void)
{
    weft_job_pool *pool;
    if (weft_job_pool_create(NULL, &pool) != WEFT_OK) return 1;
    for (int i = 0; i < COUNT; i++) values[i] = 1.0f / (float)(i + 1);

    static weft_job_cost cost; /* what the pool learns of this loop; kept between calls */
    weft_job_for(weft_job_pool_owner(pool),
                 &(weft_job_for_desc){.fn = sum_blocks, .count = COUNT / BLOCK, .cost = &cost},
                 NULL);

    double total = 0;
    for (int block = 0; block < COUNT / BLOCK; block++) total += sums[block];
    printf("1 + 1/2 + ... = %.6f\n", total);
    weft_job_pool_destroy(pool);
}

/* prints:
 * 1 + 1/2 + ... = 14.440160
 */
