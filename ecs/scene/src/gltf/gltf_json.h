/* SPDX-License-Identifier: MIT */
/* gltf_json.h: the JSON of a glTF file as a table of values, each in front of what is in it. The
 * table lives as long as the file; texts point into it. One thread builds, any read. */
#ifndef WEFT_GLTF_JSON_H
#define WEFT_GLTF_JSON_H

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

#endif
