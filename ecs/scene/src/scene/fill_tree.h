/* SPDX-License-Identifier: MIT */
/* fill_tree.h: what the tree says of entities beyond their records: where they stand, their
 * parents, prefabs and names. A fill and the images of a live link ask the same. By the owner of
 * the scene. */
#ifndef WEFT_FILL_TREE_H
#define WEFT_FILL_TREE_H

#include "scene_state.h"

#include <weft/transform.h>

/* Where a node stands. Owner: weft__places. */
typedef struct weft__standing {
    float matrix[12]; /* in the world */
    float within[12]; /* in the space of `placed`; without one: in the world */
    uint32_t placed;  /* the node, or the nearest above, with a WorldTransform; WEFT__NONE */
    weft_transform_usage usage; /* in effect; without a place that above */
} weft__standing;

/* Where all nodes stand: [node]; none count. Owner: who computes them. */
typedef WEFT__LIST(weft__standing) weft__places;

/* What an entity with a place gets. A value. */
typedef struct weft__placed {
    weft_world_transform world;
    weft_local_transform local;
    weft_local_stretch stretch;
} weft__placed;

/* False: memory; what was computed is gone. */
bool weft__places_room(weft__places *places, weft__memory *memory, uint32_t nodes);
void weft__places_free(weft__places *places, weft__memory *memory);
/* Where a node stands, and how; its parent is done. */
void weft__place_node(weft__places *places, const weft__tree *tree, uint32_t index);
/* The usage in effect of a TRANSFORM step of a node. */
weft_transform_usage weft__place_usage(const weft__places *places, uint32_t node,
                                       const weft__step *step);
/* What the entity of such a step gets. Returns whether its stretch is needed. Always: what the
 * system of transforms makes of local and stretch is the world place, while nothing moves. */
bool weft__place_values(const weft__places *places, const weft__tree *tree, uint32_t node,
                        const weft__step *step, weft__placed *out);

bool weft__fill_has_entity(const weft__node *node);
/* The nearest node above that is an entity; WEFT__NONE. */
uint32_t weft__fill_above(const weft__tree *tree, uint32_t node);
/* The node whose entity is the Parent of entity `number` of a node; WEFT__NONE: none. Static
 * ones have none, they are folded; those that move have one with a place, if there is any above. */
uint32_t weft__fill_parent(const weft__places *places, const weft__tree *tree, uint32_t node,
                           uint32_t number);
/* The place of entity number `entity` of a record; NULL: it has none. */
const weft__step *weft__fill_place_of(const weft__output *output, uint32_t entity);
/* Whether a baker has set the component itself. */
bool weft__fill_has_step(const weft__output *output, uint32_t entity, weft_component component);
/* The node of the prefab that a node is an instance of; WEFT__NONE. */
uint32_t weft__fill_prefab(const weft__tree *tree, uint32_t node);
/* How much of a name an entity keeps: as weft_entity_set_name. */
enum { WEFT__FILL_NAME_BYTES = 64 };
size_t weft__fill_name_copy(char out[WEFT__FILL_NAME_BYTES], const char *name, size_t bytes);
/* The name that the tree gives to a node's entity: its length; 0: none. */
size_t weft__fill_name(const weft__tree *tree, uint32_t index, const char **name);

#endif
