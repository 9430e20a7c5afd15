/* SPDX-License-Identifier: MIT */
/* live_image.h: entities as images: their components with normalized values, of any world whose
 * types are those of the link.
 *
 * The thread that owns the world. */
#ifndef WEFT_LIVE_IMAGE_H
#define WEFT_LIVE_IMAGE_H

#include "live_state.h"

/* Where values are read: a world, its components, and what its handles are. On the stack. */
typedef struct weft__live_source {
    weft_live *live;
    weft_world *world;
    const weft_component *components;                         /* [type] */
    uint64_t (*key_of)(const void *user, weft_entity entity); /* of a target; 0: null */
    const void *user;
} weft__live_source;

/* Reads a component of an entity, normalized, into list `out`; false: memory. *value->at points
 * into the list. */
bool weft__live_read(const weft__live_source *source, weft_entity entity, uint32_t type,
                     weft__live_value *value);
/* The component of an image; NULL: it has none. */
const weft__live_value *weft__live_image_find(const weft__live_image *image, uint32_t type);

#endif
