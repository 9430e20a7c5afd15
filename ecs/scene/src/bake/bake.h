/* SPDX-License-Identifier: MIT */
/* bake.h: one object is baked: what the functions of bakers (scene.h) work on.
 *
 * A worker has one weft_bake and uses it for one object after the other. Nothing here is shared but
 * what is constant while the scene bakes, and files, which have a lock. */
#ifndef WEFT_BAKE_H
#define WEFT_BAKE_H

#include "record.h"
#include "scene_schema.h"
#include "scene_tree.h"

#include "text.h"
#include "value_read.h"

/* What is constant while a scene bakes. */
typedef struct weft__bake_scene {
    const weft__tree *tree;
    const weft__schema *schema;
    const weft_baker_desc *bakers;
    const uint64_t *baker_properties; /* hashes of their names; 0: none */
    uint32_t baker_count;
    weft__files *files; /* with their lock */
    weft__memory *memory;
    weft_blob_store *blobs;
    uint64_t bake;
} weft__bake_scene;

/* A run of the bakers of one object; its lists are used again for the next. Owner: a worker. */
struct weft_bake {
    const weft__bake_scene *scene;
    uint32_t node;
    weft__record *record; /* being made: its arena has reads' texts and problems */
    WEFT__LIST(weft__read) reads;
    WEFT__LIST(weft__record_reference) references;
    WEFT__LIST(weft__record_blob) blobs;
    WEFT__LIST(char) steps; /* weft__step and bytes */
    WEFT__LIST(char) texts; /* of the output: keys of prefabs */
    WEFT__LIST(char) read_texts;
    WEFT__LIST(uint64_t) entities; /* hashes of their names; 0 the own one */
    WEFT__LIST(uint64_t) consumed; /* hashes of the names of properties that bakers read */
    WEFT__LIST(char) scratch;      /* a value */
    weft__pile arena;              /* ends with the run */
    weft_result result;            /* OUT_OF_MEMORY ends everything */
    bool is_failed;                /* a mistake was reported */
};

/* Bakes a node: a new record, without one of another bake; NULL: memory was refused. */
weft__record *weft__bake_node(weft_bake *bake, uint32_t node);
void weft__bake_free(weft_bake *bake);
void weft__record_free(weft__record *record, weft__memory *memory, weft_blob_store *blobs);

/* What was read, in words: "property ../hull.Mass". */
void weft__read_text(weft__text *t, const weft__record *record, const weft__read *read);
/* The hash that a read would have now; the owner, or with the lock of the files. */
uint64_t weft__read_hash(weft__tree *tree, const weft__record *record, const weft__read *read);

#endif
