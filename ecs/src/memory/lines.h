/* SPDX-License-Identifier: MIT */
/* lines.h: memory of archetypes and chunk objects: blocks of whole cache lines, next to each other
 * in slabs. A slab ends when all of its blocks were given back, or with the world.
 *
 * An allocator leaves holes around small blocks that begin a line: 96 bytes in glibc, twice per
 * archetype. Owner, world idle. */
#ifndef WEFT_LINES_H
#define WEFT_LINES_H

#include "heap.h"

#define WEFT__LINE ((size_t)64)

/* In front of its blocks. Owner: the lines. Always: used <= bytes; both whole lines. */
typedef struct weft__line_slab {
    struct weft__line_slab *before; /* made before it */
    struct weft__line_slab *after;  /* NULL: the youngest */
    size_t blocks;                  /* that are in use */
    size_t bytes;                   /* all of it */
    size_t used;
} weft__line_slab;

/* Owner: the world. Zero-initialise. */
typedef struct weft__lines {
    weft__line_slab *slab; /* the youngest, from which blocks come; NULL until needed */
} weft__lines;

/* Memory of the next lines, at least `bytes`, not zeroed; it is in lines->slab. NULL: no memory. */
void *weft__lines_take(weft__lines *lines, weft__memory *memory, size_t bytes);
/* The block that was taken last is not needed. */
void weft__lines_undo(weft__lines *lines, size_t bytes);
/* Gives a block of a slab back. */
void weft__lines_give(weft__lines *lines, weft__memory *memory, weft__line_slab *slab);
void weft__lines_fini(weft__lines *lines, weft__memory *memory);

#endif
