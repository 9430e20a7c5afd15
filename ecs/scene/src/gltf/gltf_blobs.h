/* SPDX-License-Identifier: MIT */
/* gltf_blobs.h: meshes, skins and animations of an open glTF file as blobs of a bake. Any worker;
 * the file is constant. */
#ifndef WEFT_GLTF_BLOBS_H
#define WEFT_GLTF_BLOBS_H

#include "gltf_nodes.h"

/* Make a blob and give it to the bake. Errors are reported by the bake. Cost: bytes of the blob. */
weft_result weft__gltf_mesh_blob(weft_bake *bake, const weft__gltf_node *node, uint32_t mesh,
                                 weft_blob_ref *out);
weft_result weft__gltf_skin_blob(weft_bake *bake, const weft__gltf *file, uint32_t skin,
                                 weft_blob_ref *out);
weft_result weft__gltf_animation_blob(weft_bake *bake, const weft__gltf *file, uint32_t animation,
                                      weft_blob_ref *out);

#endif
