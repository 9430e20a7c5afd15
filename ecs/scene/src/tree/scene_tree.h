/* SPDX-License-Identifier: MIT */
/* scene_tree.h: the objects of a scene as a tree of nodes: documents with their prefabs expanded.
 *
 * A node has layers, weakest first: the object of the inner prefab, of the outer prefab, of the
 * instance, what "with" says. Nodes are numbered in the order of the documents, parents before
 * children; prefabs that are entities of their own are further roots behind the scene's. A tree is
 * made for each bake by the owner, and constant while bakers run. */
#pragma once

#include "scene_file.h"

struct weft__record;

/* A layer of a node. */
typedef struct weft__layer {
    const weft__file_object *object;
    uint32_t next; /* the stronger one */
} weft__layer;

/* An object of the scene. */
typedef struct weft__node {
    const char *name; /* in a file, or the key of a prefab root; not ended by a NUL */
    uint32_t name_bytes;
    uint32_t parent, first, last, next;
    uint32_t first_layer, last_layer;
    uint32_t root;                   /* number of the root that it is below: 0 the scene */
    const weft__file_object *prefab; /* what it is an instance of; NULL: none */
    bool is_removed;                 /* by "without"; so are its children */
    bool is_group;  /* no entity: the root of the scene, the root of a file, "each" */
    bool is_record; /* of "each": has no name by itself */
    /* of its record: */
    bool is_plain;    /* its bakers read nothing else, and there were no mistakes */
    bool has_prefabs; /* it refers to some */
    bool is_kept;     /* its output is that of the last bake */
    bool is_simple;   /* one entity, no place, of no prefab, without references to others */
    uint64_t path;    /* hash of its path, the root's included */
    uint64_t own;     /* hash of its layers */
    struct weft__record *record; /* NULL: not baked yet; of the tree of a scene: owned by it */
} weft__node;

/* The scene, or a prefab that is entities of its own. */
typedef struct weft__root {
    const char *key; /* "parts.weft#shell"; "" the scene */
    uint64_t hash;   /* path of its node */
    uint32_t node;
} weft__root;

/* Owner: the scene. */
typedef struct weft__tree {
    weft__files *files;
    weft__memory *memory;
    WEFT__LIST(weft__node) nodes;
    WEFT__LIST(weft__layer) layers;
    WEFT__LIST(weft__root) roots;
    weft__table map; /* of nodes, from 1, by path */
    weft__pile arena;
    weft__problem *problems;
    uint32_t limit;
    bool is_refused; /* memory */
    bool is_full;    /* more than `limit` nodes: said once */
} weft__tree;

void weft__tree_init(weft__tree *tree, weft__memory *memory, weft__files *files, uint32_t limit);
/* Empty; its lists keep their memory, unless they are much too long. Blocks fresh from the system
 * cost a page fault for each 4 KiB, a fifth of the time of a bake after a small edit. */
void weft__tree_clear(weft__tree *tree);
void weft__tree_free(weft__tree *tree);
/* Expands documents into the scene's root; mistakes are problems of the tree. False: memory was
 * refused. */
bool weft__tree_add_scene(weft__tree *tree, const char *const *paths, uint32_t count);
/* Expands a prefab that nodes refer to, once: its number. WEFT__NONE: memory was refused. */
uint32_t weft__tree_add_prefab(weft__tree *tree, const weft__file_object *object);

/* The number of a root by the hash of its key; WEFT__NONE. */
uint32_t weft__tree_find_root(const weft__tree *tree, uint64_t hash);

/* A node by the hash of its path, or by a path from a node: "../a", "a/b", "/a" from its root.
 * WEFT__NONE: there is none; *hash (may be NULL): what it would have; 0 beyond the root. */
uint32_t weft__tree_find(const weft__tree *tree, uint64_t path);
uint32_t weft__tree_resolve(const weft__tree *tree, uint32_t from, const char *path, size_t bytes,
                            uint64_t *hash);
/* *why, when memory was refused: no mistake of the document. */
extern const char weft__no_memory[];
/* What "alias#path" means in a file; NULL: nothing, and *why says it (NULL: said already, of the
 * other file). Opens files: the owner, or with the lock of the files. */
const weft__file_object *weft__tree_reference(const weft__tree *tree, const weft__scene_file *file,
                                              const char *text, size_t bytes, const char **why);
/* The object that a key names; NULL: there is none any more, or memory was refused. */
const weft__file_object *weft__tree_key(weft__tree *tree, const char *key);
/* The key of an object as a prefab: "parts.weft#shell"; length as snprintf. */
size_t weft__prefab_key(const weft__file_object *object, char *out, size_t capacity);
uint64_t weft__prefab_hash(const weft__file_object *object);

/* A node by the text of its path, "parts.weft#shell/barrel" included; WEFT__NONE. */
uint32_t weft__tree_find_path(const weft__tree *tree, const char *path);
/* The path of a node, as snprintf. */
size_t weft__node_path(const weft__tree *tree, uint32_t node, char *out, size_t capacity);
/* The layer of a node behind one of it (NULL: the weakest); NULL: no more. */
static inline const weft__layer *weft__layer_after(const weft__tree *tree, uint32_t node,
                                                   const weft__layer *layer)
{
    uint32_t next = layer == NULL ? tree->nodes.at[node].first_layer : layer->next;
    return next == WEFT__NONE ? NULL : &tree->layers.at[next];
}
/* A property of a node in the strongest layer that has it, and that layer's object; NULL: none
 * has. */
const weft__property *weft__node_strongest(const weft__tree *tree, uint32_t node, const char *name,
                                           const weft__file_object **object);
/* Hash of the names of its children, in order. */
uint64_t weft__node_children(const weft__tree *tree, uint32_t node);
/* Hash of a property in all its layers; 0: no layer has it. */
uint64_t weft__node_property(const weft__tree *tree, uint32_t node, const char *name);
