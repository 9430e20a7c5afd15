/* SPDX-License-Identifier: MIT */
/* heap.c: allocation through the user's hook, with relaxed counters per category. The hook must be
 * told the size again on release, so callers keep counts, and the counters need no header. */
#include "heap.h"

#include <stdlib.h>
#include <string.h>

/* glibc before 2.38 never gives a freed aligned block to the next aligned_alloc of the same size
 * (it looks for one that is larger by the alignment), so a program that makes and frees large
 * blocks gets fresh pages again and again: 1.8 ms instead of 0.1 for 4 MiB. From this size on the
 * library aligns by itself, with malloc's pointer in front of the block. */
#define OWN_ALIGNMENT_BYTES ((size_t)1 << 10)

static bool aligns_by_itself(size_t bytes, size_t alignment)
{
    return alignment > _Alignof(max_align_t) && bytes >= OWN_ALIGNMENT_BYTES;
}

/* The block in malloc's block, with its pointer in front. */
static void *align_within(char *whole, size_t alignment)
{
    if (whole == NULL) return NULL;
    /* malloc's blocks lie at multiples of 16, so at least a pointer fits in between */
    char *block = whole + (alignment - (uintptr_t)whole % alignment);
    memcpy(block - sizeof whole, &whole, sizeof whole);
    return block;
}

static void *allocate_libc(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    if (alignment <= _Alignof(max_align_t)) return malloc(bytes);
    if (bytes > SIZE_MAX - alignment) return NULL;
    if (aligns_by_itself(bytes, alignment))
        return align_within(malloc(bytes + alignment), alignment);
    void *block = NULL; /* aligned_alloc wants the size rounded up */
    return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
}

/* Fresh memory of the C library reads as zero: it is not touched then. */
static void *zeroed_libc(size_t bytes, size_t alignment)
{
    if (alignment <= _Alignof(max_align_t)) return calloc(1, bytes);
    if (bytes > SIZE_MAX - alignment) return NULL;
    if (!aligns_by_itself(bytes, alignment)) {
        void *block = allocate_libc(NULL, bytes, alignment);
        return block == NULL ? NULL : memset(block, 0, bytes);
    }
    return align_within(calloc(1, bytes + alignment), alignment);
}

static void release_libc(void *user, void *memory, size_t bytes, size_t alignment)
{
    (void)user;
    char *whole = memory;
    if (aligns_by_itself(bytes, alignment))
        memcpy(&whole, (char *)memory - sizeof whole, sizeof whole);
    free(whole);
}

weft_result weft__memory_init(weft__memory *memory, const weft_allocator *hook)
{
    *memory = (weft__memory){.hook = {.allocate = allocate_libc, .release = release_libc}};
    if (hook == NULL) return WEFT_OK;
    if ((hook->allocate == NULL) != (hook->release == NULL)) return WEFT_INVALID_ARGUMENT;
    if (hook->allocate != NULL) memory->hook = *hook;
    return WEFT_OK;
}

void weft__memory_count(weft__memory *memory, weft__memory_category category, int64_t bytes)
{
    /* relaxed: a statistic; nothing is published by it */
    at_add_rlx(&memory->x_bytes[category], (uint64_t)bytes);
}

uint64_t weft__memory_bytes(const weft__memory *memory, weft__memory_category category)
{
    return at_load_rlx(&memory->x_bytes[category]); /* relaxed: a statistic */
}

void weft__memory_count_blocks(weft__memory *memory, weft__memory_category category, size_t bytes,
                               uint32_t blocks)
{
    weft__memory_count(memory, category, (int64_t)(bytes * blocks));
    at_add_rlx(&memory->x_allocations, (uint64_t)blocks); /* relaxed: a statistic */
}

void *weft__alloc_uncounted(weft__memory *memory, size_t bytes, size_t alignment)
{
    return memory->hook.allocate(memory->hook.user, bytes, alignment);
}

static void *count_block(weft__memory *memory, weft__memory_category category, size_t bytes,
                         void *block)
{
    if (block != NULL) weft__memory_count_blocks(memory, category, bytes, 1);
    return block;
}

/* An empty list is no failure: it has an address, at which nothing is. */
static void *nothing(void)
{
    static _Alignas(64) char place[64];
    return place;
}

void *weft__alloc(weft__memory *memory, weft__memory_category category, size_t count, size_t size,
                  size_t alignment)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    if (bytes == 0) return nothing();
    return count_block(memory, category, bytes,
                       memory->hook.allocate(memory->hook.user, bytes, alignment));
}

void *weft__alloc_zeroed(weft__memory *memory, weft__memory_category category, size_t count,
                         size_t size, size_t alignment)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    if (memory->hook.allocate == allocate_libc && bytes != 0)
        return count_block(memory, category, bytes, zeroed_libc(bytes, alignment));
    void *block = weft__alloc(memory, category, count, size, alignment);
    if (block != NULL && bytes != 0) memset(block, 0, bytes);
    return block;
}

void *weft__realloc(weft__memory *memory, weft__memory_category category, void *old,
                    size_t old_count, size_t new_count, size_t size, size_t alignment)
{
    void *block = weft__alloc(memory, category, new_count, size, alignment);
    if (block == NULL) return NULL;
    size_t kept = old_count < new_count ? old_count : new_count;
    if (kept != 0) memcpy(block, old, kept * size);
    weft__free(memory, category, old, old_count, size, alignment);
    return block;
}

void weft__free(weft__memory *memory, weft__memory_category category, void *block, size_t count,
                size_t size, size_t alignment)
{
    if (block == NULL || count * size == 0) return;
    weft__memory_count(memory, category, -(int64_t)(count * size));
    memory->hook.release(memory->hook.user, block, count * size, alignment);
}
