/* SPDX-License-Identifier: MIT */
/* transform.h: places of entities relative to their parents, and the system that computes where
 * they are in the world.
 *
 * Public, optional: <weft/weft.h> does not include it, and a world pays for it once
 * weft_transform_create was called. The system runs by depth (relation.h): parents before their
 * children, each depth in parallel. */
#ifndef WEFT_TRANSFORM_H
#define WEFT_TRANSFORM_H

#include <weft/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- transforms ---- */

/* The value of the component LocalTransform: a point p of the entity is at
 * position + rotate(scale * p) in the space of its parent; without a parent, of the world. */
typedef struct weft_local_transform {
    float position[3];
    float scale;       /* the same in all directions */
    float rotation[4]; /* unit quaternion x, y, z, w */
} weft_local_transform;

/* The value of the component WorldTransform: coordinate i of a point p of the entity in the
 * world is rows[i][0] * p[0] + rows[i][1] * p[1] + rows[i][2] * p[2] + rows[i][3]. */
typedef struct weft_world_transform {
    float rows[3][4];
} weft_world_transform;

/* The value of the component LocalStretch, which an entity may have beside its LocalTransform for
 * what one scale cannot say, such as unequal scales: a point p of the entity is at position +
 * rotate(scale * q) then, where coordinate i of q is rows[i][0] * p[0] + rows[i][1] * p[1] +
 * rows[i][2] * p[2]. */
typedef struct weft_local_stretch {
    float rows[3][3];
} weft_local_stretch;

/* Handles of what weft_transform_create made. A value. */
typedef struct weft_transform {
    weft_component local; /* LocalTransform */
    weft_component world; /* WorldTransform */
    weft_system system;   /* "transforms" */
} weft_transform;

/* The transform that changes nothing. Threads: any. */
static inline weft_local_transform weft_local_transform_none(void)
{
    weft_local_transform none = {{0, 0, 0}, 1, {0, 0, 0, 1}};
    return none;
}

/* Registers LocalTransform, WorldTransform, LocalStretch (by its name: weft_component_find),
 * Parent, and the system "transforms" of `group` (NULL: "default"). It writes the WorldTransform
 * of all entities that have one and a LocalTransform, from that, from their LocalStretch if they
 * have one, and, where they have a Parent with a WorldTransform, from that. The second call
 * finds what the first made. `out` may be NULL. Errors: those of weft_component_create,
 * weft_component_parent and weft_system_create. Threads: owner, between steps. Cost of the
 * system: as docs/performance.md, transform.update. */
WEFT_API weft_result weft_transform_create(weft_world *world, const char *group,
                                           weft_transform *out);

#ifdef __cplusplus
}
#endif
#endif
