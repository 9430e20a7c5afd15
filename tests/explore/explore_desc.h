/* SPDX-License-Identifier: MIT */
/* explore_desc.h: the pool of scenarios that run the whole job layer: tiny capacities, no spinning,
 * everything shared out, memory and operating system of the explorer. */
#ifndef EXPLORE_DESC_H
#define EXPLORE_DESC_H

#include <weft/jobs.h>

#include "explore.h"

/* A scenario changes what it wants to be different. */
static inline weft_job_pool_desc explore_pool_desc(uint32_t workers)
{
    return (weft_job_pool_desc){.worker_count = workers,
                                .job_capacity = 4,
                                .child_capacity = 4,
                                .edge_capacity = 8,
                                .spin_ns = 1,
                                .frame_spin_ns = 1,
                                .is_always_parallel = true,
                                .allocator = *explore_allocator(),
                                .os = explore_os()};
}

#endif
