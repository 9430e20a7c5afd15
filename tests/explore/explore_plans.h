/* SPDX-License-Identifier: MIT */
/* explore_plans.h: the plans most scenarios use. Exhaustive ones must complete; long ones run under
 * --deep only. `weak`: delayed stores or stale loads at a time. */
#ifndef WEFT_EXPLORE_PLANS_H
#define WEFT_EXPLORE_PLANS_H

#include "explore.h"

#define PLAN_ALL(model, bound, weak)                                                               \
    {                                                                                              \
        model, EXPLORE_DFS, bound, weak, 0, 20000000, 0, true, false                               \
    }
#define PLAN_ALL_DEEP(model, bound, weak)                                                          \
    {                                                                                              \
        model, EXPLORE_DFS, bound, weak, 0, 2000000000, 0, true, true                              \
    }
#define PLAN_PCT(model, depth, runs, deep_runs)                                                    \
    {                                                                                              \
        model, EXPLORE_PCT, depth, 1, 0, runs, deep_runs, false, false                             \
    }
#define PLAN_RANDOM(model, runs, deep_runs)                                                        \
    {                                                                                              \
        model, EXPLORE_RANDOM, 0, 1, 0, runs, deep_runs, false, false                              \
    }
/* The same with injected faults: failing mappings and allocations, early futex returns. */
#define PLAN_ALL_FAULTS(model, bound, faults)                                                      \
    {                                                                                              \
        model, EXPLORE_DFS, bound, 1, faults, 20000000, 0, true, false                             \
    }
#define PLAN_PCT_FAULTS(model, depth, faults, runs, deep_runs)                                     \
    {                                                                                              \
        model, EXPLORE_PCT, depth, 1, faults, runs, deep_runs, false, false                        \
    }

#endif
