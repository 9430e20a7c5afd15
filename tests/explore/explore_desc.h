/* SPDX-License-Identifier: MIT */
/* explore_desc.h: the pool of scenarios that run the whole job layer: tiny capacities, no spinning,
 * everything shared out, memory and operating system of the explorer. */
#ifndef EXPLORE_DESC_H
#define EXPLORE_DESC_H

#include <weft/jobs.h>

#include "explore.h"
#include "pool_state.h"

/* A scenario changes what it wants to be different. */
static inline weft_job_pool_desc explore_pool_desc(uint32_t workers)
{
    return (weft_job_pool_desc){.worker_count = workers,
                                .job_capacity = 6, /* 10 slots of 2 workers, 6 plain jobs */
                                .child_capacity = 4,
                                .edge_capacity = 8,
                                .spin_ns = 1,
                                .frame_spin_ns = 1,
                                .is_always_parallel = true,
                                .allocator = *explore_allocator(),
                                .os = explore_os()};
}

/* Creates the pool and returns its owner. `is_counting`: the counts of submitted and completed
 * jobs, which are no mere statistics (P3), are explored, too. */
static inline weft_job_context *explore_pool_create(weft_job_pool **pool, uint32_t workers,
                                                    bool is_host_driven, bool is_counting)
{
    weft_job_pool_desc desc = explore_pool_desc(workers);
    desc.is_host_driven = is_host_driven;
    EXPLORE_CHECK(weft_job_pool_create(&desc, pool) == WEFT_OK, "create");
    for (uint32_t i = 0; i < workers && !is_counting; i++)
        explore_ignore(&(*pool)->workers[i].stats, sizeof(*pool)->workers[i].stats);
    explore_ignore((*pool)->alive, sizeof *(*pool)->alive);
    return weft_job_pool_owner(*pool);
}

#endif
