/* SPDX-License-Identifier: MIT */
/* approach.h: approaches: the exact definition of what the job reports, and its refinement for
 * many pairs at a time.
 *
 * The window is cut into steps of equal length. Pair (a, b) has an approach in step k when its
 * range rate r.v (relative position times relative velocity, from the propagator, in double
 * precision) is below zero at the step's begin and not below zero at its end. The time of
 * closest approach is the root in between, the miss is the distance there, and the approach is
 * reported when the miss is below the threshold. Begin and end of neighbouring steps are the
 * same numbers, so each approach belongs to exactly one step; two objects with the same elements
 * have none.
 */
#ifndef WEFT_SCREEN_APPROACH_H
#define WEFT_SCREEN_APPROACH_H

#include <stdint.h>

#include "moment.h"
#include "sgp4.h"

/* The elements of one object: exactly one pointer is set. */
struct approach_object {
    const struct sgp4_near *near;
    const struct sgp4_deep *deep;
};

/* The window and its steps. */
struct approach_window {
    struct moment start;
    double step_s;
    uint32_t step_count;
    double threshold_km;
};

/* A pair that may have an approach in a step. */
struct approach_suspect {
    struct approach_object a, b;
    uint32_t step;
};

/* What refinement found. `tca_s` counts from the window's start. */
struct approach {
    double tca_s, miss_km, vrel_km_s;
    int is_below_threshold;
};

/* Refines `count` suspects; approach[i] belongs to suspects[i]. Any number; worked off 32 at a
 * time. */
void approach_refine(const struct sgp4_kernels *kernels, const struct approach_window *window,
                     const struct approach_suspect *suspects, uint32_t count,
                     struct approach *approaches);

/* How far apart a pair is at the begins of all steps and at the end of the window; what holds at
 * its two ends. `is_valid`: both have a state at each of these times. */
struct approach_span {
    double nearest_km, farthest_km;
    double first_km, last_km;     /* distance at the window's start and end */
    double first_rate, last_rate; /* r.v there */
    double first_vrel_km_s, last_vrel_km_s;
    int is_valid;
};

/* Follows `count` pairs (`step` is not used) through the window; spans[i] belongs to pairs[i].
 * Cost: a propagation of both objects per step. */
void approach_follow(const struct sgp4_kernels *kernels, const struct approach_window *window,
                     const struct approach_suspect *pairs, uint32_t count,
                     struct approach_span *spans);

/* How two objects meet at one moment. */
struct approach_view {
    double angle_degrees; /* between the velocities: 0 the same way, 180 head-on */
    double radial_km, along_km,
        cross_km;   /* b from a: up, in the direction of flight, to the left */
    double x, y, z; /* of a, km, true equator and mean equinox of date */
};

/* Looks at `count` pairs at `seconds`[i] from the window's start. */
void approach_look(const struct sgp4_kernels *kernels, const struct approach_window *window,
                   const struct approach_suspect *pairs, const double *seconds, uint32_t count,
                   struct approach_view *views);

/* Begin of step k in seconds from the start of the window; its middle. The one place these are
 * computed. */
static inline double approach_step_begin(const struct approach_window *window, uint32_t step)
{
    return (double)step * window->step_s;
}

static inline double approach_step_middle(const struct approach_window *window, uint32_t step)
{
    return ((double)step + 0.5) * window->step_s;
}

#endif
