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

void sgp4_init_common(const struct sgp4_elements *elements, struct sgp4_init *init);

#endif
