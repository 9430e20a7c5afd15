/* SPDX-License-Identifier: MIT */
/* segment_graph.h: the graph of a segment: its tasks, and which must have ended before which.
 *
 * Stages are the order for one worker, or for a small frame: all of a stage in one loop. Where a
 * segment takes long enough, a system begins when those that it depends on have ended: each task
 * is a node of a static graph (weft_job_graph), and only collisions and explicit orders are edges.
 * Owner, between segments. */
#pragma once

#include "scheduler_state.h"

/* Makes tasks and edges, and the graph, whose nodes `run` tasks, if that was not done yet. The
 * split plan is made after the whole one has run, because it depends on the times of tasks. False:
 * tasks cannot overlap, the split one would be the whole one, or memory ends. */
bool weft__segment_plan_make(weft__scheduler *scheduler, weft__segment *segment,
                             weft__plan_kind kind, weft_job_fn run);
/* Makes a plan that was made the one of the segment; entries of its stages are made again when they
 * are next wanted, if it was another one. */
void weft__segment_plan_use(weft__scheduler *scheduler, weft__segment *segment,
                            weft__plan_kind kind);
/* Makes the graph again, ranked by the times of the last run. False: no memory; it stays as it
 * was. */
bool weft__segment_graph_rank(weft__scheduler *scheduler, weft__task_plan *plan, weft_job_fn run);
/* The title of a stage or a task in traces: the names of its systems, as many as fit. */
void weft__systems_label(char *title, size_t bytes, const char *prefix,
                         weft__system *const *systems, uint32_t count);
/* Frees all plans. */
void weft__segment_graph_free(weft__scheduler *scheduler, weft__segment *segment);
