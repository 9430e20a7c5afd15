/* SPDX-License-Identifier: MIT */
/* pile.c: blocks that double up to 1 MiB, filled from their beginning; what does not fit into the
 * last one begins another. Nothing is given back before it is emptied. */
#include "pile.h"

#include <string.h>

#define BLOCK_LEAST ((size_t)128)
#define BLOCK_MOST ((size_t)1 << 20)

struct weft__pile_block {
    struct weft__pile_block *next;
    size_t bytes; /* this header included */
};

static bool grow(weft__pile *pile, size_t bytes)
{
    size_t last = pile->blocks == NULL ? BLOCK_LEAST / 2 : pile->blocks->bytes;
    size_t size = last < BLOCK_MOST ? 2 * last : BLOCK_MOST;
    size_t needed = bytes + sizeof(struct weft__pile_block);
    if (size < needed) size = needed;
    if (size < pile->least) size = pile->least;
    struct weft__pile_block *block = weft__alloc(pile->memory, pile->category, size, 1, 16);
    if (block == NULL) return false;
    *block = (struct weft__pile_block){pile->blocks, size};
    pile->blocks = block;
    pile->at = (char *)(block + 1);
    pile->end = (char *)block + size;
    return true;
}

void *weft__pile_take(weft__pile *pile, size_t count, size_t size)
{
    size_t bytes;
    bool is_refused = __builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4;
    bytes = bytes == 0 ? 16 : (bytes + 15) & ~(size_t)15;
    if (!is_refused && (size_t)(pile->end - pile->at) < bytes) is_refused = !grow(pile, bytes);
    pile->is_refused |= is_refused;
    if (is_refused) return NULL;
    void *taken = memset(pile->at, 0, bytes);
    pile->at += bytes;
    return taken;
}

char *weft__pile_text(weft__pile *pile, const char *text, size_t bytes)
{
    char *copy = weft__pile_take(pile, bytes + 1, 1);
    if (copy != NULL && bytes != 0) memcpy(copy, text, bytes);
    return copy;
}

void weft__pile_empty(weft__pile *pile)
{
    size_t bytes = 0;
    struct weft__pile_block *newest = pile->blocks;
    for (const struct weft__pile_block *b = newest; b != NULL; b = b->next) bytes += b->bytes;
    if (newest != NULL && newest->next == NULL) {
        pile->at = (char *)(newest + 1);
    } else {
        weft__pile_free(pile);
        if (bytes != 0) pile->least = bytes;
    }
    pile->is_refused = false;
}

void weft__pile_free(weft__pile *pile)
{
    while (pile->blocks != NULL) {
        struct weft__pile_block *block = pile->blocks;
        pile->blocks = block->next;
        weft__free(pile->memory, pile->category, block, block->bytes, 1, 16);
    }
    *pile = (weft__pile){.memory = pile->memory, .category = pile->category, .least = pile->least};
}
