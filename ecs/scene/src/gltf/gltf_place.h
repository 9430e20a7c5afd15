/* SPDX-License-Identifier: MIT */
/* gltf_place.h: where a glTF node is: its matrix, or its translation, rotation and scale, as the
 * place of an entity. It reads JSON that is constant by then; any thread. */
#ifndef WEFT_GLTF_PLACE_H
#define WEFT_GLTF_PLACE_H

#include "gltf_nodes.h"
#include "record.h"

/* Reads "matrix" or "translation", "rotation", "scale" of a node; NULL, or what is wrong. */
const char *weft__gltf_place_of(const weft__gltf_node *node, weft__place *place);

#endif
