/* SPDX-License-Identifier: MIT */
/* cost.h: predicts whether a loop is worth splitting.
 *
 * A weft_job_cost keeps a moving average of the cost of one item. A loop whose predicted total
 * is below the pay-off runs inline: waking a sleeping worker costs the waker about 5 us and
 * gains nothing before the sleeper runs; handing a part to a spinning worker costs two cache
 * misses. Small loops are timed only now and then (two clock reads are 20 ns).
 *
 * Splits keep an account: what they gain against one worker is credit, what they lose is taken
 * from it. A loop whose splits lost more than they had gained (the other core is busy, the
 * memory bus is full) pauses: it runs inline for 8 times what it lost, and for 16, 32 and 64
 * times when that happens again and again: then tries that fail cost 1.6 % of the time, and a
 * loop that lost little comes back soon. While the account is in credit there is no pause: a
 * host that takes a CPU away now and then costs single calls, and splitting gains all the same.
 * Credit is bounded, so that a core that becomes busy for good is noticed soon; and failures
 * without credit are repeated at once until they have lost 0.4 ms: a split that found its memory
 * cold, or whose worker lost its CPU, says nothing about the next (27 % slower without), and a
 * core that has just been woken takes up to three times as long for about half a millisecond
 * (59 %). While they are repeated they teach nothing new about one worker: an estimate that splits
 * raise may call their loss a gain (10 %). Only full credit ends the row of longer and longer
 * pauses (10 %).
 *
 * The percentages beside the constants and steps are of tests/jobs/test_cost_streams.c: how much
 * slower the loops of the worst of its streams become without.
 *
 * A cost belongs to one loop of the caller. Its words are atomic (relaxed: they are estimates) so
 * that the same loop may run from two jobs at once. */
#pragma once

#include "ticks.h"

#include <assert.h>
#include <weft/jobs.h>

#define WEFT__COST_FRACTION_BITS 10 /* cost of one item: ticks / 1024 */
#define WEFT__COST_ITEM_MAX (UINT64_C(1) << 40)
#define WEFT__COST_RUNS UINT64_C(63)
#define WEFT__COST_CHECK_PERIOD (UINT64_C(1) << 24) /* ticks, about 6.5 ms; a power of two */

/* When a loop pays. Part of the pool; constant after its create. */
typedef struct weft__cost_limits {
    uint64_t awake_ticks;  /* pay-off with a worker that looks for work */
    uint64_t asleep_ticks; /* pay-off when one must be woken */
    uint64_t grain_ticks;  /* default aim of one part */
} weft__cost_limits;

/* How weft_job_cost.opaque is used. Owner: the caller, between runs; in a run shared atomic,
 * relaxed: an estimate. */
typedef struct weft__cost_state {
    weft_a64 x_item;    /* ticks of one item << 10; 0: unknown */
    weft_a64 x_history; /* {retry time:40 | failures:3 | account:15 | runs:6}; failures: pauses in a
                           row; with none the retry time says nothing; account: what splits gained
                           less what they lost since the last pause, signed, in sixteenths of
                           the loop; none: 75 % slower */
} weft__cost_state;

static_assert(sizeof(weft__cost_state) == sizeof(weft_job_cost), "it lives in weft_job_cost");

static inline weft__cost_state *weft__cost_state_of(weft_job_cost *cost)
{
    return (weft__cost_state *)(void *)cost;
}

/* Predicted ticks for `count` items; 0 when nothing is known. */
static inline uint64_t weft__cost_predict(weft__cost_state *cost, uint32_t count)
{
    uint64_t item = at_load_rlx(&cost->x_item); /* relaxed: an estimate */
    return (uint64_t)(((weft__ticks_wide)item * count) >> WEFT__COST_FRACTION_BITS);
}

/* Counts a run; whether this one should be timed although it is small. */
static inline bool weft__cost_is_timed(weft__cost_state *cost, uint64_t predicted,
                                       uint64_t awake_ticks)
{
    uint64_t history = at_load_rlx(&cost->x_history); /* relaxed: an estimate */
    uint64_t counted = (history & ~WEFT__COST_RUNS) | ((history + 1) & WEFT__COST_RUNS);
    at_store_rlx(&cost->x_history, counted); /* relaxed: an estimate */
    bool is_large = predicted * 4 > awake_ticks, is_due = (history & 15) == 0;
    return is_large | is_due; /* not ||: one branch for the caller */
}

/* Forgets the cost of an item: what comes next is believed as it is. */
static inline void weft__cost_forget(weft__cost_state *cost)
{
    at_store_rlx(&cost->x_item, (uint64_t)0); /* relaxed: an estimate */
}

/* Whether a loop of so many ticks is so short that what splitting costs may make up half of it. */
static inline bool weft__cost_is_short(uint64_t predicted, const weft__cost_limits *limits)
{
    return predicted / 64 <= limits->awake_ticks;
}

/* Whether short loops run inline at `now`, to measure what one worker takes. What is measured
 * beside helpers does not say it: rows lie in another core's cache, and a helper that searches may
 * have half of this core. An estimate fed by that calls a loss a gain for ever (9 %). All short
 * loops of a process run inline at the same times, so that its workers fall asleep (within a frame
 * they may search on): for the `spin` ticks of a search, or 100 us, and a little longer, 1 to 2 %
 * of the time. */
bool weft__cost_is_checked(uint64_t now, uint64_t spin);

/* Feeds a measurement: `ticks` of work for `count` items. */
void weft__cost_learn(weft__cost_state *cost, uint64_t ticks, uint32_t count);

/* How many pauses in a row ended without a gain. */
static inline uint32_t weft__cost_failures(weft__cost_state *cost)
{
    return (uint32_t)(at_load_rlx(&cost->x_history) >> 21) & 7; /* relaxed: an estimate */
}

/* Whether splitting `predicted` ticks of work pays, given the pay-off. A loop in a pause waits for
 * its retry time. `now` counts only when there are failures. */
bool weft__cost_pays(weft__cost_state *cost, uint64_t predicted, uint64_t pay_off, uint64_t now);

/* Loops that ran inline because every other worker slept. Owner: one worker. */
typedef struct weft__cost_burst {
    uint64_t missed; /* ticks that a worker would have saved, had one been awake */
    uint64_t until;  /* when a worker woken by the last loop would give up searching */
} weft__cost_burst;

/* Counts a loop of `predicted` ticks at `now` that is split only when a worker is awake. Whether to
 * wake one for the loops after it: loops that follow each other within the `spin` ticks of a
 * search have missed more than waking costs. One short loop never wakes a worker, a row of them
 * does: else they stay serial for ever (2 workers: 1.0 instead of 1.8 times faster, 30 us each). */
bool weft__cost_burst_wakes(weft__cost_burst *burst, uint64_t predicted, uint64_t now,
                            uint64_t spin, uint64_t asleep_ticks);

/* Feeds the outcome of a split: it took `wall` ticks, one worker was predicted to take `alone`;
 * whether it gained. (Not the ticks the workers were busy: a worker that lost its CPU in the
 * middle looks busy.) */
bool weft__cost_judge_split(weft__cost_state *cost, uint64_t alone, uint64_t wall, uint64_t now);

/* One run that was split. Owner: the opener, on its stack. */
typedef struct weft__cost_split {
    bool is_short;      /* weft__cost_is_short */
    uint64_t predicted; /* ticks one worker was predicted to take; 0: not known, not judged */
    uint64_t wall;      /* ticks it took */
    uint64_t busy;      /* sum over its workers */
    uint64_t now;       /* when it ended */
    uint32_t count;     /* items */
} weft__cost_split;

/* Judges it and learns from it. A worker that lost its CPU looks busy. Taken for work, that would
 * make the loop look huge, and the next split that is as slow look like a gain: only splits that
 * gain may raise the estimate by much (34 % slower without). Of a short loop, a split says only
 * what is wrong by more than a factor of two (9 %). */
void weft__cost_learn_split(weft__cost_state *cost, const weft__cost_split *split);
