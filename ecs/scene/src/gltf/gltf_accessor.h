/* SPDX-License-Identifier: MIT */
/* gltf_accessor.h: the bytes of a glTF file (parts of a GLB, buffers in files beside it and in data
 * URIs) and arrays of numbers in them: checked once, when the file is opened; after that any
 * element may be read, by any thread. */
#ifndef WEFT_GLTF_ACCESSOR_H
#define WEFT_GLTF_ACCESSOR_H

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

/* Component types, by their numbers in files. */
enum {
    WEFT__GLTF_I8 = 5120,
    WEFT__GLTF_U8 = 5121,
    WEFT__GLTF_I16 = 5122,
    WEFT__GLTF_U16 = 5123,
    WEFT__GLTF_U32 = 5125,
    WEFT__GLTF_F32 = 5126,
};

/* An array of elements. Constant after weft__gltf_accessors.
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

/* What accessors are made of. On the stack of a call. */
typedef struct weft__gltf_views {
    weft__gltf_table views, buffers;
    const weft__gltf_bytes *bytes; /* of each buffer */
    uint64_t byte_count;           /* of the file and its buffers: elements without bytes */
} weft__gltf_views;

/* Checks all accessors of a file; NULL: a mistake. Cost: the bytes that they cover. */
weft__gltf_accessor *weft__gltf_accessors(weft_source *out, const weft__gltf_table *accessors,
                                          const weft__gltf_views *views);
/* The components of element `index` < count; normalised integers from -1 or 0 to 1. Cost: O(1),
 * sparse: O(log sparse_count). */
void weft__gltf_element(const weft__gltf_accessor *accessor, uint32_t index, double out[16]);

#endif
