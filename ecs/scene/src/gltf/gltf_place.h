/* SPDX-License-Identifier: MIT */
/* gltf_place.h: where a glTF node is: its matrix, or its translation, rotation and scale, as the
 * place of an entity. It reads JSON that is constant by then; any thread. */
#ifndef WEFT_GLTF_PLACE_H
#define WEFT_GLTF_PLACE_H

#include "gltf_nodes.h"

/* A place in the space of the node above. A value. */
typedef struct weft__gltf_place {
    float position[3], rotation[4], scale[3]; /* metres; x, y, z, w */
    bool is_even;                             /* the scales are equal */
} weft__gltf_place;

/* Reads "matrix" or "translation", "rotation", "scale" of a node; NULL, or what is wrong. */
const char *weft__gltf_place_of(const weft__gltf_node *node, weft__gltf_place *place);

#endif
