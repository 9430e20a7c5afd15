/* SPDX-License-Identifier: MIT */
/* calibrate.h: measures at creation what waking a sleeping worker costs on this machine, and sets
 * the spin budget and the pay-offs of cost.h from it. */
#pragma once

#include <weft/jobs.h>

/* Called once, by create, after the threads were started. `spin_ns` 0: measure. */
void weft__pool_calibrate(weft_job_pool *pool, uint32_t spin_ns, uint32_t frame_spin_ns);
