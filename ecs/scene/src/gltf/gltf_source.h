/* SPDX-License-Identifier: MIT */
/* gltf_source.h: an open glTF file: its JSON as a table of values, each in front of what is in it;
 * arrays of numbers, checked once; its nodes as a forest: each below one other at most, without
 * circles, with names that are unique below their parent. Texts point into the file, and all of it
 * lives as long. Built by one thread while the file is opened; constant after that, for all. */
#pragma once

#include "json_pull.h"

#include <weft/scene.h>

/* A value. Its elements or members begin at the next one of the table; each says by `span` where
 * the next one is.
 *   span: this value and all in it, counted; at least 1 */
typedef struct weft__gltf_value {
    weft__json_kind kind;
    uint32_t span, count; /* count: elements or members */
    bool name_has_escapes, has_escapes;
    const char *name, *name_end; /* of a member; else NULL */
    const char *at, *end;        /* with its quotes or brackets */
    double number;
} weft__gltf_value;

/* Elements of an array by their numbers. Zero: none. */
typedef struct weft__gltf_table {
    const weft__gltf_value **at;
    uint32_t count;
} weft__gltf_table;

/* The element or member behind one (NULL: the first); NULL: no more, or `all` is NULL. */
static inline const weft__gltf_value *weft__gltf_after(const weft__gltf_value *all,
                                                       const weft__gltf_value *one)
{
    if (all == NULL) return NULL;
    const weft__gltf_value *next = one == NULL ? all + 1 : one + one->span;
    return next < all + all->span ? next : NULL;
}
/* A member of an object; NULL: none (also when `object` is NULL or no object). Cost: members. */
const weft__gltf_value *weft__gltf_member(const weft__gltf_value *object, const char *name);
/* An integer member that was checked before, or `absent`. */
uint64_t weft__gltf_known(const weft__gltf_value *object, const char *name, uint64_t absent);
/* Reads up to `count` numbers of an array; returns whether there are exactly so many. */
bool weft__gltf_numbers(const weft__gltf_value *array, double *out, uint32_t count);
/* Whether a string member is this text. */
bool weft__gltf_says(const weft__gltf_value *string, const char *text);
/* The characters of a string without escapes, NUL-terminated, cut at `capacity` and between
 * characters; returns their bytes. NULL or no string: "". */
size_t weft__gltf_string(const weft__gltf_value *string, char *out, size_t capacity);

/* ---- arrays of numbers ---- */

/* Component types, by their numbers in files. */
enum {
    WEFT__GLTF_I8 = 5120,
    WEFT__GLTF_U8 = 5121,
    WEFT__GLTF_I16 = 5122,
    WEFT__GLTF_U16 = 5123,
    WEFT__GLTF_U32 = 5125,
    WEFT__GLTF_F32 = 5126,
};

/* An array of elements. Constant once the file is open.
 *   bytes NULL: all zero; else (count - 1) * stride + size bytes are there
 *   sparse_count elements are at sparse_values instead; their numbers ascend, below count */
typedef struct weft__gltf_accessor {
    const unsigned char *bytes;
    uint32_t count, stride, size; /* bytes from element to element; of one */
    uint32_t type, width;         /* WEFT__GLTF_*; components of an element: 16 at most */
    bool is_normalised;
    uint32_t sparse_count, sparse_type;
    const unsigned char *sparse_numbers, *sparse_values;
    uint64_t hash; /* of all that it reads */
} weft__gltf_accessor;

/* The components of element `index` < count; normalised integers from -1 or 0 to 1. Cost: O(1),
 * sparse: O(log sparse_count). */
void weft__gltf_element(const weft__gltf_accessor *accessor, uint32_t index, double out[16]);

/* ---- nodes ---- */

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
