/* SPDX-License-Identifier: MIT */
/* compile_nodes.h: what each system touches and sees, as access items for the planner.
 *
 * See compile_nodes.c; the nodes: staging.h. Owner, between segments. */
#ifndef WEFT_COMPILE_NODES_H
#define WEFT_COMPILE_NODES_H

#include "scheduler_state.h"

/* Fills scheduler->nodes from the ordered systems. Owner, between segments. Errors:
 * OUT_OF_MEMORY. */
weft_result weft__schedule_nodes(weft__scheduler *scheduler);

#endif
