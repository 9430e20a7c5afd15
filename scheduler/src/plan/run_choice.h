/* SPDX-License-Identifier: MIT */
/* run_choice.h: how a stage and a segment are run, decided from what was measured: pure functions
 * of small structs, for the scheduler (stage_run.c, segment_run.c) and for the simulation of one
 * (tools/simulate).
 *
 * A stage that is predicted to take less than 6 us runs on the owner without touching the pool; the
 * prediction is the time of a probe, scaled by the number of items. A segment that takes less than
 * 30 us runs stage after stage, a longer one as a graph; if that turns out slower, its stages are
 * measured again, and if it still is, the graph rests for a while. Owner, between stages. */
#ifndef WEFT_RUN_CHOICE_H
#define WEFT_RUN_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#define WEFT__STAGE_INLINE_NS 6000u
#define WEFT__STAGE_REMEASURE 64u   /* frames */
#define WEFT__STAGE_PROBE_NS 1500u  /* a probe that took so long decides */
#define WEFT__GRAPH_LEAST_NS 30000u /* segments that take longer run as graphs */
#define WEFT__GRAPH_REMEASURE 64u   /* frames */
#define WEFT__GRAPH_RANK_RUNS 128u
#define WEFT__GRAPH_PATIENCE 256u /* frames, doubled up to 16 times as many */

/* What is known of the time of a stage. Owner: the stage. */
typedef struct weft__stage_cost {
    uint64_t measured_ns;    /* of the last probe on one worker */
    uint32_t measured_items; /* items in it; 0: never probed */
    uint32_t frames_to_measure;
} weft__stage_cost;

/* Whether `count` items are predicted to take less than it costs to share them. */
static inline bool weft__stage_cost_is_small(const weft__stage_cost *cost, uint32_t count)
{
    return cost->measured_ns * count < (uint64_t)WEFT__STAGE_INLINE_NS * cost->measured_items;
}

/* After a probe of `items` items. */
static inline void weft__stage_cost_learn(weft__stage_cost *cost, uint64_t ns, uint32_t items)
{
    *cost = (weft__stage_cost){ns, items, WEFT__STAGE_REMEASURE};
}

/* Stages or a graph. Owner: the segment.
 *   is_overlapping: the segment has a graph */
typedef struct weft__segment_choice {
    bool is_overlapping; /* the graph runs it, not stage after stage */
    uint32_t rest;       /* frames to run stage after stage, as far as the last look says */
    uint32_t patience;   /* frames that it rests after overlapping was slower */
    uint64_t stages_ns;  /* last measured time of stage after stage; 0: never */
    uint64_t graph_ns;   /* of the last run of the graph */
    uint64_t graph_runs;
} weft__segment_choice;

/* After its stages were run one after the other. */
static inline void weft__segment_choice_learn_stages(weft__segment_choice *choice, uint64_t ns)
{
    bool was_slower = choice->patience != 0 && choice->graph_ns > ns + ns / 8;
    choice->stages_ns = ns;
    if (ns < WEFT__GRAPH_LEAST_NS) {
        choice->rest = WEFT__GRAPH_REMEASURE;
    } else if (was_slower) { /* than the stages were now: not by what the frame had to do */
        choice->rest = choice->patience;
        if (choice->patience < 16 * WEFT__GRAPH_PATIENCE) choice->patience *= 2;
    }
}

/* After a run of the graph. */
static inline void weft__segment_choice_learn_graph(weft__segment_choice *choice, uint64_t ns)
{
    choice->graph_ns = ns;
    bool is_slower = ns > choice->stages_ns + choice->stages_ns / 8;
    if (!is_slower && ns >= WEFT__GRAPH_LEAST_NS / 2) return;
    choice->is_overlapping = false;
    choice->rest = 0;
    choice->stages_ns = 0; /* measured in the next frame */
    if (choice->patience == 0) choice->patience = WEFT__GRAPH_PATIENCE;
}

/* Whether the graph is due to be ranked by the times of its tasks before its next run; in question,
 * if some of them have changed. */
static inline bool weft__segment_choice_ranks(const weft__segment_choice *choice, bool *in_question)
{
    *in_question = choice->graph_runs % WEFT__GRAPH_RANK_RUNS == WEFT__GRAPH_RANK_RUNS - 1;
    return choice->graph_runs == 2;
}

/* Whether a task takes another part of the whole than when the graph was ranked. */
static inline bool weft__task_has_shifted(uint64_t now, uint64_t then, uint64_t all_now,
                                          uint64_t all_then)
{
    return (now > 2 * then || then > 2 * now) && (now > all_now / 16 || then > all_then / 16);
}

#endif
