/* SPDX-License-Identifier: MIT */
/* scene_update.h: what a bake would say of an object if a document had another text.
 *
 * Owner, or with the lock that bakes of the scene have. */
#ifndef WEFT_SCENE_UPDATE_H
#define WEFT_SCENE_UPDATE_H

#include "scene_state.h"

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

/* Errors: INVALID_ARGUMENT: the text is no document, or the object has a mistake in the property,
 * or has one and had none; `why` gets its first line. OUT_OF_MEMORY. The scene is as before. Cost:
 * bytes of the text, objects of the scene, and the bakers of the one object. */
weft_result weft__scene_try(weft_scene *scene, const weft__trial *trial, char *why,
                            size_t capacity);

#endif
