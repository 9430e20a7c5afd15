/* SPDX-License-Identifier: MIT */
/* bench_jobs.h: what the two files of job benchmarks share: a pool, and work for it.
 *
 * Everything here is owned by the benchmark that uses it, on the benchmark's thread; the functions
 * are small enough to be repeated in both files.
 */
#ifndef WEFT_PERF_BENCH_JOBS_H
#define WEFT_PERF_BENCH_JOBS_H

#include "bench.h"
#include "peer.h"

#include <weft/jobs.h>

/* A pool and what the work needs. Owner: one benchmark. */
typedef struct jobs_bench {
    weft_job_pool *pool;
    weft_job_context *owner;
    uint32_t workers;
    weft_job_cost cost;
    uint32_t count;   /* items of a loop */
    uint32_t work;    /* length of one item */
    uint64_t idle_ns; /* idleness before a call */
    weft_job_graph *graph;
    const weft_peer *peer;
} jobs_bench;

/* A pool for `jobs` submitted jobs at once; 0: as many as by default. */
static inline bool open_pool_of(weft_bench *bench, jobs_bench *b, uint32_t workers, uint32_t jobs)
{
    *b = (jobs_bench){.workers = workers};
    const weft_job_pool_desc desc = {
        .worker_count = workers, .is_pinned = true, .job_capacity = jobs};
    weft_result result = weft_job_pool_create(&desc, &b->pool);
    if (result != WEFT_OK) weft_bench_fail(bench, "no pool: %s", weft_result_text(result));
    b->owner = weft_job_pool_owner(b->pool);
    weft_bench_pin_threads(); /* loops learn their cost before the samples are taken */
    return result == WEFT_OK;
}

static inline bool open_pool(weft_bench *bench, jobs_bench *b, uint32_t workers)
{
    return open_pool_of(bench, b, workers, 0);
}

static inline void close_pool(jobs_bench *b)
{
    weft_job_pool_destroy(b->pool);
    weft_bench_unpin_threads();
}

#endif
