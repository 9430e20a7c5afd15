/* SPDX-License-Identifier: MIT */
/* record.h: what an object became: its entities, their components and values, and what its
 * bakers read. A record refers to nothing but itself, the schema and blobs, so it outlives the
 * tree that it was baked from. */
#ifndef WEFT_RECORD_H
#define WEFT_RECORD_H

#include "scene_problem.h"

#include <weft/scene.h>

#include <math.h>

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
typedef enum weft__step_kind {
    WEFT__STEP_SET,    /* one value behind it */
    WEFT__STEP_BUFFER, /* `count` elements */
    WEFT__STEP_DISABLE,
    WEFT__STEP_NAME,      /* `bytes` of text and a NUL */
    WEFT__STEP_TRANSFORM, /* a weft__place */
} weft__step_kind;

/* What is done to an entity; its bytes follow, in 16 bytes' steps. */
typedef struct weft__step {
    weft__step_kind kind;
    uint32_t entity;    /* number */
    uint32_t component; /* id in the schema; of TRANSFORM the usage */
    uint32_t count;
    uint64_t bytes;
    uint64_t unused; /* 0 */
} weft__step;

/* Where an entity stands, in the space above it. Part of a step. */
typedef struct weft__place {
    float position[3], rotation[4], scale[3];
} weft__place;

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
    size_t text_bytes;
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

static inline const weft__step *weft__step_next(const weft__step *step)
{
    return (const weft__step *)((const char *)(step + 1) + ((step->bytes + 15) & ~UINT64_C(15)));
}

/* The step behind one (NULL: the first); NULL: no more. */
static inline const weft__step *weft__step_after(const weft__output *output, const weft__step *step)
{
    const char *next = step == NULL ? output->steps : (const char *)weft__step_next(step);
    return next < output->steps + output->step_bytes ? (const weft__step *)next : NULL;
}

#endif
