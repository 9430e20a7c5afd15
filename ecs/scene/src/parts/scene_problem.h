/* SPDX-License-Identifier: MIT */
/* scene_problem.h: mistakes in documents, as they are found: kept by the file, the tree or the
 * record that they are about, in its arena. */
#ifndef WEFT_SCENE_PROBLEM_H
#define WEFT_SCENE_PROBLEM_H

#include "scene_memory.h"

#include <weft/scene.h>

#include <stdarg.h>

/* A mistake. Belongs to the arena that it was made in. */
typedef struct weft__problem {
    struct weft__problem *next;
    weft_scene_problem told;
    uint64_t offset; /* in the file: the order of mistakes */
} weft__problem;

/* What a mistake is about. On the stack of who reports it. */
typedef struct weft__spot {
    const weft_text *text;
    const char *at;     /* in the text; NULL: the file as a whole */
    const char *object; /* its path, or "" */
} weft__spot;

/* Makes a mistake and puts it in front of *list. False: memory was refused. */
bool weft__problem_add(weft__pile *arena, weft__problem **list, const weft__spot *spot,
                       const char *format, va_list arguments);
/* The same of an error of weft_value_read, whose text is complete. */
bool weft__problem_add_value(weft__pile *arena, weft__problem **list, const weft_text *text,
                             const char *object, const weft_value_error *error);

#endif
