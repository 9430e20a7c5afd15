/* SPDX-License-Identifier: MIT */
/* stress_runner.h: runs stress scenarios for `weft stress` (tools/cmd_stress.c).
 *
 * Private to the command; authors of scenarios need stress.h only.
 */
#ifndef WEFT_TOOLS_STRESS_RUNNER_H
#define WEFT_TOOLS_STRESS_RUNNER_H

#include "stress.h"

/* What `weft stress` was asked to do; constant during a run. */
typedef struct weft_stress_config {
    uint64_t seed;
    double seconds;  /* of a scenario; without a deadline it runs its hashed rounds to their end */
    double deadline; /* of all scenarios, as seconds of CLOCK_MONOTONIC; 0: none */
    bool is_bounded; /* one that is alone has a deadline, too */
    uint32_t left;   /* scenarios behind this one */
    uint32_t workers;
    uint32_t rounds; /* exact number of rounds; 0 = by time */
    uint32_t from;   /* the first round; not 0 only for scenarios without state between rounds */
    bool with_faults;
    bool is_json;
    bool is_inspected; /* --inspect: asked for */
} weft_stress_config;

/* Prints name and summary of those of these names; "all" and no name: of every scenario. */
void weft_stress_list(char *const *names, int count, bool is_json);
/* Whether a round can be run without those before it. */
static inline bool weft_stress_is_round_alone(const weft_stress_scenario *scenario)
{
    return scenario->create == NULL || scenario->is_round_alone;
}

/* NULL when there is no scenario of that name; *near gets the nearest name or NULL. */
const weft_stress_scenario *weft_stress_find(const char *name, const char **near);
/* The seed of a round. */
uint64_t weft_stress_seed_of(uint64_t seed, uint32_t round);
/* Number of scenarios, and the one at `index` in the order of --list. */
uint32_t weft_stress_count(void);
const weft_stress_scenario *weft_stress_at(uint32_t index);
/* Seconds of CLOCK_MONOTONIC. */
double weft_stress_now(void);
/* Runs one scenario and prints its line; returns the number of errors. */
uint64_t weft_stress_run(const weft_stress_config *config, const weft_stress_scenario *scenario);

/* `weft stress --replay FILE`: runs the order that a failure left against the serial way; returns
 * the status of the command: 1 when it fails again. */
int weft_stress_replay(const char *path);

#endif
