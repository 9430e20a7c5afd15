/* SPDX-License-Identifier: MIT */
/* arena.c: memory that goes all at once: access sets of a compiled schedule, runs of stages. Blocks
 * double; emptying keeps the largest, so that a steady state allocates nothing. */
#include "arena.h"

#include "bits.h"

#include <string.h>

#define FIRST_BLOCK_BYTES ((size_t)4096)

static size_t block_size(const weft__arena_block *block)
{
    return sizeof *block + block->bytes;
}

void *weft__arena_take(weft__memory *memory, weft__arena_block **arena, size_t bytes)
{
    bytes = bits_align_up(bytes == 0 ? 1 : bytes, 16);
    weft__arena_block *block = *arena;
    if (block == NULL || block->bytes - block->used < bytes) {
        size_t wanted = block == NULL ? FIRST_BLOCK_BYTES : block->bytes * 2;
        if (wanted < bytes) wanted = bytes;
        weft__arena_block *fresh =
            weft__alloc(memory, WEFT__MEMORY_SYSTEMS, 1, sizeof *fresh + wanted, 64);
        if (fresh == NULL) return NULL;
        *fresh = (weft__arena_block){.next = block, .bytes = wanted};
        *arena = block = fresh;
    }
    void *taken = block->data + block->used;
    block->used += bytes;
    memset(taken, 0, bytes);
    return taken;
}

static void free_from(weft__memory *memory, weft__arena_block *block)
{
    while (block != NULL) {
        weft__arena_block *next = block->next;
        weft__free(memory, WEFT__MEMORY_SYSTEMS, block, 1, block_size(block), 64);
        block = next;
    }
}

void weft__arena_empty(weft__memory *memory, weft__arena_block **arena)
{
    if (*arena == NULL) return;
    free_from(memory, (*arena)->next); /* the newest is the largest */
    (*arena)->next = NULL;
    (*arena)->used = 0;
}

void weft__arena_free(weft__memory *memory, weft__arena_block **arena)
{
    free_from(memory, *arena);
    *arena = NULL;
}
