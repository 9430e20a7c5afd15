/* SPDX-License-Identifier: MIT */
/* scene_memory.c: piles: blocks that double up to 1 MiB, filled from their beginning; what does
 * not fit into the last one begins another. Nothing of a pile is given back before its end. See
 * scene_memory.h. */
#include "scene_memory.h"

#include <string.h>

#define BLOCK_LEAST 128u
#define BLOCK_MOST (UINT32_C(1) << 20)

struct weft__pile_block {
    struct weft__pile_block *next;
    size_t bytes; /* this header included */
};

static size_t next_bytes(const weft__pile *arena, size_t bytes)
{
    size_t last = arena->blocks == NULL ? BLOCK_LEAST / 2 : arena->blocks->bytes;
    size_t block = last < BLOCK_MOST ? 2 * last : BLOCK_MOST;
    size_t needed = bytes + sizeof(struct weft__pile_block);
    return block > needed ? block : needed;
}

void *weft__pile_take(weft__pile *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 4) return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes == 0) bytes = 16;
    if ((size_t)(arena->end - arena->at) < bytes) {
        size_t size = next_bytes(arena, bytes);
        struct weft__pile_block *block =
            weft__alloc(arena->memory, WEFT__MEMORY_OTHER, size, 1, 16);
        if (block == NULL) return NULL;
        *block = (struct weft__pile_block){arena->blocks, size};
        arena->blocks = block;
        arena->at = (char *)(block + 1);
        arena->end = (char *)block + size;
    }
    void *taken = arena->at;
    arena->at += bytes;
    return taken;
}

char *weft__pile_text(weft__pile *arena, const char *text, size_t bytes)
{
    char *copy = weft__pile_take(arena, bytes + 1);
    if (copy == NULL) return NULL;
    if (bytes != 0) memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

void weft__pile_free(weft__pile *arena)
{
    while (arena->blocks != NULL) {
        struct weft__pile_block *block = arena->blocks;
        arena->blocks = block->next;
        weft__free(arena->memory, WEFT__MEMORY_OTHER, block, block->bytes, 1, 16);
    }
    arena->at = arena->end = NULL;
}
