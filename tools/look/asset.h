/* SPDX-License-Identifier: MIT */
/* asset.h: files that are compiled into a library or program, by weft_embed() of
 * tools/cmake/WeftTargets.cmake: pages of the inspector, the look of pages and reports.
 *
 * tools/look/look.css is in `weft_look` (CMake target weft_look): colours, type, tables, tags,
 * charts of every page that weft makes. A report writes it into its <style>. Threads: any. */
#ifndef WEFT_LOOK_ASSET_H
#define WEFT_LOOK_ASSET_H

#include <stddef.h>

/* A file. Constant; a NULL name ends a table. */
typedef struct weft_asset {
    const char *name; /* without its folder: "look.css" */
    const char *bytes;
    size_t count; /* without the NUL that stands behind the bytes */
} weft_asset;

extern const weft_asset weft_look[];

#endif
