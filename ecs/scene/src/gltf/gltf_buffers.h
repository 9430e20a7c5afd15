/* SPDX-License-Identifier: MIT */
/* gltf_buffers.h: the bytes of a glTF file: the parts of a GLB, buffers in files beside it and in
 * data URIs. */
#ifndef WEFT_GLTF_BUFFERS_H
#define WEFT_GLTF_BUFFERS_H

#include "gltf_json.h"

/* Bytes that live as long as the file; at any address. */
typedef struct weft__gltf_bytes {
    const unsigned char *at;
    uint64_t count;
} weft__gltf_bytes;

/* The JSON of a file, and the binary part of a GLB (at NULL: none). False: a mistake. */
bool weft__gltf_open(weft_source *out, const weft_text *file, weft__gltf_bytes *json,
                     weft__gltf_bytes *binary);
/* The bytes of all buffers, `byteLength` of each, in memory of the file; NULL: a mistake. */
weft__gltf_bytes *weft__gltf_buffers(weft_source *out, const weft__gltf_table *buffers,
                                     weft__gltf_bytes binary);

#endif
