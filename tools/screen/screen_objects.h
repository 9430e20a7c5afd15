/* SPDX-License-Identifier: MIT */
/* screen_objects.h: all objects of a catalogue ready for the propagator, by their place in it: for
 * what looks at the result afterwards, beside the world.
 */
#ifndef WEFT_SCREEN_SCREEN_OBJECTS_H
#define WEFT_SCREEN_SCREEN_OBJECTS_H

#include "screen.h"

/* Arrays of the catalogue's length. Owner: the caller. */
struct screen_objects {
    struct sgp4_near *near;
    struct sgp4_deep *deep;
    struct approach_object *all;
    uint32_t *lost_step; /* the first step without a valid state; UINT32_MAX: it has all */
};

/* Returns 0, or -1 without memory (nothing to free then). */
int screen_objects_init(struct screen_objects *objects, const struct screen_result *result);
void screen_objects_fini(struct screen_objects *objects);

#endif
