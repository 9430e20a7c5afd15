/* SPDX-License-Identifier: MIT */
/* segment_graph.h: the graph of a segment: its tasks, and which must have ended before which.
 *
 * Stages are the order for one worker, or for a small frame: all of a stage in one loop. Where a
 * segment takes long enough, a system begins when those that it depends on have ended: each task
 * is a node of a static graph (weft_job_graph), and only collisions and explicit orders are edges.
 * Owner, between segments. */
#ifndef WEFT_SEGMENT_GRAPH_H
#define WEFT_SEGMENT_GRAPH_H

#include "scheduler_state.h"

/* Makes tasks and edges, and the graph, whose nodes `run` tasks, if these can overlap; the
 * entries of the stages are made again then. False: stage after stage is as good, or memory
 * ends; may_overlap is false then. */
bool weft__segment_graph_make(weft__scheduler *scheduler, weft__segment *segment, weft_job_fn run);
/* Makes the graph again, ranked by the times of the last run. False: no memory; it stays as it
 * was. */
bool weft__segment_graph_rank(weft__scheduler *scheduler, weft__segment *segment, weft_job_fn run);
void weft__segment_graph_free(weft__scheduler *scheduler, weft__segment *segment);
/* Whether the graph of their segment, if there is one, runs a system after an earlier one, or in
 * one task with it. */
bool weft__segment_graph_orders(const weft__scheduler *scheduler, const weft__system *before,
                                const weft__system *after);

#endif
