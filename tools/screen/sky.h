/* SPDX-License-Identifier: MIT */
/* sky.h: All objects at one moment, and the search for pairs of them that may come close within
 * half a step of it.
 *
 * The search is a sweep: space is cut into rows (along y) as wide as two objects can close in
 * half a step, and each row into thin columns (along z), a quarter of that; both are endless in
 * x, and folded onto a torus. A radix sort in two passes, by column, then by row, brings the
 * objects of a row together in the order of their columns. A pair that can meet is in the same
 * or in touching rows, at most four columns apart: windows that move along both rows hold all
 * that an object must be compared with. No cubes: satellites are so thin in space that finding
 * cells costs more than comparing what is in them.
 *
 * Few objects (low perigees of eccentric orbits) are faster than a circular orbit can be. They
 * are kept out of the rows, and look two rows and eight columns far instead.
 *
 * The search never misses a pair (bounds below) and reports some that do not come close;
 * refinement decides, in double precision with the real propagator.
 */
#ifndef WEFT_SCREEN_SKY_H
#define WEFT_SCREEN_SKY_H

#include <stdint.h>

#include "sgp4.h"

/* Positions (km) and velocities (km/s) of `count` objects. An object that is no more has x =
 * SKY_ABSENT. */
struct sky {
    uint32_t count;
    float *x, *y, *z, *vx, *vy, *vz;
};

#define SKY_ABSENT 1e30f

/* Speed on a circular orbit just above the atmosphere, km/s: "slow" objects are not faster. */
#define SKY_SLOW_KM_S 7.8

/* Seconds between two states of the theory, at most: at the steps in between a state is the
 * cubic through both positions and velocities (Hermite). Steps longer than half of it have all
 * their states from the theory. */
#define SKY_SPAN_S 60.0

/* What "may come close" means; all in km and s. Made by sky_rules_of(). */
struct sky_rules {
    float half_step;
    float slow; /* greatest speed of a slow object, km/s */
    float
        limit; /* threshold plus the errors of interpolation, straight lines and single precision */
    float reach;   /* how far apart two slow objects can be and still meet */
    float per_row; /* rows per km; a row has the width of SKY_COLUMNS_NEAR columns */
};

/* Rows and columns of the torus, powers of two; how many columns are as wide as a row. */
enum { SKY_ROWS = 256, SKY_COLUMNS = 1024, SKY_COLUMNS_NEAR = 4 };

/* How wrong an interpolated position can be, in km, for steps of this length: 0 where none is
 * interpolated. */
double sky_blend_km(double step_s);

/* `fastest_km_s` bounds the speed of all objects; when that is little (all are far out) rows
 * are narrower. */
struct sky_rules sky_rules_of(double step_s, double threshold_km, double fastest_km_s);

/* An object in the order of rows and columns. */
struct sky_body {
    float x, y, z;
    uint32_t object; /* index into the sky */
    float vx, vy, vz;
    uint32_t cell; /* row * SKY_COLUMNS + column */
};

/* One sky sorted into rows. Owner: the caller; one thread at a time. */
struct sky_grid {
    uint32_t capacity;   /* objects */
    uint32_t *cell_of;   /* [capacity], by object; row SKY_ROWS: fast, the one after: absent */
    uint32_t *by_column; /* [capacity]: objects */
    uint32_t row_end[SKY_ROWS + 2]; /* bodies of row r are [row_end[r - 1], row_end[r]) */
    struct sky_body *bodies;        /* [capacity]: slow objects in order, then the fast ones */
    uint32_t slow_count, body_count;
};

int sky_grid_init(struct sky_grid *grid, uint32_t capacity);
void sky_grid_fini(struct sky_grid *grid);

struct sky_pair {
    uint32_t a, b; /* indices of objects, a < b */
};

/* A growing list of pairs, and how many were compared to find them. Owner: the caller; zero it
 * first. */
struct sky_pairs {
    struct sky_pair *pairs;
    uint32_t count, capacity;
    uint64_t tested;
};

int sky_pairs_reserve(struct sky_pairs *list, uint32_t more);
void sky_pairs_fini(struct sky_pairs *list);

/* One build of the search; the builds differ in speed only. */
struct sky_kernels {
    const char *name;
    /* The states at a part of the way, 0 to 1, between two that are `seconds` apart. */
    void (*blend)(const struct sgp4_states *from, const struct sgp4_states *to, double seconds,
                  double part, struct sgp4_states *out);
    /* Writes the first `count` lanes of the states to places first.. of the sky, for
     * propagation. A lane whose `error` is not 0 or becomes so is absent; `fastest[lane]` is
     * raised to its speed. Returns how many were lost now. */
    uint32_t (*store)(const struct sgp4_states *states, double *error, float *fastest,
                      const struct sky *sky, uint32_t first, uint32_t count);
    /* Sorts the sky into the grid's rows. */
    void (*hash)(const struct sky *sky, const struct sky_rules *rules, struct sky_grid *grid);
    /* Appends the pairs of a hashed grid that may come within the limit during [-half_step,
     * +half_step], in an order that depends on the sky only. Returns 0, or -1 without memory. */
    int (*find_pairs)(const struct sky_grid *grid, const struct sky_rules *rules,
                      struct sky_pairs *found);
    /* Brute force for checking: all j > i with |r_j - r_i| <= reach[i] + reach[j]; positions in
     * double precision. Absent objects have a negative reach of large size. Returns how many
     * were written to `near`. */
    uint32_t (*neighbours)(const double *const position[3], const double *reach, uint32_t count,
                           uint32_t i, uint32_t *near);
};

uint32_t sky_kernels_available(const struct sky_kernels **kernels, uint32_t capacity);
const struct sky_kernels *sky_kernels_best(void);

#endif
