/* SPDX-License-Identifier: MIT */
/* test_cost_streams.c: streams of loops on two workers whose second core comes and goes, played
 * without a clock: what they take with the decisions of cost.h, against one worker alone. The
 * bounds are what was measured, and 3 % of it. A step or constant of cost.c that is taken out has
 * to break one of them, or it is not worth its lines. */
#include "cost.h"
#include "plain.h"

#include <math.h>
#include <stdio.h>

#define ITEMS 1000
#define SEEDS 5
#define SEARCH 40000 /* how long a worker looks for work before it sleeps, in ns */
#define PLAYED_NS 2e9

/* Times in ns. The second core is busy in bursts, for `share` of the time; a run on one worker is
 * interrupted with the probability `interrupt` for `interrupt_ns`. */
typedef struct stream {
    const char *name;
    double alone, gain; /* of a run on one worker, and how many times faster two are */
    double bursts_ns, share;
    double idle_ns; /* between runs */
    double interrupt, interrupt_ns;
    double spread;  /* even and odd runs take 1 - spread and 1 + spread */
    uint32_t row;   /* runs before a rest of 20 ms; 0: no rests */
    uint32_t cold;  /* splits after a rest that take twice what one worker takes */
    double turn_ns; /* in every other such time, both workers run on halves of one core: one takes
                       1.7 times as long beside a search, a split 1.4 times what one takes alone */
    double most;    /* bound: share of what one worker alone takes, uninterrupted */
} stream;

static const stream streams[] = {
    {"gains", 1e6, 1.9, .idle_ns = 1e5, .most = 0.547},
    {"rarely busy core", 1e6, 1.9, 4e6, 0.1, 1e5, .most = 0.618},
    {"often busy core", 1e6, 1.9, 4e6, 0.3, 1e5, .most = 0.795},
    {"rarely busy core, short loop", 1e5, 1.8, 4e6, 0.1, 1e5, .most = 0.748},
    {"short bursts", 1e5, 1.8, 3e5, 0.3, 1e5, .most = 0.929},
    {"60 Hz", 1e6, 1.8, 4e6, 0.1, 1.6e7, .most = 0.694},
    {"uneven", 1e6, 1.9, .idle_ns = 1e5, .spread = 0.5, .most = 0.549},
    {"uneven, busy core", 1e6, 1.9, 4e6, 0.1, 1e5, .spread = 0.5, .most = 0.868},
    {"mostly busy core", 1e5, 1.8, 1e6, 0.5, 1e5, .most = 1.08},
    {"gains little, busy core", 2e5, 1.2, 2e6, 0.5, 1e5, .most = 1.058},
    {"loses little", 1e6, 0.9, .idle_ns = 1e5, .most = 1.045},
    {"loses, busy core", 1e6, 0.8, 4e6, 0.1, 1e5, .most = 1.05},
    {"loses much", 1e5, 0.5, .idle_ns = 1e5, .most = 1.064},
    {"loses, interrupted", 6e4, 0.7, .interrupt = 0.01, .interrupt_ns = 2e5, .most = 1.082},
    {"rows, cold second core", 3.5e4, 1.9, .row = 60, .cold = 4, .most = 0.659},
    {"rows, cold, busy core", 3.5e4, 1.9, 4e6, 0.1, .row = 60, .cold = 4, .most = 0.763},
    {"a core, then half of one", 6.2e3, 1.5, .turn_ns = 7e7, .most = 0.918},
    {"uneven, short", 1e5, 1.9, .idle_ns = 1e5, .spread = 0.5, .most = 0.599},
    {"tiny, interrupted", 2e3, 1.0, .interrupt = 0.0001, .interrupt_ns = 4e6, .most = 1.229},
};

/* The second core and the dice of one play. */
typedef struct play {
    uint64_t dice;
    double now, burst_begin, burst_end;
    uint32_t cold; /* splits left that take longer */
    double awake;  /* until when the second worker searches */
} play;

static double chance(play *p)
{
    p->dice ^= p->dice << 13;
    p->dice ^= p->dice >> 7;
    p->dice ^= p->dice << 17;
    return (double)(p->dice >> 11) * 0x1p-53;
}

static void pass_bursts(play *p, const stream *s)
{
    while (s->share > 0 && p->burst_end <= p->now) {
        double gap = s->bursts_ns * (1 - s->share) / s->share;
        p->burst_begin = p->burst_end - log(1 - chance(p)) * gap;
        p->burst_end = p->burst_begin + s->bursts_ns * (0.5 + chance(p));
    }
}

static bool shares_core(const play *p, const stream *s)
{
    return s->turn_ns > 0 && fmod(p->now, 2 * s->turn_ns) >= s->turn_ns;
}

/* Two workers. A part that the second one holds when its core is taken waits for the core. */
static double run_split(play *p, const stream *s, double alone, weft__cost_split *split)
{
    const double wake = s->row != 0 || s->turn_ns > 0 ? 5e2 : 5e3;
    double wall = alone / s->gain + wake;
    if (shares_core(p, s)) wall = 1.4 * alone;
    if (p->cold > 0) p->cold--, wall = 2 * alone;
    double busy = 2 * wall;
    bool is_late = p->burst_begin <= p->now && p->now < p->burst_end;
    if (is_late) {
        busy = alone;
        wall = alone + wake + (chance(p) < 0.3 ? 5e4 : 0);
    } else if (p->burst_begin > p->now && p->burst_begin < p->now + wall) {
        double longer = p->burst_end - p->now - wall;
        if (longer > 0) wall += longer, busy += longer;
    }
    split->wall = (uint64_t)wall;
    split->busy = (uint64_t)busy;
    return wall;
}

static double run_one(play *p, const stream *s, weft__cost_state *cost, double alone)
{
    static const weft__cost_limits limits = {4000, 32000, 3000};
    uint64_t predicted = weft__cost_predict(cost, ITEMS), now = (uint64_t)p->now;
    uint64_t pay_off = s->turn_ns > 0 ? limits.awake_ticks : limits.asleep_ticks;
    bool is_short = weft__cost_is_short(predicted, &limits);
    pass_bursts(p, s);
    if (predicted != 0 && weft__cost_pays(cost, predicted, pay_off, now) &&
        !(is_short && weft__cost_is_checked(now, SEARCH))) {
        weft__cost_split split = {.is_short = is_short, .predicted = predicted, .count = ITEMS};
        double wall = run_split(p, s, alone, &split);
        p->awake = p->now + wall + SEARCH;
        split.now = (uint64_t)(p->now + wall);
        weft__cost_learn_split(cost, &split);
        return wall;
    }
    bool is_timed = predicted == 0 || weft__cost_is_timed(cost, predicted, limits.awake_ticks);
    double wall = alone * (0.98 + 0.04 * chance(p));
    if (shares_core(p, s) && p->now < p->awake) wall *= 1.7;
    if (chance(p) < s->interrupt) wall += s->interrupt_ns * (0.5 + chance(p));
    if (is_timed) weft__cost_learn(cost, (uint64_t)wall, ITEMS);
    return wall;
}

/* What the runs take, as a share of what one worker alone would. */
static double played(const stream *s, uint64_t seed)
{
    play p = {.dice = seed * UINT64_C(88172645463325252) | 1};
    weft_job_cost cost = {0};
    double wall = 0, runs = 0;
    for (; p.now < PLAYED_NS; runs++) {
        double uneven = fmod(runs, 2) == 0 ? 1 - s->spread : 1 + s->spread;
        double alone = s->alone * uneven * (0.97 + 0.06 * chance(&p));
        double taken = run_one(&p, s, weft__cost_state_of(&cost), alone);
        wall += taken;
        p.now += taken + s->idle_ns;
        if (s->row != 0 && (uint32_t)runs % s->row == 0) p.now += 2e7, p.cold = s->cold;
    }
    return wall / runs / s->alone;
}

PLAIN_TEST(streams_of_loops_take_no_longer_than_measured)
{
    uint32_t slower = 0;
    for (uint32_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        double sum = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) sum += played(&streams[i], seed);
        printf("%-30s %.3f of %.3f\n", streams[i].name, sum / SEEDS, streams[i].most);
        fflush(stdout);
        slower += sum / SEEDS > streams[i].most;
    }
    CHECK_U64(slower, 0);
}
