/* SPDX-License-Identifier: MIT */
/* arena.h: memory of which everything goes at once: the entries of a stage, the access sets of a
 * schedule. A list of blocks, owned by what holds its head; owner of the world only. */
#pragma once

#include "heap.h"

/* A block; NULL is an empty arena. Owner: the arena. Always: used <= bytes. */
typedef struct weft__arena_block {
    struct weft__arena_block *next;
    size_t bytes;
    size_t used;
    _Alignas(16) char data[];
} weft__arena_block;

/* `bytes` zeroed bytes that live until the arena is emptied; NULL: out of memory. */
void *weft__arena_take(weft__memory *memory, weft__arena_block **arena, size_t bytes);
/* Forgets everything, keeps the largest block. */
void weft__arena_empty(weft__memory *memory, weft__arena_block **arena);
void weft__arena_free(weft__memory *memory, weft__arena_block **arena);
