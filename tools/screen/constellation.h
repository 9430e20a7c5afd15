/* SPDX-License-Identifier: MIT */
/* constellation.h: groups of satellites by the first word of their names: STARLINK-1007 and
 * STARLINK-1008 are one.
 *
 * Rocket bodies (R/B) and debris (DEB) belong to none. A word that fewer than
 * CONSTELLATION_MEMBERS satellites share makes no group; these belong to group 0, which has no
 * name.
 */
#ifndef WEFT_SCREEN_CONSTELLATION_H
#define WEFT_SCREEN_CONSTELLATION_H

#include "tle.h"

enum { CONSTELLATION_MEMBERS = 32 };

/* One group: its word and how many belong to it. */
struct constellation {
    char name[TLE_NAME_BYTES];
    uint32_t count;
};

/* All groups of a catalogue, most members first after group 0. Owns its arrays. */
struct constellations {
    struct constellation *groups;
    uint32_t count;     /* with group 0; at least 1 */
    uint32_t *group_of; /* [objects of the catalogue] */
};

/* Returns 0, or -1 without memory (nothing to free then). */
int constellations_init(struct constellations *all, const struct tle_catalogue *catalogue);
void constellations_fini(struct constellations *all);

#endif
