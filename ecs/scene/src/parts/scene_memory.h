/* SPDX-License-Identifier: MIT */
/* scene_memory.h: memory of scenes: lists that grow, and piles whose memory ends at once. NULL and
 * false mean that memory was refused; what was there stays as it was. One thread per list or pile.
 */
#ifndef WEFT_SCENE_MEMORY_H
#define WEFT_SCENE_MEMORY_H

#include <weft/base.h>

#include "heap.h"

/* A list of elements of one type. Zero is empty. Its owner frees it with WEFT__LIST_FREE. */
#define WEFT__LIST(type)                                                                           \
    struct {                                                                                       \
        type *at;                                                                                  \
        uint32_t count, room;                                                                      \
    }

/* Makes room for `count` elements of `size` bytes. */
bool weft__list_room(weft__memory *memory, void **at, uint32_t *room, uint32_t count, size_t size);

/* The next element, not zeroed; NULL: memory was refused. */
#define WEFT__LIST_ADD(memory, list)                                                               \
    (weft__list_room((memory), (void **)&(list)->at, &(list)->room, (list)->count + 1,             \
                     sizeof *(list)->at)                                                           \
         ? &(list)->at[(list)->count++]                                                            \
         : NULL)
#define WEFT__LIST_FREE(memory, list)                                                              \
    (weft__free((memory), WEFT__MEMORY_OTHER, (list)->at, (list)->room, sizeof *(list)->at, 16),   \
     (list)->at = NULL, (list)->count = (list)->room = 0)

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
