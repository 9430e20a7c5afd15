/* SPDX-License-Identifier: MIT */
/* run_choice.c: matches between the ways to run a segment. See run_choice.h. Owner, between
 * stages. */
#include "run_choice.h"

static void way_times_add(weft__way_times *times, uint64_t ns)
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
static uint64_t way_times_usual(const weft__way_times *times)
{
    if (times->count <= WEFT__MATCH_LONGEST) return 0;
    return (times->total_ns - times->longest[0] - times->longest[1]) /
           (times->count - WEFT__MATCH_LONGEST);
}

/* One of the way, then four of each in turn: what takes long in every second, fourth, sixth or
 * eighth frame meets both alike. */
static bool match_has_rival_next(const weft__segment_choice *choice)
{
    return ((choice->match_runs + 3) / 4 & 1) != 0;
}

weft__way weft__segment_choice_way(const weft__segment_choice *choice)
{
    bool is_rival = choice->runs_left == 0 && match_has_rival_next(choice);
    return (weft__way)(is_rival ? choice->rival : choice->way);
}

/* Matches the way against another one of `ways` ways. */
static void match_begin(weft__segment_choice *choice, uint32_t ways)
{
    choice->other_runs = 0;
    choice->times[0] = choice->times[1] = (weft__way_times){.total_ns = 0};
    choice->rival = (choice->rival + 1) % ways;
    if (choice->rival == choice->way) choice->rival = (choice->rival + 1) % ways;
}

/* The way stays unless the rival is faster by 1/64. */
static void match_end(weft__segment_choice *choice)
{
    uint64_t way_ns = way_times_usual(&choice->times[0]);
    uint64_t rival_ns = way_times_usual(&choice->times[1]);
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

static bool match_is_decided(const weft__segment_choice *choice)
{
    uint32_t runs = choice->match_runs;
    if (runs != 2 * WEFT__MATCH_CLEAR_RUNS) return runs == 2 * WEFT__MATCH_RUNS;
    uint64_t way_ns = way_times_usual(&choice->times[0]);
    uint64_t rival_ns = way_times_usual(&choice->times[1]);
    return 5 * way_ns < 4 * rival_ns || 5 * rival_ns < 4 * way_ns;
}

void weft__segment_choice_learn(weft__segment_choice *choice, weft__way way, uint64_t ns,
                                uint32_t ways)
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
        if (choice->match_runs == 0) match_begin(choice, ways);
        way_times_add(&choice->times[match_has_rival_next(choice)], ns);
        choice->match_runs++;
        if (match_is_decided(choice)) match_end(choice);
    }
}
