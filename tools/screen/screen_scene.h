/* SPDX-License-Identifier: MIT */
/* screen_scene.h: satellites as entities of a scene: the component Satellite, the baker that makes
 * it of the records of a catalogue (tle_source), and the way from a world file back to a
 * catalogue, for `weft screen --scene`.
 */
#ifndef WEFT_SCREEN_SCREEN_SCENE_H
#define WEFT_SCREEN_SCREEN_SCENE_H

#include <weft/scene.h>

#include "tle.h"

/* A described component: what two-line elements say of one satellite. `name` is without what
 * follows its NUL. */
typedef struct Satellite {
    uint32_t number; /* of the catalogue */
    char name[28];
    struct sgp4_elements elements;
} Satellite;

/* Registers the component. Threads: owner, world idle. */
weft_component screen_scene_register(weft_world *world);

/* Bakes objects of kind "tle". */
extern const weft_baker_desc screen_scene_baker;

/* Reads the satellites of a world file that was baked. As tle_read; what is wrong is said on
 * stderr, as is TLE_FILE for a file without any. */
enum tle_result screen_scene_read(const char *path, tle_report_fn *report, void *user,
                                  struct tle_catalogue *catalogue);

#endif
