/* SPDX-License-Identifier: MIT */
/* told_clock.h: a clock that only systems move on, and a pool whose worker 1 never comes, so that
 * the owner runs all tasks, one after the other: times of a step are exact. One per program. */
#ifndef WEFT_TESTS_TOLD_CLOCK_H
#define WEFT_TESTS_TOLD_CLOCK_H

#include <weft/weft.h>

#include "os_fault.h"
#include "plain.h"

enum { NAP_NS = 3000000 };

static uint64_t told_ns; /* what the clock says */

static inline uint64_t told_clock(void *user)
{
    (void)user;
    return told_ns;
}

/* A system that takes NAP_NS a slice. */
static inline void nap(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
    told_ns += NAP_NS;
}

/* The caller destroys the pool; `os` must outlive it, and is for the world, too. */
static inline weft_job_pool *told_pool_create(test_os *os)
{
    weft_job_pool *pool;
    test_os_init(os);
    os->table.clock_ns = told_clock;
    const weft_job_pool_desc desc = {.worker_count = 2, .is_host_driven = true, .os = &os->table};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    return pool;
}

#endif
