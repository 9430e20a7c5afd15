/* SPDX-License-Identifier: MIT */
/* graph_compile.h: compiling graphs (graph.h) for a pool: ranks, successor lists, arrays of a run.
 * The pool lists its graphs and frees them when it ends. */
#pragma once

#include "pool_state.h"

/* Frees every graph of a pool. */
void weft__graph_free_all(weft_job_pool *pool);
