/* SPDX-License-Identifier: MIT */
/* tree_expand.h: documents and prefabs become nodes of a tree. The owner of the scene; mistakes are
 * problems of the tree. */
#ifndef WEFT_TREE_EXPAND_H
#define WEFT_TREE_EXPAND_H

#include "scene_tree.h"

/* Expands documents into the scene's root. False: memory was refused. */
bool weft__tree_add_scene(weft__tree *tree, const char *const *paths, uint32_t count);
/* Expands a prefab that nodes refer to, once: its number. WEFT__NONE: memory was refused. */
uint32_t weft__tree_add_prefab(weft__tree *tree, const weft__file_object *object);

#endif
