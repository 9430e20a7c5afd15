/* SPDX-License-Identifier: MIT */
/* scene_blocks.c: a list of large blocks, used and free. A request takes a free one that is not
 * much larger; when there is none and the list is full of free ones, one of them makes room.
 * See scene_blocks.h. */
#include "scene_blocks.h"

#include <string.h>

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
