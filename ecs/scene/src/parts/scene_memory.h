/* SPDX-License-Identifier: MIT */
/* scene_memory.h: memory of scenes: lists, and piles whose memory ends at once. NULL and
 * false mean that memory was refused; what was there stays as it was. One thread per list or pile.
 */
#ifndef WEFT_SCENE_MEMORY_H
#define WEFT_SCENE_MEMORY_H

#include <weft/base.h>

#include "list.h"
#include "table.h"

#include <pthread.h>

/* Lists whose memory is of no other category. */
#define WEFT__SCENE_ADD(memory, list) WEFT__LIST_ADD(memory, WEFT__MEMORY_OTHER, list)
#define WEFT__SCENE_ROOM(memory, list, wanted)                                                     \
    WEFT__LIST_ROOM(memory, WEFT__MEMORY_OTHER, list, wanted)
#define WEFT__SCENE_FREE(memory, list) WEFT__LIST_FREE(memory, WEFT__MEMORY_OTHER, list)

/* Memory that is taken piece by piece and given back as a whole. Zero but `memory` is empty. */
typedef struct weft__pile {
    weft__memory *memory;
    struct weft__pile_block *blocks;
    char *at, *end;
} weft__pile;

/* Aligned to 16. */
void *weft__pile_take(weft__pile *arena, size_t bytes);
/* A copy with a NUL behind it. */
char *weft__pile_text(weft__pile *arena, const char *text, size_t bytes);
void weft__pile_free(weft__pile *arena);

/* ---- large blocks ----
 *
 * Each bake makes the texts, objects and nodes of the last one again; blocks fresh from the system
 * cost a page fault for each 4 KiB, a fifth of the time of a bake after a small edit. The first
 * bake, whose lists grow, is not concerned. An allocator in front of another one, for any thread.
 * Small blocks go through. */

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
