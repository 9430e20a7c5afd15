/* SPDX-License-Identifier: MIT */
/* sgp4.h: SGP4 and SDP4: position and velocity of a satellite from its mean elements, for a
 * block of satellites at a time.
 *
 * Theory: F. R. Hoots, R. L. Roehrich, Spacetrack Report No. 3 (1980), with the corrections of
 * D. A. Vallado, P. Crawford, R. Hujsak, T. S. Kelso, "Revisiting Spacetrack Report #3", AIAA
 * 2006-6753; WGS-72 constants, the frame is TEME of date. Satellites with a period of 225
 * minutes or more are "deep" and also feel the Sun, the Moon and, near 12 and 24 hours,
 * resonance with the Earth's gravity field.
 *
 * Life of an object: sgp4_init() turns elements into one `struct sgp4_near` or `struct
 * sgp4_deep`, plain values that can be a component. To propagate, up to 32 of them are
 * transposed into a block (one array per quantity, the form in which a loop over satellites
 * becomes vector code), and a block is evaluated at as many times as wanted.
 *
 * Results depend on the elements and the time only: not on the compiler, the instruction set,
 * the neighbours in the block or the calls before.
 */
#ifndef WEFT_SCREEN_SGP4_H
#define WEFT_SCREEN_SGP4_H

#include <stddef.h>
#include <stdint.h>

#define SGP4_LANES 32

/* WGS-72. Distances in the theory are earth radii, times are minutes. */
#define SGP4_EARTH_KM 6378.135
#define SGP4_XKE 0.07436691613317342 /* sqrt(mu) in earth radii^1.5 per minute */
#define SGP4_J2 0.001082616
#define SGP4_J3 -0.00000253881
#define SGP4_J4 -0.00000165597

/* What a state's `error` can be; the numbers are those of AIAA 2006-6753. */
enum sgp4_error {
    SGP4_OK = 0,
    SGP4_ERROR_ECCENTRICITY = 1,           /* mean eccentricity outside [0, 1) */
    SGP4_ERROR_MEAN_MOTION = 2,            /* mean motion not above zero */
    SGP4_ERROR_PERTURBED_ECCENTRICITY = 3, /* after the Sun's and Moon's terms outside [0, 1] */
    SGP4_ERROR_SEMILATUS_RECTUM = 4,       /* below zero */
    SGP4_ERROR_DECAYED = 6,                /* below the surface */
};

/* Such a code in words. */
static inline const char *sgp4_error_text(uint32_t error)
{
    switch (error) {
    case SGP4_OK:
        return "none";
    case SGP4_ERROR_DECAYED:
        return "decayed";
    case SGP4_ERROR_MEAN_MOTION:
        return "no mean motion any more";
    default:
        return "no orbit any more";
    }
}

/* Mean elements as a two-line set gives them. A moment is a Julian day plus a fraction: one
 * double would cost 20 us. */
struct sgp4_elements {
    double epoch_day;      /* Julian date, ends in .5 */
    double epoch_fraction; /* of a day, [0, 1) */
    double mean_motion;    /* radians per minute, Kozai */
    double eccentricity;
    double inclination, node, perigee, mean_anomaly; /* radians */
    double bstar;                                    /* drag, 1 / earth radii */
};

/* Every quantity is a double, so that a row is also an array of doubles and a block is its
 * transpose. Names are those of the two reports. */
/* clang-format off */
#define SGP4_MEAN_COLUMNS(X)                                                                    \
    X(epoch_day) X(epoch_fraction) X(mo) X(mdot) X(argpo) X(argpdot) X(nodeo) X(nodedot)        \
    X(nodecf) X(ecco) X(no) X(ao) X(cc1) X(bcc4) X(t2cof)

/* Drag beyond the linear terms, all zero when perigee is below 220 km; then what depends on
 * inclination only. */
#define SGP4_NEAR_COLUMNS(X)                                                                    \
    SGP4_MEAN_COLUMNS(X)                                                                        \
    X(omgcof) X(xmcof) X(eta) X(delmo) X(sinmao) X(d2) X(d3) X(d4) X(bcc5)                      \
    X(t3cof) X(t4cof) X(t5cof)                                                                  \
    X(sinio) X(cosio) X(aycof) X(xlcof) X(con41) X(x1mth2) X(x7thm1)

/* Periodic terms of the Sun (s) and the Moon (l), their secular rates, resonance, and the
 * resonance integrator's node. */
#define SGP4_DEEP_COLUMNS(X)                                                                    \
    SGP4_MEAN_COLUMNS(X)                                                                        \
    X(inclo) X(zmos) X(zmol)                                                                    \
    X(se2) X(se3) X(si2) X(si3) X(sl2) X(sl3) X(sl4) X(sgh2) X(sgh3) X(sgh4) X(sh2) X(sh3)      \
    X(le2) X(le3) X(li2) X(li3) X(ll2) X(ll3) X(ll4) X(lgh2) X(lgh3) X(lgh4) X(lh2) X(lh3)      \
    X(dedt) X(didt) X(dmdt) X(domdt) X(dnodt)                                                   \
    X(resonance) X(gsto) X(xfact) X(xlamo) X(node_weight) X(perigee_weight)                     \
    X(q0) X(q1) X(q2) X(q3) X(q4) X(q5) X(q6) X(q7) X(q8) X(q9)                                 \
    X(atime) X(xli) X(xni) X(xldot) X(xndt) X(xnddt)

#define SGP4_SCALAR(name) double name;
#define SGP4_ARRAY(name) double name[SGP4_LANES];
/* clang-format on */

struct sgp4_near {
    SGP4_NEAR_COLUMNS(SGP4_SCALAR)
};

/* `resonance` is 0 (none), 1 (about 24 h) or 2 (about 12 h, eccentric); q0.. are its
 * coefficients. The fields from `atime` on are the integrator's node: always what stepping from
 * the epoch in units of 720 minutes gives, so moving the node changes the cost of the next
 * evaluation, never its result. */
struct sgp4_deep {
    SGP4_DEEP_COLUMNS(SGP4_SCALAR)
};

/* `offset` is the time from each row's epoch to the block's reference moment, in minutes. */
struct sgp4_near_block {
    _Alignas(64) SGP4_NEAR_COLUMNS(SGP4_ARRAY) double offset[SGP4_LANES];
};
struct sgp4_deep_block {
    _Alignas(64) SGP4_DEEP_COLUMNS(SGP4_ARRAY) double offset[SGP4_LANES];
};

/* What one evaluation of a block gives: km, km/s, and an enum sgp4_error per row. `doubt` is 0
 * where none is near: within a minute the row can neither get an error nor lose it (above 127
 * km, and no element close to where the theory ends), and it moves as smoothly as others
 * (eccentricity below 0.85). */
struct sgp4_states {
    _Alignas(64) double x[SGP4_LANES];
    double y[SGP4_LANES], z[SGP4_LANES];
    double vx[SGP4_LANES], vy[SGP4_LANES], vz[SGP4_LANES];
    double error[SGP4_LANES], doubt[SGP4_LANES];
};

/* One build of the kernels. `minutes` holds SGP4_LANES times, counted from the block's reference
 * moment. */
struct sgp4_kernels {
    const char *name;
    void (*near_states)(const struct sgp4_near_block *block, const double *minutes,
                        struct sgp4_states *out);
    void (*deep_states)(struct sgp4_deep_block *block, const double *minutes,
                        struct sgp4_states *out);
};

/* True when the elements belong to SDP4 (period of 225 minutes or more). */
int sgp4_is_deep(const struct sgp4_elements *elements);

/* Prepares one object. Elements must be finite, mean motion above zero, eccentricity in [0, 1). */
void sgp4_near_init(const struct sgp4_elements *elements, struct sgp4_near *near);
void sgp4_deep_init(const struct sgp4_elements *elements, struct sgp4_deep *deep);

/* Transposes `count` (1..SGP4_LANES) rows into a block whose time zero is the moment (day,
 * fraction); unused lanes repeat the first row. */
void sgp4_near_block_load(struct sgp4_near_block *block, const struct sgp4_near *const *rows,
                          uint32_t count, double day, double fraction);
void sgp4_deep_block_load(struct sgp4_deep_block *block, const struct sgp4_deep *const *rows,
                          uint32_t count, double day, double fraction);

/* Puts a resonant row's integrator node at its epoch, or moves it to the one for t minutes after
 * the epoch. */
void sgp4_deep_restart(struct sgp4_deep *deep);
void sgp4_deep_seek(struct sgp4_deep *deep, double t);

/* Copies the integrator nodes of the first `count` lanes back into rows, to save the next block
 * the way there. */
void sgp4_deep_block_keep(const struct sgp4_deep_block *block, struct sgp4_deep *const *rows,
                          uint32_t count);

/* The builds this processor can run, slowest first; returns how many. The last one is the one to
 * use. */
uint32_t sgp4_kernels_available(const struct sgp4_kernels **kernels, uint32_t capacity);
const struct sgp4_kernels *sgp4_kernels_best(void);

#endif
