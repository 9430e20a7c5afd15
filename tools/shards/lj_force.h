/* SPDX-License-Identifier: MIT */
/* lj_force.h: forces of the Lennard-Jones potential, 4 u (1/r^12 - 1/r^6) cut off at a distance,
 * from lists of neighbours; compiled once per instruction set, equal to the bit.
 *
 * Lists are full: each atom has all its neighbours, in an order of the caller, so what is summed
 * for an atom does not depend on who has the neighbour.
 */
#ifndef WEFT_SHARDS_LJ_FORCE_H
#define WEFT_SHARDS_LJ_FORCE_H

#include <stdbool.h>
#include <stdint.h>

enum { LJ_LANES = 4 };

/* A position that is read as one vector; the fourth number counts for nothing. */
typedef struct lj_place {
    _Alignas(32) double at[4];
} lj_place;

/* An atom: its neighbours are places[list[0 .. count - 1]], count a multiple of LJ_LANES. */
typedef struct lj_atom {
    const double *at;
    const uint16_t *list;
    uint32_t count;
} lj_atom;

/* Sums of one atom. `energy` and `virial` count each pair from both of its atoms. */
typedef struct lj_sums {
    double force[3];
    double energy, virial;
} lj_sums;

typedef struct lj_forces {
    /* What lies beyond the cut-off adds nothing. `with_energy`: also fills the last two sums. */
    void (*of_atom)(const lj_place *places, const lj_atom *atom, double cut_square,
                    bool with_energy, lj_sums *out);
    /* The places [0, count) within sqrt(square) of `at`, but `self`, by number; returns how many.
     * `list` has room for count + LJ_LANES. */
    uint32_t (*find)(const lj_place *places, uint32_t count, const double at[3], uint32_t self,
                     double square, uint16_t *list);
} lj_forces;

/* The fastest that this processor runs. */
const lj_forces *lj_forces_best(void);

#endif
