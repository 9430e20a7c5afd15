/* SPDX-License-Identifier: MIT */
/* brute.h: the check of the pair search: all pairs of objects at chosen steps, in double precision,
 * without any of its parts.
 *
 * Every pair whose distance at the middle of a step does not rule out a meeting within half a
 * step (distance above the threshold plus what both can travel) is refined by the definition of
 * an approach. Nothing of the grid, of single precision or of the straight-line test is used.
 * Cost: n^2 / 2 distances a step.
 */
#ifndef WEFT_SCREEN_BRUTE_H
#define WEFT_SCREEN_BRUTE_H

#include "approach.h"
#include "sky.h"

/* All objects at the middle of a step. Owner: the caller. Rows may be searched by several
 * threads at once. */
struct brute {
    const struct sgp4_kernels *kernels;
    const struct sky_kernels *sky_kernels;
    const struct approach_window *window;
    const struct approach_object *objects; /* [count] */
    uint32_t count, step;
    double *position[3]; /* [count] each, km */
    double *reach;       /* [count]: half the threshold plus half a step; absent: far below 0 */
};

/* One approach found, and the objects of it. */
struct brute_approach {
    uint32_t a, b;
    struct approach approach;
};

struct brute_list {
    struct brute_approach *items;
    uint32_t count, capacity;
};

/* Propagates all objects; lost_step[i] is the first step at which object i is no more
 * (UINT32_MAX: never). Set kernels, window, objects, count and step first. Returns -1 without
 * memory; brute_fini() in any case. */
int brute_init(struct brute *brute, const uint32_t *lost_step);
void brute_fini(struct brute *brute);

/* Appends the approaches of rows [begin, end) with all later objects; a < b. Returns -1 without
 * memory. */
int brute_rows(const struct brute *brute, uint32_t begin, uint32_t end, struct brute_list *list);

void brute_list_fini(struct brute_list *list);

#endif
