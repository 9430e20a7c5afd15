/* SPDX-License-Identifier: MIT */
/* scene_memory.c: piles: blocks that double up to 1 MiB, filled from their beginning; what does
 * not fit into the last one begins another. Nothing of a pile is given back before its end. Then a
 * list of large blocks, used and free: a request takes a free one that is not much larger; when
 * there is none and the list is full of free ones, one of them makes room. See scene_memory.h. */
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

/* ---- blocks that are used again ---- */

#define LARGE_BYTES (UINT32_C(64) << 10) /* smaller ones glibc keeps itself */

static weft__block *block_find(weft__blocks *blocks, const void *at)
{
    for (uint32_t i = 0; i < WEFT__BLOCKS; i++)
        if (blocks->list[i].at == at) return &blocks->list[i];
    return NULL;
}

/* A free block of at least `bytes`, and at most a quarter more; NULL. */
static weft__block *block_fit(weft__blocks *blocks, size_t bytes)
{
    for (uint32_t i = 0; i < WEFT__BLOCKS; i++) {
        weft__block *block = &blocks->list[i];
        if (block->at != NULL && !block->is_used && block->room >= bytes &&
            block->room - bytes <= bytes / 4)
            return block;
    }
    return NULL;
}

/* An entry of the list for a new block; NULL: all are used. */
static weft__block *entry_make(weft__blocks *blocks)
{
    weft__block *entry = block_find(blocks, NULL);
    for (uint32_t i = 0; i < WEFT__BLOCKS && entry == NULL; i++)
        if (!blocks->list[i].is_used) entry = &blocks->list[i];
    if (entry != NULL && entry->at != NULL)
        blocks->below.release(blocks->below.user, entry->at, entry->room, 64);
    if (entry != NULL) *entry = (weft__block){0};
    return entry;
}

static void *large_allocate(weft__blocks *blocks, size_t bytes)
{
    weft__block *entry = block_fit(blocks, bytes);
    if (entry == NULL) {
        entry = blocks->is_on ? entry_make(blocks) : NULL;
        size_t room = bytes + bytes / 16; /* texts grow a little */
        if (entry == NULL) return blocks->below.allocate(blocks->below.user, bytes, 64);
        void *at = blocks->below.allocate(blocks->below.user, room, 64);
        if (at == NULL) return NULL;
        *entry = (weft__block){.at = at, .room = room};
    }
    entry->is_used = true;
    entry->is_idle = false;
    return entry->at;
}

static void *blocks_allocate(void *user, size_t bytes, size_t alignment)
{
    weft__blocks *blocks = user;
    if (bytes < LARGE_BYTES || alignment > 64)
        return blocks->below.allocate(blocks->below.user, bytes, alignment);
    pthread_mutex_lock(&blocks->lock);
    void *at = large_allocate(blocks, bytes);
    pthread_mutex_unlock(&blocks->lock);
    return at;
}

static void blocks_release(void *user, void *at, size_t bytes, size_t alignment)
{
    weft__blocks *blocks = user;
    bool is_large = at != NULL && bytes >= LARGE_BYTES && alignment <= 64;
    weft__block *block = NULL;
    if (is_large) {
        pthread_mutex_lock(&blocks->lock);
        block = block_find(blocks, at);
        if (block != NULL) block->is_used = false;
        pthread_mutex_unlock(&blocks->lock);
    }
    if (block == NULL)
        blocks->below.release(blocks->below.user, at, bytes, is_large ? 64 : alignment);
}

void weft__blocks_init(weft__blocks *blocks, weft_allocator *hook)
{
    blocks->below = *hook;
    memset(blocks->list, 0, sizeof blocks->list);
    pthread_mutex_init(&blocks->lock, NULL);
    blocks->is_on = false;
    *hook = (weft_allocator){blocks_allocate, blocks_release, blocks};
}

void weft__blocks_age(weft__blocks *blocks)
{
    pthread_mutex_lock(&blocks->lock);
    for (uint32_t i = 0; i < WEFT__BLOCKS; i++) {
        weft__block *block = &blocks->list[i];
        if (block->at == NULL || block->is_used) continue;
        if (block->is_idle) {
            blocks->below.release(blocks->below.user, block->at, block->room, 64);
            *block = (weft__block){0};
        }
        block->is_idle = true;
    }
    blocks->is_on = true;
    pthread_mutex_unlock(&blocks->lock);
}

void weft__blocks_end(weft__blocks *blocks, weft_allocator *hook)
{
    for (uint32_t i = 0; i < WEFT__BLOCKS; i++)
        if (blocks->list[i].at != NULL && !blocks->list[i].is_used)
            blocks->below.release(blocks->below.user, blocks->list[i].at, blocks->list[i].room, 64);
    pthread_mutex_destroy(&blocks->lock);
    *hook = blocks->below;
}
