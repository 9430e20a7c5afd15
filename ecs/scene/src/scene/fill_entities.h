/* SPDX-License-Identifier: MIT */
/* fill_entities.h: the entities that a fill makes: which there are, of which components, where they
 * stand; and what the rest of the fill asks of that. By the owner of scene and world. */
#ifndef WEFT_FILL_ENTITIES_H
#define WEFT_FILL_ENTITIES_H

#include "scene_state.h"

/* An archetype by the hash of its components. Owner: the fill. */
typedef struct weft__fill_kind {
    uint64_t hash;
    weft_archetype archetype;
} weft__fill_kind;

/* A blob of the scene in the world's store. Owner: the fill. */
typedef struct weft__fill_blob {
    uint64_t from;
    weft_blob_ref to;
} weft__fill_blob;

/* A fill. On the stack of weft_scene_fill. */
typedef struct weft__fill {
    weft_scene *scene;
    weft__memory *memory;
    weft_world *world;
    weft_blob_store *blobs; /* of the world; NULL: not needed yet */
    weft_component *map; /* component of the world by id of the schema - 1; null: not needed yet */
    uint32_t map_count;
    weft_component prefab, linked_group, parent, instance_of, local, placed;
    uint32_t *first; /* [nodes]: first entity of the node; WEFT__NONE */
    uint8_t
        *usage; /* [nodes]: weft_transform_usage in effect; of nodes without a place that above */
    float (*matrix)[12]; /* [nodes] */
    WEFT__LIST(weft_entity) entities;
    WEFT__LIST(weft__fill_kind) kinds; /* open addressing, room a power of 2; hash 0 is empty */
    uint32_t kind_count;
    WEFT__LIST(weft__fill_blob) copies;
    WEFT__LIST(char) scratch;
    weft_result result;
} weft__fill;

/* Always false: keeps the first reason. */
bool weft__fill_refuse(weft__fill *f, weft_result result);
bool weft__fill_world_refused(weft__fill *f);

/* Makes all entities, in the order of the nodes: runs of the same components at once. */
bool weft__fill_entities(weft__fill *f);

bool weft__fill_has_entity(const weft__node *node);
/* The nearest node above that is an entity; WEFT__NONE. */
uint32_t weft__fill_above(const weft__tree *tree, uint32_t node);
/* Whether the node's entity has a parent: static ones have none, they are folded. */
bool weft__fill_is_child(const weft__fill *f, uint32_t node);
/* The place of entity number `entity` of a record; NULL: it has none. */
const weft__step *weft__fill_place_of(const weft__output *output, uint32_t entity);
/* Matrices of 3 rows and 4 columns: of a place; out = a * b. */
void weft__fill_matrix_of(float out[12], const weft__place *place);
void weft__fill_multiply(float out[12], const float a[12], const float b[12]);

#endif
