/* SPDX-License-Identifier: MIT */
/* gltf_source.h: an open glTF file, and its nodes as a forest: each below one other at most,
 * without circles, with names that are unique below their parent. Built by one thread while the
 * file is opened; constant after that, for all. */
#ifndef WEFT_GLTF_SOURCE_H
#define WEFT_GLTF_SOURCE_H

#include "gltf_file.h"

enum { WEFT__GLTF_PATH_BYTES = 4096, WEFT__GLTF_SIGNIFICANT_NAME = 200 };
#define WEFT__GLTF_NONE UINT32_MAX

/* A node or a scene that is an object; `data` of the object. */
typedef struct weft__gltf_node {
    const struct weft__gltf *file;
    const weft__gltf_value *json;
    const struct weft__gltf_node *above; /* NULL: a root */
    const char *name;                    /* NULL: it is in no scene, and no object */
    uint32_t name_bytes, depth;
    uint32_t parent, object; /* parent: a node, or NONE; object: its number in the source */
    uint32_t first_animation, last_animation;
    bool is_scene;
    uint64_t path_hash;
} weft__gltf_node;

/* An open file. */
typedef struct weft__gltf {
    const weft__gltf_value *root;
    weft__gltf_table nodes, scenes, meshes, skins, animations, materials, accessors;
    weft__gltf_node *node;      /* nodes.count, then scenes.count for scenes */
    weft__gltf_node **in_order; /* the objects, parents first */
    uint32_t object_count;
    uint32_t *next_animation; /* of the same root node */
    weft__gltf_accessor *accessor;
    weft__gltf_table *samplers; /* of each animation */
} weft__gltf;

/* The path of a node from the roots of the file, behind as many "../" as lead from `from` (NULL:
 * none) to there. False: it does not fit. */
bool weft__gltf_path(const weft__gltf_node *node, const weft__gltf_node *from,
                     char out[WEFT__GLTF_PATH_BYTES]);

#endif
