/* SPDX-License-Identifier: MIT */
/* stress_schedule.c: random worlds of random systems (stress_actors.h), to show that the result
 * of a step depends on nothing but its input.
 *
 * A round makes a random set of systems and a random population from its seed, and steps it under
 * several ways of execution: other numbers of workers, fused or not, every stage forced onto the
 * pool, random legal orders of systems, and drawn orders of the parts of stages on three workers.
 * All ways must give the same layout hash after every step.
 *
 *   order        systems that seldom record, so that many lie between two sync points, in 48 drawn
 *                orders, then on the pool
 *   determinism  100 random legal orders on 1, 2, 3, 4, 8, 16 and 64 workers in turn, fused and
 *                not; with WEFT_DEEP in the environment every order on every number of workers,
 *                both ways; 8 drawn orders; then a round of "relations" (stress_relation.c)
 *   scheduler    the given workers against one worker, larger worlds
 *   playback     systems that do little but record commands
 *
 * With --faults workers come late and wake up for no reason, which must change nothing; memory is
 * not refused, because a step that fails half-way has no result to compare.
 */
#include "stress_way.h"

#include <stdlib.h>

enum { SHUFFLES = 100, POOLS = 7, DRAWS = 8, ORDER_DRAWS = 48, DRAW_WORKERS = 3 };

static const uint32_t pool_workers[POOLS] = {1, 2, 3, 4, 8, 16, 64};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a ^ (b + 0x9e3779b97f4a7c15u);
    return weft_stress_random(&state);
}

/* The registered order (shuffle_seed 0), or a random legal one: on one number of workers and one
 * way of fusion, or on all of them both ways. */
static void compare_order(weft_stress *stress, const weft_stress_recipe *r, uint64_t shuffle_seed,
                          uint32_t ways, const uint64_t expected[WEFT_STRESS_STEPS])
{
    for (uint32_t i = 0; i < 2 * POOLS; i++) {
        const weft_stress_way way = {.workers = pool_workers[i % POOLS],
                                     .options = {.shuffle_seed = shuffle_seed,
                                                 .without_fusion = i >= POOLS,
                                                 .is_always_parallel = true}};
        if ((ways & 1u << i) != 0) weft_stress_way_compare(stress, r, &way, expected);
    }
}

/* Parts in an order drawn by a seed: as on a pool whose workers are as late as can be. */
static void compare_draw(weft_stress *stress, const weft_stress_recipe *r, uint32_t number,
                         const uint64_t expected[WEFT_STRESS_STEPS])
{
    const weft_stress_way way = {
        .workers = DRAW_WORKERS,
        .options = {.is_always_parallel = true,
                    .without_fusion = number % 2 == 1,
                    .shuffle_seed = number % 4 < 2 ? 0 : mix(r->seed, number + 1)},
        .mode = WEFT__PART_DRAW,
        .draw_seed = mix(r->seed, number)};
    weft_stress_way_compare(stress, r, &way, expected);
}

/* On the workers of --workers, fused and not. */
static void compare_pools(weft_stress *stress, const weft_stress_recipe *r,
                          const uint64_t expected[WEFT_STRESS_STEPS])
{
    for (int unfused = 0; unfused < 2; unfused++)
        weft_stress_way_compare(
            stress, r,
            &(weft_stress_way){.workers = stress->workers,
                               .options = {.is_always_parallel = true, .without_fusion = unfused}},
            expected);
}

static uint64_t determinism_round(weft_stress *stress, void *state)
{
    (void)state;
    const uint32_t all = (1u << 2 * POOLS) - 1;
    const bool is_deep = getenv("WEFT_DEEP") != NULL;
    const weft_stress_recipe r = {stress->seed, 150, 2};
    uint64_t expected[WEFT_STRESS_STEPS], random = stress->seed;
    if (!weft_stress_way_run(stress, &r, &weft_stress_serial, expected)) return 0;
    for (uint32_t i = 0; i < DRAWS; i++) compare_draw(stress, &r, i, expected);
    compare_order(stress, &r, 0, all, expected);
    for (uint32_t i = 0; i < SHUFFLES; i++)
        compare_order(stress, &r, weft_stress_random(&random) | 1,
                      is_deep ? all : 1u << i % (2 * POOLS), expected);
    if (weft_stress_has_errors()) return 0;
    return mix(expected[WEFT_STRESS_STEPS - 1], weft_stress_relations(stress));
}

static uint64_t order_round(weft_stress *stress, void *state)
{
    (void)state;
    const weft_stress_recipe r = {stress->seed, 200, 8};
    uint64_t expected[WEFT_STRESS_STEPS];
    if (!weft_stress_way_run(stress, &r, &weft_stress_serial, expected)) return 0;
    for (uint32_t i = 0; i < ORDER_DRAWS; i++) compare_draw(stress, &r, i, expected);
    compare_pools(stress, &r, expected);
    return expected[WEFT_STRESS_STEPS - 1];
}

static uint64_t against_serial(weft_stress *stress, const weft_stress_recipe *r)
{
    uint64_t expected[WEFT_STRESS_STEPS];
    if (!weft_stress_way_run(stress, r, &weft_stress_serial, expected)) return 0;
    compare_draw(stress, r, 0, expected);
    compare_pools(stress, r, expected);
    return expected[WEFT_STRESS_STEPS - 1];
}

static uint64_t scheduler_round(weft_stress *stress, void *state)
{
    (void)state;
    return against_serial(stress, &(weft_stress_recipe){stress->seed, 3000, 2});
}

static uint64_t playback_round(weft_stress *stress, void *state)
{
    (void)state;
    return against_serial(stress, &(weft_stress_recipe){stress->seed, 500, 1});
}

const weft_stress_scenario weft_stress_scenarios_schedule[] = {
    {"order", "random systems: one result for any order of slices on any workers", NULL,
     order_round, NULL, 8, false},
    {"determinism", "random systems: one result for workers 1..64, fusion, 100 shuffled orders",
     NULL, determinism_round, NULL, 8, false},
    {"scheduler", "random systems over larger worlds: parallel against serial", NULL,
     scheduler_round, NULL, 8, false},
    {"playback", "random systems that record commands: parallel against serial", NULL,
     playback_round, NULL, 16, false},
    {0},
};
