/* SPDX-License-Identifier: MIT */
/* scene_state.h: what a scene is made of: files, the tree of the last bake, records. Owner: the
 * thread of its world; bakers see what weft__bake_scene has. */
#pragma once

#include "bake.h"
#include "file_watch.h"

/* A change of the last bake. */
typedef struct weft__record_change {
    uint32_t node; /* of the tree; of a removed one in `removed_paths` */
    weft_scene_change_kind kind;
} weft__record_change;

/* What a bake tells. Owner: the scene, or a bake until it has ended. */
typedef struct weft__told {
    WEFT__LIST(weft__record_change) changes;
    WEFT__LIST(weft_error) problems;
    WEFT__LIST(const char *) removed_paths;
    weft__pile removed; /* paths of removed objects, and texts of problems of the tree */
} weft__told;

struct weft_scene {
    weft__memory memory;
    weft__pile arrays;
    weft_scene_desc desc; /* its arrays are copies, in `arrays` */
    weft__schema schema;
    weft__files files;
    weft_blob_store *blobs;
    weft_world_hook hook;  /* holds the schema's world */
    weft__tree tree;       /* of the last bake that ended */
    weft__tree spare;      /* of the one before: memory for the next */
    uint32_t record_count; /* of its nodes */
    /* The last bake left all nodes where they were, and what it changed is simple, and was. */
    bool is_same_shape;
    uint64_t *baker_properties;
    weft_bake *workers; /* [worker_count]: what bakers work on */
    uint32_t worker_count;
    weft_job_cost cost;
    /* of the last bake */
    weft_scene_stats stats;
    weft__told told;
    char path[2 * WEFT__PATH_BYTES]; /* what weft_scene_change_at gave last */
    uint64_t baked;                  /* the number of the last bake that ended */
    weft__file_watch watch;          /* of weft_scene_wait */
    uint64_t watched;                /* the number of the bake whose files it watches; 0: closed */
    /* of the last fill */
    WEFT__LIST(weft_entity) entities; /* own ones, by node of the tree */
    uint64_t filled;                  /* the bake that it was of */
    uint64_t filled_moment;           /* of the schema's world; 0: another one was filled */
};

/* Whether a bake is going on, whose callbacks may not use the scene. */
static inline bool weft__scene_bakes(const weft_scene *scene)
{
    return scene->workers != NULL && scene->workers[0].scene != NULL;
}

/* ---- what a bake would say of an object if a document had another text ---- */

/* A text that a document may get. On the stack of the caller. */
typedef struct weft__trial {
    const char *const *paths; /* of the last bake */
    uint32_t path_count;
    const char *file;   /* one of them */
    const char *object; /* its path in the scene */
    const char *text;
    size_t bytes;
    size_t begin, end; /* the property of the object in the text that is not as before */
} weft__trial;

/* Owner, or with the lock that bakes of the scene have. Errors: INVALID_ARGUMENT: the text is no
 * document, or the object has a mistake in the property, or has one and had none; `why` gets its
 * first line. OUT_OF_MEMORY. The scene is as before. Cost: bytes of the text, objects of the scene,
 * and the bakers of the one object. */
weft_result weft__scene_try(weft_scene *scene, const weft__trial *trial, char *why,
                            size_t capacity);
