/* SPDX-License-Identifier: MIT */
/* gltf_file.h: what a glTF file holds: its JSON as a table of values, each in front of what is in
 * it; its bytes (parts of a GLB, buffers in files beside it and in data URIs); arrays of numbers
 * in them, checked once, when the file is opened. All of it lives as long as the file; texts point
 * into it. One thread builds, any read. */
#ifndef WEFT_GLTF_FILE_H
#define WEFT_GLTF_FILE_H

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

/* Reads a text; NULL: there is a mistake, which `out` knows. Cost: the bytes, twice. */
const weft__gltf_value *weft__gltf_parse(weft_source *out, const char *text, size_t bytes);
/* A member of an object; NULL: none (also when `object` is NULL or no object). Cost: members. */
const weft__gltf_value *weft__gltf_member(const weft__gltf_value *object, const char *name);
/* Reads an integer member; an absent one leaves *value. False: it is no whole number below
 * `limit`, which `out` knows. */
bool weft__gltf_integer(weft_source *out, const weft__gltf_value *object, const char *name,
                        uint64_t limit, uint64_t *value);
/* The same without a report, for values that were checked before. */
uint64_t weft__gltf_known(const weft__gltf_value *object, const char *name, uint64_t absent);
/* Reads up to `count` numbers of an array; returns whether there are exactly so many. */
bool weft__gltf_numbers(const weft__gltf_value *array, double *out, uint32_t count);
/* Whether a string member is this text. */
bool weft__gltf_says(const weft__gltf_value *string, const char *text);
/* The characters of a string without escapes, NUL-terminated, cut at `capacity` and between
 * characters; returns their bytes. NULL or no string: "". */
size_t weft__gltf_string(const weft__gltf_value *string, char *out, size_t capacity);
/* The elements of the array `name` of the root. False: it is no array of objects. */
bool weft__gltf_list(weft_source *out, const weft__gltf_value *root, const char *name,
                     weft__gltf_table *table);

/* ---- bytes and arrays ---- */

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
