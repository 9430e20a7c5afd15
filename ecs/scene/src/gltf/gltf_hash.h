/* SPDX-License-Identifier: MIT */
/* gltf_hash.h: one number for all that a node depends on, and the check that what meshes, skins and
 * animations refer to is there. One thread, while the file is opened. */
#ifndef WEFT_GLTF_HASH_H
#define WEFT_GLTF_HASH_H

#include "gltf_nodes.h"

/* Checks the references of a file, hands animations to root nodes, and gives the hash of each
 * object, in order, in memory of the file; NULL: a mistake. Cost: values of the file. */
uint64_t *weft__gltf_hashes(weft_source *out, weft__gltf *file);

#endif
