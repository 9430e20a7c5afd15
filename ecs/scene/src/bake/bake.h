/* SPDX-License-Identifier: MIT */
/* bake.h: one object is baked: what the functions of bakers (scene.h) work on.
 *
 * A worker has one weft_bake and uses it for one object after the other. Nothing here is shared but
 * what is constant while the scene bakes, and files, which have a lock. */
#pragma once

#include "scene_tree.h"
#include "text.h"
#include "value_read.h"

#include <math.h>
#include <weft/world.h>

/* ---- the components that a scene may use: a copy of what the world knows of them, which any
 * thread reads; made with the scene, constant ---- */

/* A component. Owner: weft__schema; texts belong to the world. */
typedef struct weft__schema_component {
    const weft_component_desc *desc;
    const weft_type *type; /* NULL: not described */
    weft_component component;
    uint64_t hash;
} weft__schema_component;

/* Part of a scene. */
typedef struct weft__schema {
    weft_world *world;
    WEFT__LIST(weft__schema_component) components; /* by id - 1; desc NULL: internal */
    weft__table map;                               /* of ids by name */
    weft_component parent, instance_of, prefab, linked_group;
    weft_component local, placed, stretch; /* of weft_transform_create; null: not registered */
} weft__schema;

weft_result weft__schema_init(weft__schema *schema, weft__memory *memory, weft_world *world);
void weft__schema_free(weft__schema *schema, weft__memory *memory);

/* ---- records: what an object became: its entities, their components and values, and what its
 * bakers read; a record refers to nothing but itself, the schema and blobs, so it outlives the tree
 * that it was baked from ---- */

/* Handles of entities in values of records: the index is that of a reference of the record. */
#define WEFT__REFERENCE_VERSION UINT32_C(0xfffffffd)
#define WEFT__OWN UINT32_MAX /* the number of the object's own entity among its names */

/* What a baker read beside its own object. */
typedef enum weft__read_kind {
    WEFT__READ_OBJECT,   /* whether it is there */
    WEFT__READ_PROPERTY, /* all layers */
    WEFT__READ_CHILDREN, /* their names */
    WEFT__READ_BYTES,    /* the object itself */
    WEFT__READ_FILE,     /* `text`: its path */
    WEFT__READ_PREFAB,   /* `text`: its key */
} weft__read_kind;

/* A read. Owner: the record. */
typedef struct weft__read {
    weft__read_kind kind;
    uint32_t text; /* in the texts of the record: the path of the object, file or prefab */
    uint32_t name; /* PROPERTY: its name, there, too */
    uint64_t path; /* hash of the path of the object */
    uint64_t hash; /* of what was read; 0: it was not there */
} weft__read;

/* What kind of entity a handle stands for. */
typedef enum weft__reference_kind {
    WEFT__REFERENCE_OWN,    /* an entity of this object: `path` is its number */
    WEFT__REFERENCE_OBJECT, /* the own entity of an object: `path` is the hash of its path */
    WEFT__REFERENCE_PREFAB, /* the own entity of a prefab root: the same */
} weft__reference_kind;

/* What a handle in a value stands for. Owner: the output. */
typedef struct weft__record_reference {
    weft__reference_kind kind;
    uint32_t text; /* PREFAB: its key */
    uint64_t path;
} weft__record_reference;

/* What a step does. */
typedef enum weft__bake_step_kind {
    WEFT__STEP_SET,    /* one value behind it */
    WEFT__STEP_BUFFER, /* `count` elements */
    WEFT__STEP_DISABLE,
    WEFT__STEP_NAME,      /* `bytes` of text and a NUL */
    WEFT__STEP_TRANSFORM, /* a weft__bake_place */
} weft__bake_step_kind;

/* What is done to an entity; its bytes follow, in 16 bytes' steps. */
typedef struct weft__bake_step {
    weft__bake_step_kind kind;
    uint32_t entity;    /* number */
    uint32_t component; /* id in the schema; of TRANSFORM the usage */
    uint32_t count;
    uint64_t bytes;
    uint64_t unused; /* 0 */
} weft__bake_step;

/* Where an entity stands, in the space above it. Part of a step. */
typedef struct weft__bake_place {
    float position[3], rotation[4], scale[3];
} weft__bake_place;

/* Whether the scales are the same, but for the last digits: what a LocalTransform can hold. */
static inline bool weft__scale_is_even(const float scale[3])
{
    const float most = 1e-5f * fabsf(scale[0]);
    return fabsf(scale[0] - scale[1]) <= most && fabsf(scale[0] - scale[2]) <= most;
}

/* A blob that values refer to by its number + 1. Owner: the output. */
typedef struct weft__record_blob {
    weft_blob_ref ref; /* of the scene's store; one reference */
    const weft_blob_type *type;
    uint64_t content;
} weft__record_blob;

/* What bakers made. Counted, because a failing object keeps what it was. All in one block. */
typedef struct weft__output {
    uint32_t users;
    uint32_t entity_count, reference_count, blob_count;
    uint64_t hash; /* of everything below */
    size_t bytes;  /* of the block */
    size_t step_bytes;
    weft__record_reference *references;
    weft__record_blob *blobs;
    char *steps;
    char *texts;
} weft__output;

/* Why an object was baked. */
typedef enum weft__why {
    WEFT__WHY_KEPT,    /* not baked in the last bake */
    WEFT__WHY_NEW,     /* it was not there */
    WEFT__WHY_OWN,     /* a layer of it has changed */
    WEFT__WHY_MISTAKE, /* it had one, and some file has changed */
    WEFT__WHY_READ,    /* what `why_text` tells has changed */
} weft__why;

/* Owner: the scene, by a node of its tree; nodes of two trees have it while a bake runs. */
typedef struct weft__record {
    uint64_t path, own;
    weft__why why;
    const char *why_text; /* in `arena` */
    uint64_t born;        /* the bake that made it */
    weft__output *output; /* NULL: never baked without a mistake */
    weft__problem *problems;
    uint32_t read_count;
    weft__read *reads; /* in `arena`, with their texts */
    char *texts;
    weft__pile arena;
} weft__record;

/* The step behind one (NULL: the first); NULL: no more. */
static inline const weft__bake_step *weft__step_after(const weft__output *output,
                                                      const weft__bake_step *step)
{
    const char *next = step == NULL
                           ? output->steps
                           : (const char *)(step + 1) + ((step->bytes + 15) & ~UINT64_C(15));
    return next < output->steps + output->step_bytes ? (const weft__bake_step *)next : NULL;
}

/* ---- the run of bakers ---- */

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

typedef WEFT__LIST(char) weft__chars;

/* A run of the bakers of one object; its lists are used again for the next. Owner: a worker. */
struct weft_bake {
    const weft__bake_scene *scene;
    uint32_t node;
    weft__record *record; /* being made: its arena has reads' texts and problems */
    WEFT__LIST(weft__read) reads;
    WEFT__LIST(weft__record_reference) references;
    WEFT__LIST(weft__record_blob) blobs;
    weft__chars steps; /* weft__bake_step and bytes */
    weft__chars texts; /* of the output: keys of prefabs */
    weft__chars read_texts;
    WEFT__LIST(uint64_t) entities; /* hashes of their names; 0 the own one */
    WEFT__LIST(uint64_t) consumed; /* hashes of the names of properties that bakers read */
    weft__chars scratch;           /* a value */
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
