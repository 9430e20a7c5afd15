/* SPDX-License-Identifier: MIT */
/* stress.h: what a stress scenario is, for those who write one.
 *
 * A file tools/stress_<topic>.c joins `weft stress` by its name and ends with its list:
 *
 *     const weft_stress_scenario weft_stress_scenarios_churn[] = {
 *         {"churn", "creates and destroys from all workers",
 *          churn_create, churn_round, churn_destroy},
 *         {0}};
 *
 * Work is counted in rounds, never in time: what round k does follows from (seed, k) and from the
 * state that rounds 0..k-1 left, and not from the number of workers or their timing. --seconds
 * only decides how many whole rounds are run; the first `weft_stress_scenario.rounds` of them
 * always run, and the world hash that is printed covers exactly those. So the same scenario and
 * seed print the same hash for every --workers and every --seconds.
 */
#ifndef WEFT_TOOLS_STRESS_H
#define WEFT_TOOLS_STRESS_H

#include <weft/base.h>

#include <stdbool.h>
#include <stdint.h>

/* The running scenario. Owner: the harness. `seed`, `workers` and `round` are constant inside a
 * call; weft_stress_error may be called by any thread, everything else by the calling thread
 * only. */
typedef struct weft_stress {
    uint64_t seed;    /* of this round: differs between rounds, follows from --seed */
    uint32_t workers; /* --workers: must not change what the round does */
    uint32_t round;   /* 0, 1, 2, ... */
    bool with_faults; /* --faults: refused memory, late workers, forced steals */
    /* For the descriptors of worlds and pools: with --faults a hook and a system that inject them,
     * else zero and NULL. Valid until the scenario's `destroy` has returned. */
    weft_allocator allocator;
    const weft_os *os;
    struct weft_stress_faults *faults; /* of the harness; NULL without --faults */
} weft_stress;

typedef struct weft_stress_scenario {
    const char *name;    /* NULL ends a list */
    const char *summary; /* one line, for --list */
    /* Makes the state of the scenario; NULL result = failed, already reported. May be NULL. */
    void *(*create)(weft_stress *stress);
    /* Runs one round, checks every invariant it knows, returns the hash of the world after it. */
    uint64_t (*round)(weft_stress *stress, void *state);
    void (*destroy)(void *state); /* may be NULL */
    uint32_t rounds;              /* rounds that the hash covers; 0 = 4 */
    bool is_round_alone; /* despite its state a round does the same without those before it */
    bool has_no_world;   /* it works with jobs alone: there is nothing to inspect */
} weft_stress_scenario;

/* Reports one broken promise; the run ends after this round with status 1 and prints the command
 * that repeats it. Threads: any. */
void weft_stress_error(weft_stress *stress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether something has been reported in this run. Threads: any. */
bool weft_stress_has_errors(void);

/* With --faults: from now on memory is refused now and then, which a scenario must survive; or no
 * longer. Which request is refused follows from the seed of the round and its number in the round;
 * at the start of a scenario and between its rounds nothing is refused. Threads: calling thread,
 * while no other thread allocates. */
void weft_stress_refuse_memory(weft_stress *stress, bool is_allowed);

/* One round of the scenario "relations"; the hash of its worlds. Threads: calling thread. */
uint64_t weft_stress_relations(weft_stress *stress);

/* Small seeded generator (splitmix64) for what a round does; give each job its own state, made from
 * the round's seed and the index of the work, not of the worker. Threads: owner of the state. */
static inline uint64_t weft_stress_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
