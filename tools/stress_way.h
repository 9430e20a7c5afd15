/* SPDX-License-Identifier: MIT */
/* stress_way.h: ways to execute the steps of a random world (stress_actors.h), and what is said
 * when two ways have different results: step, system, component, entity, both values, and a file
 * that repeats it.
 *
 * A way runs on the pool, where its parts are recorded, or in an order of parts drawn by a seed
 * (scheduler/src/dispatch/part_order.h). When its hash differs, the parts go to a file, are run
 * again in that order with a state log beside the serial way, and the logs are compared
 * (diverge.h).
 */
#ifndef WEFT_TOOLS_STRESS_WAY_H
#define WEFT_TOOLS_STRESS_WAY_H

#include "stress_actors.h"

#include "part_order.h"

enum { WEFT_STRESS_STEPS = 4 };

/* One way. `parts` [part_count] with mode REPLAY; `draw_seed` with DRAW. */
typedef struct weft_stress_way {
    uint32_t workers;
    weft_schedule_desc options;
    weft__part_mode mode;
    uint64_t draw_seed;
    weft__part *parts;
    uint32_t part_count;
} weft_stress_way;

/* All systems on one thread, in order. */
extern const weft_stress_way weft_stress_serial;

/* Steps a new world; hashes after every step. False: a step failed, reported. */
bool weft_stress_way_run(weft_stress *stress, const weft_stress_recipe *recipe,
                         const weft_stress_way *way, uint64_t hashes[WEFT_STRESS_STEPS]);

/* The same, compared with `expected`; what differs is reported as an error, once. */
void weft_stress_way_compare(weft_stress *stress, const weft_stress_recipe *recipe,
                             const weft_stress_way *way,
                             const uint64_t expected[WEFT_STRESS_STEPS]);

#endif
