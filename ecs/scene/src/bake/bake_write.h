/* SPDX-License-Identifier: MIT */
/* bake_write.h: what a word of a document means as an entity: a path, or the reference of a
 * prefab. By the worker that bakes. */
#ifndef WEFT_BAKE_WRITE_H
#define WEFT_BAKE_WRITE_H

#include "bake.h"

/* The entity that a word means; NULL, or what is wrong. */
const char *weft__bake_word(weft_bake *bake, const weft__scene_file *file, const char *word,
                            size_t bytes, weft_entity *out);

#endif
