/* SPDX-License-Identifier: MIT */
/* bench_self.c: benchmarks of the benchmark harness: what reading the clock and one empty call
 * cost.
 *
 * The figures bound what the other benchmarks can resolve; `self.copy` measures the same work
 * twice, so its ratio shows how far two equal things lie apart on this machine at this moment.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* Two equal buffers of `bytes`; owner: the benchmark. */
typedef struct buffers {
    char *from, *to;
    size_t bytes;
} buffers;

static void read_clock(void *data)
{
    (void)data;
    weft_bench_now();
}

static void nothing(void *data)
{
    weft_bench_keep(data);
}

static void copy(void *data)
{
    const buffers *b = data;
    memcpy(b->to, b->from, b->bytes);
    weft_bench_keep(b->to);
}

static void clock_cost(weft_bench *bench)
{
    const weft_bench_measure clock_read = {
        .name = "clock", .unit = "ns/call", .workers = 1, .run = read_clock, .raw = nothing};
    weft_bench_run(bench, &clock_read);
}

static void copy_twice(weft_bench *bench)
{
    if (!weft_bench_wants(bench, "64MiB")) return;
    buffers b = {.bytes = (size_t)64 << 20};
    b.from = weft_bench_zeroed(1, b.bytes);
    b.to = weft_bench_zeroed(1, b.bytes);
    if (b.from && b.to) {
        memset(b.from, 1, b.bytes);
        weft_bench_run(bench, &(weft_bench_measure){.name = "64MiB",
                                                    .unit = "ns/byte",
                                                    .items = (double)b.bytes,
                                                    .workers = 1,
                                                    .run = copy,
                                                    .raw = copy,
                                                    .data = &b});
    } else {
        weft_bench_fail(bench, "no memory");
    }
    free(b.from);
    free(b.to);
}

const weft_bench_entry weft_bench_self[] = {
    {.name = "self.clock", .summary = "reads the clock, against an empty call", .run = clock_cost},
    {.name = "self.copy", .summary = "memcpy of 64 MiB against itself", .run = copy_twice},
    {0},
};
