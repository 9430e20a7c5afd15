/* SPDX-License-Identifier: MIT */
/* worker_loop.h: loops on workers.
 *
 * The opener of a loop runs parts too; this is what it and the workers that join have in common.
 * The protocol is in loop.h, the predictions are in cost.h. */
#pragma once

#include "pool_state.h"

/* Runs parts of a joined loop, own and stolen, until every range is empty, and reports them. */
void weft__worker_run_parts(weft_job_context *worker, weft__loop *loop);
