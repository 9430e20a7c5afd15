/* SPDX-License-Identifier: MIT */
/* pile.h: memory that is taken piece by piece and given back as a whole: what ends together needs
 * one pile, and no list of what was taken. One thread at a time. */
#pragma once

#include "heap.h"

/* Zero but `memory` and `category` is empty. It may be copied; the last copy is the pile then. */
typedef struct weft__pile {
    weft__memory *memory;
    weft__memory_category category;
    bool is_refused; /* a piece was; stays until the end */
    struct weft__pile_block *blocks;
    char *at, *end;
    size_t least; /* bytes of the next block at least */
} weft__pile;

/* `count * size` zeroed bytes, aligned to 16; NULL: refused. */
WEFT__DOOR void *weft__pile_take(weft__pile *pile, size_t count, size_t size);
/* A copy with a NUL behind it. */
WEFT__DOOR char *weft__pile_text(weft__pile *pile, const char *text, size_t bytes);
/* Empty again; what is taken next comes from one block, which stays: a pile that is filled as often
 * as it is emptied asks for no memory. */
void weft__pile_empty(weft__pile *pile);
/* Empty again. */
WEFT__DOOR void weft__pile_free(weft__pile *pile);
