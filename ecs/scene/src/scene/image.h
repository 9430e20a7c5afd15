/* SPDX-License-Identifier: MIT */
/* image.h: what documents say of an entity, by the record of its object and by the tree: its
 * components and their values, where it stands, its parent, prefab and name. The one image that
 * fills and live links work on. By the owner of the scene. */
#pragma once

#include "component_type.h"
#include "scene_state.h"

#include <weft/transform.h>

enum { WEFT__IMAGE_VALUES = 1024, WEFT__IMAGE_NAME_BYTES = 64 }; /* as weft_entity_set_name */

/* A component of an entity.
 *   at NULL, bytes not 0: `count` entities, the first of them the own one of the node `target`
 *   (WEFT__NONE: null), the others those behind it in the tree */
typedef struct weft__image_value {
    uint32_t component; /* id in the schema */
    uint32_t count;     /* of a BUFFER: elements; else 1 */
    uint32_t target;
    bool is_step; /* the record gives it: references are those of the record */
    bool is_disabled;
    bool is_computed; /* by systems: it is there, its value does not count */
    const char *at;
    size_t bytes; /* of all elements */
} weft__image_value;

/* Where a node stands. Owner: weft__imaging. */
typedef struct weft__standing {
    float matrix[12]; /* in the world */
    float within[12]; /* in the space of `placed`; without one: in the world */
    uint32_t placed;  /* the node, or the nearest above, with a WorldTransform; WEFT__NONE */
    weft_transform_usage usage; /* in effect; without a place that above */
} weft__standing;

/* Makes images, one at a time: values hold until the next one. Owner: a fill, a live link. */
typedef struct weft__imaging {
    const weft_scene *scene;
    weft__memory *memory;
    WEFT__LIST(weft__standing) places;    /* [node]; none count */
    WEFT__LIST(weft__image_value) values; /* with room for all that there can be */
    const char *name;                     /* [name_bytes] that the entity gets */
    size_t name_bytes;
    weft_world_transform world;
    weft_local_transform local;
    weft_local_stretch stretch;
    uint32_t node;
    weft_result result;
} weft__imaging;

/* Room for where the nodes of the tree stand. False: memory. */
bool weft__imaging_begin(weft__imaging *m);
void weft__imaging_free(weft__imaging *m);
/* Where a node stands; its parent is done. */
void weft__image_place(weft__imaging *m, uint32_t index);
/* The image of entity number `number` of a node, which has one. OUT_OF_MEMORY, LIMIT. */
weft_result weft__image_make(weft__imaging *m, uint32_t index, uint32_t number);
/* The component of an image; NULL: it has none. */
static inline weft__image_value *weft__image_find(weft__image_value *values, uint32_t count,
                                                  uint32_t component)
{
    for (uint32_t i = 0; i < count; i++)
        if (values[i].component == component) return &values[i];
    return NULL;
}
/* Gives an entity a component of its image, `bytes` in handles of the world. `is_made`: it was made
 * with what is not SPARSE, and nothing is disabled yet. What fails may be half done. */
weft_result weft__value_give(weft_world *world, weft_entity entity, weft_component component,
                             const weft__image_value *value, const char *bytes, bool is_made);
/* The name as an entity keeps it: its length. */
size_t weft__image_name(const weft__imaging *m, char out[WEFT__IMAGE_NAME_BYTES]);

bool weft__node_has_entity(const weft__node *node);
/* The nearest node above that is an entity; WEFT__NONE. */
uint32_t weft__node_above(const weft__tree *tree, uint32_t node);
/* The node, and the number there, of the entity of a node's reference; WEFT__NONE: none. */
uint32_t weft__reference_node(const weft__tree *tree, uint32_t node, uint32_t reference,
                              uint32_t *number);
