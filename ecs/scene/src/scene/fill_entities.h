/* SPDX-License-Identifier: MIT */
/* fill_entities.h: the entities that a fill makes: which there are, of which components, where they
 * stand; and what the rest of the fill asks of that. By the owner of scene and world. */
#ifndef WEFT_FILL_ENTITIES_H
#define WEFT_FILL_ENTITIES_H

#include "fill_tree.h"

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
    weft_component prefab, linked_group, parent, instance_of, local, placed, stretch;
    uint32_t *first; /* [nodes]: first entity of the node; WEFT__NONE */
    weft__places places;
    WEFT__LIST(weft_entity) entities;
    WEFT__LIST(weft__fill_kind) kinds;
    weft__table kind_at; /* of their places, from 1 */
    WEFT__LIST(weft__fill_blob) copies;
    WEFT__LIST(char) scratch;
    weft_result result;
} weft__fill;

/* Always false: keeps the first reason. */
bool weft__fill_refuse(weft__fill *f, weft_result result);
bool weft__fill_world_refused(weft__fill *f);

/* Makes all entities, in the order of the nodes: runs of the same components at once. */
bool weft__fill_entities(weft__fill *f);

#endif
