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

static inline void weft__way_times_add(weft__way_times *times, uint64_t ns)
{
    times->total_ns += ns;
    times->count++;
    uint64_t shorter = ns;
    if (ns > times->longest[0]) {
        shorter = times->longest[0];
        times->longest[0] = ns;
    }
    if (shorter > times->longest[1]) times->longest[1] = shorter;
}

/* The mean of all runs but the longest; 0: there are no others. */
static inline uint64_t weft__way_times_usual(const weft__way_times *times)
{
    if (times->count <= WEFT__MATCH_LONGEST) return 0;
    return (times->total_ns - times->longest[0] - times->longest[1]) /
           (times->count - WEFT__MATCH_LONGEST);
}

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

/* One of the way, then four of each in turn: what takes long in every second, fourth, sixth or
 * eighth frame meets both alike. */
static inline bool weft__match_has_rival_next(const weft__segment_choice *choice)
{
    return ((choice->match_runs + 3) / 4 & 1) != 0;
}

/* The way of the next run. */
static inline weft__way weft__segment_choice_way(const weft__segment_choice *choice)
{
    bool is_rival = choice->runs_left == 0 && weft__match_has_rival_next(choice);
    return (weft__way)(is_rival ? choice->rival : choice->way);
}

/* Matches the way against another one of `ways` ways. */
static inline void weft__match_begin(weft__segment_choice *choice, uint32_t ways)
{
    choice->other_runs = 0;
    choice->times[0] = choice->times[1] = (weft__way_times){.total_ns = 0};
    choice->rival = (choice->rival + 1) % ways;
    if (choice->rival == choice->way) choice->rival = (choice->rival + 1) % ways;
}

/* The way stays unless the rival is faster by 1/64. */
static inline void weft__match_end(weft__segment_choice *choice)
{
    uint64_t way_ns = weft__way_times_usual(&choice->times[0]);
    uint64_t rival_ns = weft__way_times_usual(&choice->times[1]);
    bool has_lost = rival_ns + way_ns / 64 < way_ns;
    if (has_lost) {
        uint32_t loser = choice->way;
        choice->way = choice->rival;
        choice->rival = loser;
    }
    choice->hold = has_lost || choice->hold == 0 ? WEFT__HOLD_LEAST : 2 * choice->hold;
    if (choice->hold > WEFT__HOLD_MOST) choice->hold = WEFT__HOLD_MOST;
    choice->match_runs = 0;
    choice->usual_ns = has_lost ? rival_ns : way_ns;
    if (choice->way == WEFT__WAY_STAGES)
        choice->rest = choice->hold; /* without a look at them */
    else
        choice->runs_left = choice->hold;
}

static inline bool weft__match_is_decided(const weft__segment_choice *choice)
{
    uint32_t runs = choice->match_runs;
    if (runs != 2 * WEFT__MATCH_CLEAR_RUNS) return runs == 2 * WEFT__MATCH_RUNS;
    uint64_t way_ns = weft__way_times_usual(&choice->times[0]);
    uint64_t rival_ns = weft__way_times_usual(&choice->times[1]);
    return 5 * way_ns < 4 * rival_ns || 5 * rival_ns < 4 * way_ns;
}

/* After a run that took `ns`, of a segment with `ways` ways. A run of another way than that of
 * weft__segment_choice_way, which some reason forbade, says nothing. */
static inline void weft__segment_choice_learn(weft__segment_choice *choice, weft__way way,
                                              uint64_t ns, uint32_t ways)
{
    const weft__way expected = weft__segment_choice_way(choice);
    choice->rest = 0;
    if (way != expected) return;
    if (way == WEFT__WAY_STAGES && ns < WEFT__GRAPH_LEAST_NS) {
        *choice = (weft__segment_choice){.rest = WEFT__GRAPH_REMEASURE};
    } else if (choice->runs_left != 0) {
        bool is_other = ns > choice->usual_ns + choice->usual_ns / 2 || ns < choice->usual_ns / 2;
        choice->other_runs = is_other ? choice->other_runs + 1 : 0;
        choice->runs_left--;
        if (choice->other_runs == WEFT__HOLD_OTHER_RUNS) choice->runs_left = choice->hold = 0;
    } else {
        if (choice->match_runs == 0) weft__match_begin(choice, ways);
        weft__way_times_add(&choice->times[weft__match_has_rival_next(choice)], ns);
        choice->match_runs++;
        if (weft__match_is_decided(choice)) weft__match_end(choice);
    }
}

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

#endif
