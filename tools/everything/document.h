/* SPDX-License-Identifier: MIT */
/* document.h: a tree of objects with places, as documents tell it: drawn, and where its entities
 * stand. ops_document.c bakes it. One thread. */
#ifndef WEFT_TOOLS_DOCUMENT_H
#define WEFT_TOOLS_DOCUMENT_H

#include "everything.h"

#include <weft/scene.h>
#include <weft/transform.h>

enum {
    DOCUMENT_OBJECTS = 10,
    DOCUMENT_PATH = 64,
    DOCUMENT_BLOBS = 3,
    DOCUMENT_NOBODY = -1,
    DOCUMENT_PREFAB = -2
};

/* A component that bakes itself, "tally"; without padding. */
typedef struct document_tally {
    uint32_t a;
    int32_t b[3];
    uint32_t c;
} document_tally;

typedef struct document_matrix {
    double at[3][4];
} document_matrix;

/* An object. What is drawn, then what follows from the tree (document_places). */
typedef struct document_object {
    int above;                /* -1: none; below its own number */
    char path[DOCUMENT_PATH]; /* "o0/o3" */
    bool has_stand, is_wrong;
    weft_transform_usage usage;
    float position[3], rotation[4], scale[3];
    document_tally tally;
    uint32_t number, word;
    int other; /* an object, DOCUMENT_NOBODY or DOCUMENT_PREFAB */
    bool is_there;
    document_matrix world;
    weft_transform_usage effect; /* usage as it counts; of what has no place that of above */
    bool has_placed;             /* it, or one above it, has a place */
    bool is_root;                /* it moves, and stands on nothing */
    bool is_shifted;             /* it moves with such a one */
} document_object;

/* A text that is being written. */
typedef struct document_text {
    char *text;
    size_t room, at; /* at >= room: cut */
} document_text;

void document_write(document_text *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void document_tally_write(document_text *out, const document_object *o);
weft_component document_tally_register(weft_world *world);

/* Draws who is below whom. */
void document_tree(document_object *all, uint32_t count, uint64_t drawn);
/* Draws the values of all, or, when they have some, of a half. `is_gltf`: each has a place, which
 * is dynamic where it can be. */
void document_draw(document_object *all, uint32_t count, uint64_t drawn, bool has_values,
                   bool is_gltf);
/* Works out where they stand; objects that are not there are left out. */
void document_places(document_object *all, uint32_t count);
bool document_is_placed(const document_object *o);
/* Whether its place changes nothing. */
bool document_is_none(const document_object *o);
/* The number in its blob. */
uint32_t document_blob_of(const document_object *o);

#endif
