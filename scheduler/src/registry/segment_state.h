/* SPDX-License-Identifier: MIT */
/* segment_state.h: segments of a compiled schedule, and their tasks (see segment_graph.h).
 *
 * Part of scheduler_state.h. */
#ifndef WEFT_SEGMENT_STATE_H
#define WEFT_SEGMENT_STATE_H

#include "arena.h"
#include "jobs_engine.h"
#include "run_choice.h"

/* A part of a stage that runs by itself in the graph of its segment: fused systems that belong
 * together, or one other system. Owner: the segment (its arena); run by one worker at a time, which
 * writes time_ns and result.
 *   entries [first_entry, end_entry) of the stage are its own: of main_entries with on_owner */
typedef struct weft__task {
    struct weft__scheduler *scheduler;
    struct weft__system **systems; /* in the order in which a slice runs them */
    uint32_t system_count;
    uint32_t stage;
    bool is_fused;
    bool on_owner;
    uint32_t first_entry, end_entry; /* current with the entries of the stage */
    uint64_t time_ns;                /* of the last run; 0: it did not run */
    uint64_t ranked_ns;              /* the time that the graph was ranked by */
    weft_result result;              /* of the last run */
    weft_job_cost cost;
    char title[69]; /* "task " and their names, for traces */
} weft__task;

/* Tasks of a segment and which must have ended before which. Owner: the segment; its arrays lie in
 * the arena.
 *   graph != NULL, and all else is made, or nothing is
 *   bit a of reach[b * reach_words ...] is set  <=>  a chain of edges leads from task a to task b
 *   task_of[system->number] is the task of a system of the segment */
typedef struct weft__task_plan {
    weft__arena_block *arena;
    weft__task *tasks; /* in an order that respects every edge; those of a stage in a row */
    uint32_t task_count;
    uint32_t (*edges)[2]; /* tasks: before, after; none that a chain of others implies */
    uint32_t edge_count;
    uint64_t *reach;
    uint32_t reach_words;
    uint32_t *task_of;
    uint64_t runs;
    weft_job_graph *graph;
} weft__task_plan;

/* Plans of a segment: fused systems of a stage are one task, or those that a serial system of a
 * later stage waits for are a task of their own, which goes first. */
typedef enum weft__plan_kind { WEFT__PLAN_WHOLE, WEFT__PLAN_SPLIT, WEFT__PLANS } weft__plan_kind;

/* The stages between two sync points, and what of them may overlap. Owner: the compiled schedule
 * (segments[]); changed by the thread that owns the world, between segments.
 *   plan == NULL: none was made; else it is one of plans[], and stages[].tasks are its tasks
 *   plan is plans[WEFT__PLAN_SPLIT] only from a look at the segment to the next frame, which looks
 *   again: a loop over a stage would run tasks at once that wait for each other
 *   graph_pass != 0: graph_plan != NULL */
typedef struct weft__segment {
    uint32_t first_stage, end_stage;
    bool may_overlap;  /* several workers, or recorded; several systems, nothing asks for stages */
    bool has_no_split; /* the second plan was tried in vain: mostly it is the first one */
    weft__segment_choice choice;
    weft__task_plan plans[WEFT__PLANS];
    weft__task_plan *plan;
    uint64_t graph_pass; /* the last one in which it ran as a graph; 0: it never did */
    uint64_t graph_ns;   /* of that run, from its begin to its end */
    const weft__task_plan *graph_plan; /* of that run */
} weft__segment;

#endif
