/* SPDX-License-Identifier: MIT */
/* graph_compile.h: compiling graphs (graph.h) for a pool: ranks, successor lists, arrays of a run.
 * The pool lists its graphs and frees them when it ends. */
#ifndef WEFT_GRAPH_COMPILE_H
#define WEFT_GRAPH_COMPILE_H

#include "pool_state.h"

/* Frees every graph of a pool. */
void weft__graph_free_all(weft_job_pool *pool);

#endif
