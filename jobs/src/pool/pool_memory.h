/* SPDX-License-Identifier: MIT */
/* pool_memory.h: the arrays of a pool, whose sizes the capacities give: workers, deques, children,
 * slots, edges. They are one mapping, so that a big capacity takes address space, and memory only
 * for what was used. Owner: the pool; created and freed by the thread that creates and destroys
 * it. */
#pragma once

#include "pool_state.h"

/* Maps the arrays and makes the table of jobs; OUT_OF_MEMORY. */
weft_result weft__pool_map(weft_job_pool *pool, const weft_job_pool_desc *desc);
/* Gives them back; nothing when they were never mapped. */
void weft__pool_unmap(weft_job_pool *pool);
