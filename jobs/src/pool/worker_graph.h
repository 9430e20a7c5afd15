/* SPDX-License-Identifier: MIT */
/* worker_graph.h: graphs on workers.
 *
 * The opener of a graph runs nodes too; this is what it and the workers that join have in common.
 * The protocol is in graph.h. */
#ifndef WEFT_WORKER_GRAPH_H
#define WEFT_WORKER_GRAPH_H

#include "pool_state.h"

/* Takes part in a joined graph until no node is ready, and reports the nodes. */
void weft__worker_run_nodes(weft_job_context *worker, weft__loop *loop);

#endif
