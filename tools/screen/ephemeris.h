/* SPDX-License-Identifier: MIT */
/* ephemeris.h: the positions and velocities of all objects at the steps of one batch, in single
 * precision: what propagation writes and the pair search reads. The theory is asked once in
 * SKY_SPAN_S seconds; states between two of its own are interpolated, but where one of them is
 * in doubt: so an object ends at the step at which the theory says so.
 *
 * One array per quantity and step, indexed by the object's place in the batch, so that
 * propagation writes and the search reads memory in order. Objects are written by the owner of
 * their rows, each place by one thread.
 */
#ifndef WEFT_SCREEN_EPHEMERIS_H
#define WEFT_SCREEN_EPHEMERIS_H

#include <stddef.h>

#include "approach.h"
#include "sky.h"

/* `first_step` and `step_count` change from batch to batch, the rest never. */
struct ephemeris {
    const struct sgp4_kernels *kernels;
    const struct sky_kernels *sky_kernels;
    const struct approach_window *window;
    uint32_t first_step, step_count; /* steps in this batch */
    uint32_t step_capacity;
    uint32_t object_capacity, object_count;
    float *values; /* [step][x y z vx vy vz][object] */
};

int ephemeris_init(struct ephemeris *e, uint32_t step_capacity, uint32_t object_capacity);
void ephemeris_fini(struct ephemeris *e);

/* All objects at step `step` of the batch (0..step_count - 1). */
struct sky ephemeris_sky(const struct ephemeris *e, uint32_t step);

/* What a batch did to an object: the first step it has no valid state at and the enum sgp4_error
 * of that (0: none), and a bound of its speed. */
struct ephemeris_fate {
    uint32_t error;
    uint32_t step; /* counted from the start of the window */
    float fastest_km_s;
    uint32_t propagations; /* states of the theory */
};

/* Propagates `count` rows through the batch and writes them to places first..first + count - 1.
 * From the step of its error on an object is absent. fates[row] is overwritten. Threads: any, on
 * disjoint places. */
void ephemeris_near(const struct ephemeris *e, const struct sgp4_near *rows, uint32_t count,
                    uint32_t first, struct ephemeris_fate *fates);

/* The same for deep-space objects. Moves the integrator nodes of resonant rows along. */
void ephemeris_deep(const struct ephemeris *e, struct sgp4_deep *rows, uint32_t count,
                    uint32_t first, struct ephemeris_fate *fates);

#endif
