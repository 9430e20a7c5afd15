/* SPDX-License-Identifier: MIT */
/* scene_source.h: what a source writes to while it opens a file, and the source of text
 * documents. */
#ifndef WEFT_SCENE_SOURCE_H
#define WEFT_SCENE_SOURCE_H

#include "scene_file.h"

/* Owner: weft__source_open, on its stack. */
struct weft_source {
    weft__files *files;
    weft__scene_file *file;
    bool is_refused; /* memory */
};

/* Opens the text of a file by its source: fills its objects; mistakes are its problems. False:
 * memory was refused. */
bool weft__source_open(weft__files *files, weft__scene_file *file);

/* Documents in weft's text (".weft", ".json"). */
extern const weft_source_desc weft__source_text;

#endif
