/* SPDX-License-Identifier: MIT */
/* sgp4_init.h: what both initialisations share: quantities of the reports that are needed on the
 * way and then dropped.
 */
#ifndef WEFT_SCREEN_SGP4_INIT_H
#define WEFT_SCREEN_SGP4_INIT_H

#include "sgp4.h"

struct sgp4_init {
    double sinio, cosio, cosio2, beta, beta2, con41, x1mth2; /* shape and inclination */
    double no, ao;                               /* Brouwer mean motion, semi-major axis */
    double sfour, tsi, eta, coef, cc1, cc4, cc5; /* atmosphere */
    double mdot, argpdot, nodedot, nodecf;       /* secular rates */
    int is_simple;                               /* perigee below 220 km: linear drag only */
};

/* What struct sgp4_near and struct sgp4_deep have in common, as the beginning of an initialiser. */
#define SGP4_SHARED_FIELDS(e, s)                                                                   \
    .epoch_day = (e)->epoch_day, .epoch_fraction = (e)->epoch_fraction, .mo = (e)->mean_anomaly,   \
    .mdot = (s)->mdot, .argpo = (e)->perigee, .argpdot = (s)->argpdot, .nodeo = (e)->node,         \
    .nodedot = (s)->nodedot, .nodecf = (s)->nodecf, .ecco = (e)->eccentricity, .no = (s)->no,      \
    .ao = (s)->ao, .cc1 = (s)->cc1, .bcc4 = (e)->bstar * (s)->cc4, .t2cof = 1.5 * (s)->cc1

void sgp4_init_common(const struct sgp4_elements *elements, struct sgp4_init *init);

#endif
