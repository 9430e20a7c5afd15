/* SPDX-License-Identifier: MIT */
/* run_choice.h: how a stage and a segment are run, decided from what was measured: pure functions
 * of small structs, for the scheduler (dispatch.c, frame.c) and for the simulation of one
 * (tools/simulate).
 *
 * A stage that is predicted to take less than 6 us runs on the owner without touching the pool; the
 * prediction is the time of a probe, scaled by the number of items. A segment that takes less than
 * 30 us runs stage after stage. A longer one has several ways to run, of which two are compared in
 * a match: eight runs of each, taken in turn so that both meet the same conditions, the longest two
 * left out, because another program may have taken the core. The better way is then held for a
 * while, longer each time that it wins again. Owner, between stages. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WEFT__STAGE_INLINE_NS 6000u
#define WEFT__STAGE_REMEASURE 64u   /* frames */
#define WEFT__STAGE_PROBE_NS 1500u  /* a probe that took so long decides */
#define WEFT__GRAPH_LEAST_NS 30000u /* segments that take longer run as graphs */
#define WEFT__GRAPH_REMEASURE 64u   /* frames */
#define WEFT__GRAPH_RANK_RUNS 128u
#define WEFT__SPLIT_LEAST_NS 10000u /* serial systems that take longer are worth a plan */
#define WEFT__MATCH_RUNS 8u         /* of each way */
#define WEFT__MATCH_CLEAR_RUNS 4u   /* of each, where one takes less than 4/5 of the other */
#define WEFT__MATCH_LONGEST 2u      /* runs of each that do not count */
#define WEFT__HOLD_LEAST 128u       /* frames that a way is held, doubled up to 8 times as many */
#define WEFT__HOLD_MOST 1024u
#define WEFT__HOLD_OTHER_RUNS 16u /* in a row, far longer or shorter than in the match: again */

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

/* How a segment is run. */
typedef enum weft__way {
    WEFT__WAY_STAGES, /* one after the other */
    WEFT__WAY_GRAPH,
    WEFT__WAY_SPLIT /* a graph in which what a long serial system waits for is a task of its own */
} weft__way;

/* The runs of one way in a match. Owner: the choice.
 *   longest[0] >= longest[1] */
typedef struct weft__way_times {
    uint64_t total_ns;
    uint64_t longest[WEFT__MATCH_LONGEST];
    uint32_t count;
} weft__way_times;

/* Which way a segment runs. Zeroed: stages, until they are seen to take long. Owner: the segment.
 *   runs_left != 0: `way` is held for so many runs more; 0: a match with `rival` is on or begins
 *   match_runs == times[0].count + times[1].count < 2 * WEFT__MATCH_RUNS
 *   hold <= WEFT__HOLD_MOST */
typedef struct weft__segment_choice {
    uint32_t way, rival; /* weft__way */
    uint32_t runs_left;
    uint32_t hold;
    uint32_t rest; /* frames to run stage after stage, as far as the last look says */
    uint32_t match_runs;
    weft__way_times times[2]; /* of the way, of the rival, in this match */
    uint64_t usual_ns;        /* of the way that is held, in its match */
    uint32_t other_runs;      /* of it, in a row, of another time */
} weft__segment_choice;

/* The way of the next run. */
weft__way weft__segment_choice_way(const weft__segment_choice *choice);
/* After a run that took `ns`, of a segment with `ways` ways. A run of another way than that of
 * weft__segment_choice_way, which some reason forbade, says nothing. */
void weft__segment_choice_learn(weft__segment_choice *choice, weft__way way, uint64_t ns,
                                uint32_t ways);

/* Whether a graph that has run `runs` times is due to be ranked by the times of its tasks before
 * its next run; in question, if some of them have changed. */
static inline bool weft__graph_ranks(uint64_t runs, bool *in_question)
{
    *in_question = runs % WEFT__GRAPH_RANK_RUNS == WEFT__GRAPH_RANK_RUNS - 1;
    return runs == 2;
}

/* Whether a task takes another part of the whole than when the graph was ranked. */
static inline bool weft__task_has_shifted(uint64_t now, uint64_t then, uint64_t all_now,
                                          uint64_t all_then)
{
    return (now > 2 * then || then > 2 * now) && (now > all_now / 16 || then > all_then / 16);
}
