/* SPDX-License-Identifier: MIT */
/* fill_tree.h: what the tree says of entities beyond their records: where they stand, their
 * parents, prefabs and names. A fill and the images of a live link ask the same. By the owner of
 * the scene. */
#ifndef WEFT_FILL_TREE_H
#define WEFT_FILL_TREE_H

#include "scene_state.h"

#include <weft/transform.h>

/* Where all nodes stand. Owner: who computes them. */
typedef struct weft__places {
    uint8_t *usage;      /* [node]: weft_transform_usage in effect; without a place that above */
    float (*matrix)[12]; /* [node] */
    uint32_t room;
} weft__places;

/* False: memory; what was computed is gone. */
bool weft__places_room(weft__places *places, weft__memory *memory, uint32_t nodes);
void weft__places_free(weft__places *places, weft__memory *memory);
/* Where a node stands, and how; its parent is done. */
void weft__place_node(weft__places *places, const weft__tree *tree, uint32_t index);
/* The usage in effect of a TRANSFORM step of a node. */
weft_transform_usage weft__place_usage(const weft__places *places, uint32_t node,
                                       const weft__step *step);
/* What the entity of such a step gets. */
void weft__place_values(const weft__places *places, uint32_t node, const weft__step *step,
                        weft_world_transform *world, weft_local_transform *local);

bool weft__fill_has_entity(const weft__node *node);
/* The nearest node above that is an entity; WEFT__NONE. */
uint32_t weft__fill_above(const weft__tree *tree, uint32_t node);
/* Whether the node's entity has a parent: static ones have none, they are folded. */
bool weft__fill_is_child(const weft__places *places, const weft__tree *tree, uint32_t node);
/* The place of entity number `entity` of a record; NULL: it has none. */
const weft__step *weft__fill_place_of(const weft__output *output, uint32_t entity);
/* Whether a baker has set the component itself. */
bool weft__fill_has_step(const weft__output *output, uint32_t entity, weft_component component);
/* The node of the prefab that a node is an instance of; WEFT__NONE. */
uint32_t weft__fill_prefab(const weft__tree *tree, uint32_t node);
/* The name that the tree gives to a node's entity: its length; 0: none. */
size_t weft__fill_name(const weft__tree *tree, uint32_t index, const char **name);

#endif
