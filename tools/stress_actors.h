/* SPDX-License-Identifier: MIT */
/* stress_actors.h: a random world with random systems, all by one seed: what the scenarios of
 * stress_schedule.c step in several ways.
 *
 * Systems compute with integers only and from what they declare, so that a step has the same
 * result for every way of execution, compiler and level of optimisation. They are named actor0,
 * actor1, ..., components kind0, kind1, ...
 */
#ifndef WEFT_TOOLS_STRESS_ACTORS_H
#define WEFT_TOOLS_STRESS_ACTORS_H

#include "stress.h"

#include <weft/weft.h>

/* What a world is made of. */
typedef struct weft_stress_recipe {
    uint64_t seed;
    uint32_t scale;  /* rows of a group of entities */
    uint32_t one_in; /* systems records commands; 1: all do */
} weft_stress_recipe;

/* The world and its systems. */
typedef struct weft_stress_actors weft_stress_actors;

/* NULL: no memory. The caller ends it. */
weft_stress_actors *weft_stress_actors_begin(const weft_stress *stress,
                                             const weft_stress_recipe *recipe, uint32_t workers,
                                             const weft_schedule_desc *options);
void weft_stress_actors_end(weft_stress_actors *actors);
weft_world *weft_stress_actors_world(weft_stress_actors *actors);

#endif
