/* SPDX-License-Identifier: MIT */
/* scene_blocks.h: large blocks of memory that are used again. Each bake makes the texts, objects
 * and nodes of the last one again; blocks fresh from the system cost a page fault for each 4 KiB,
 * a fifth of the time of a bake after a small edit. The first bake, whose lists grow, is not
 * concerned.
 *
 * An allocator in front of another one, for any thread. Small blocks go through. */
#ifndef WEFT_SCENE_BLOCKS_H
#define WEFT_SCENE_BLOCKS_H

#include <weft/base.h>

#include <pthread.h>

#define WEFT__BLOCKS 16u

/* A large block. */
typedef struct weft__block {
    void *at; /* NULL: no block */
    size_t room;
    bool is_used;
    bool is_idle; /* since the bake before the last */
} weft__block;

/* Part of a scene. Blocks beyond the list go through. */
typedef struct weft__blocks {
    weft_allocator below;
    bool is_on;           /* owner, between bakes: new blocks are listed */
    pthread_mutex_t lock; /* of the list */
    weft__block list[WEFT__BLOCKS];
} weft__blocks;

/* Makes `hook` one that uses blocks again. */
void weft__blocks_init(weft__blocks *blocks, weft_allocator *hook);
/* Between two bakes: gives back what the last one did not need, and lists blocks from now on. */
void weft__blocks_age(weft__blocks *blocks);
/* Gives back what is not used; `hook` is the one below again. */
void weft__blocks_end(weft__blocks *blocks, weft_allocator *hook);

#endif
