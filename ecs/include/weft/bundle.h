/* SPDX-License-Identifier: MIT */
/* bundle.h: bundles: an archetype and the places of its values in a struct of the program, prepared
 * once, so that an entity is created with its values in one call.
 *
 *   typedef struct Ship { Position at; Velocity speed; } Ship;
 *   weft_bundle ships = weft_bundle_open(
 *       world, WEFT_ARCHETYPE(world, position, velocity, enemy),
 *       (weft_bundle_field[]){{position, offsetof(Ship, at)}, {velocity, offsetof(Ship, speed)}},
 *       2);
 *   weft_entity e = weft_entity_create_bundle(world, &ships, &(Ship){.at = {1, 2, 3}});
 *
 * Public. Many entities at once are created faster by weft_entity_create_filled. */
#ifndef WEFT_BUNDLE_H
#define WEFT_BUNDLE_H

#include <weft/entity.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- bundles ---- */

#define WEFT_BUNDLE_FIELDS 16 /* values that one bundle can have */

/* A value in the caller's struct: its component, and its offset in bytes. */
typedef struct weft_bundle_field {
    weft_component component;
    uint32_t offset;
} weft_bundle_field;

/* An archetype with the places of values. Filled by the library; read only; may be copied; owns
 * nothing. Valid until the world is destroyed. {0} creates nothing. */
typedef struct weft_bundle {
    weft_archetype archetype;
    uint32_t field_count; /* private, as all that follows */
    struct {
        uint32_t type;
        uint32_t column;
        uint32_t bytes;
        uint32_t offset;
    } fields[WEFT_BUNDLE_FIELDS];
} weft_bundle;

/* Prepares the creation of entities of an archetype with values of the listed components; the
 * others are zeroed. {0} on failure (weft_world_error). Threads: owner, world idle. Errors: as
 * weft_entity_create; INVALID_ARGUMENT also for a component that is listed twice or that the
 * archetype lacks; TYPE_MISMATCH for a tag, BUFFER, SHARED, CHUNK or SPARSE component; LIMIT: more
 * than WEFT_BUNDLE_FIELDS. */
WEFT_API weft_bundle weft_bundle_open(weft_world *world, weft_archetype archetype,
                                      const weft_bundle_field *fields, uint32_t count);

/* Creates an entity with the values of a struct, which are copied; null on failure
 * (weft_world_error). Threads: owner, world idle. Errors: as weft_entity_create; INVALID_ARGUMENT
 * also when `bundle` or `values` is NULL. */
WEFT_API weft_entity weft_entity_create_bundle(weft_world *world, const weft_bundle *bundle,
                                               const void *values);

#ifdef __cplusplus
}
#endif
#endif
