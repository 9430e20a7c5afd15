/* SPDX-License-Identifier: MIT */
/* scene_memory.h: memory of scenes: lists, and piles whose memory ends at once. NULL and
 * false mean that memory was refused; what was there stays as it was. One thread per list or pile.
 */
#ifndef WEFT_SCENE_MEMORY_H
#define WEFT_SCENE_MEMORY_H

#include <weft/base.h>

#include "list.h"
#include "table.h"

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

#endif
