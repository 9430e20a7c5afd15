/* SPDX-License-Identifier: MIT */
/* stress_faults.h: what `weft stress --faults` injects: refused memory, late threads, wake-ups
 * for no reason.
 *
 * A memory hook and an operating system (jobs/base/src/os.h) for descriptors. Memory is refused
 * only while the scenario allows it. A worker is held up where it reads the clock, before it
 * sleeps and before it wakes others; some sleeps end at once. Held up, a worker loses its work to
 * the others: so a delay is a forced steal as well. The k-th request of a run is refused or not by
 * seed and k alone.
 */
#ifndef WEFT_TOOLS_STRESS_FAULTS_H
#define WEFT_TOOLS_STRESS_FAULTS_H

#include "os.h"

/* Owner: the stress runner; must outlive what was created with `table` and `allocator`.
 * Constant after weft_stress_faults_init: table, allocator, real, delay_seed. */
typedef struct weft_stress_faults {
    weft_os table;
    weft_allocator allocator;
    const weft_os *real;
    uint64_t delay_seed;
    weft_a32 x_refuses;            /* 1: memory may be refused */
    weft_a64 x_refuse_seed;        /* what is refused follows from it and from x_requests */
    weft_a64 x_requests;           /* for memory, while x_refuses */
    weft_a64 x_delays;             /* places where a thread might have been held up */
    weft_a64 x_refused, x_delayed; /* faults that happened */
} weft_stress_faults;

/* Threads: owner, before a thread uses the table. */
void weft_stress_faults_init(weft_stress_faults *faults, uint64_t seed);
/* Allows or forbids refusals from now on; allowing starts their sequence of `seed` from its
 * beginning. Threads: owner, while no other thread allocates. */
void weft_stress_faults_refuse(weft_stress_faults *faults, uint64_t seed, bool is_allowed);

#endif
