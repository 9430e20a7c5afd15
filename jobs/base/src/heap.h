/* SPDX-License-Identifier: MIT */
/* heap.h: heap memory of a world or a pool: the user's allocator hook plus exact counters per
 * category.
 *
 * Owned by the world or pool; any thread may allocate. Sizes are given back on release, so nothing
 * is stored in front of a block. No function aborts: NULL means the hook refused, and the caller
 * undoes. */
#pragma once

#include "atomic.h"
#include "door.h"

#include <weft/base.h>

typedef enum weft__memory_category {
    WEFT__MEMORY_JOBS,      /* pools, deques, job slots */
    WEFT__MEMORY_ENTITIES,  /* directory, entity blocks, names */
    WEFT__MEMORY_CHUNKS,    /* mapped component storage (counted here, mapped through weft_os) */
    WEFT__MEMORY_METADATA,  /* chunk metadata, archetypes, layouts, edges */
    WEFT__MEMORY_TYPES,     /* component registry */
    WEFT__MEMORY_QUERIES,   /* queries, match caches, filters */
    WEFT__MEMORY_SHARED,    /* shared values */
    WEFT__MEMORY_BUFFERS,   /* spilled dynamic buffers */
    WEFT__MEMORY_COMMANDS,  /* command buffers and playback scratch */
    WEFT__MEMORY_SYSTEMS,   /* systems, schedule */
    WEFT__MEMORY_SNAPSHOTS, /* snapshots */
    WEFT__MEMORY_BLOBS,     /* blob stores and their blobs, mapped files not counted */
    WEFT__MEMORY_OTHER,
    WEFT__MEMORY_CATEGORY_COUNT
} weft__memory_category;

/* Owner: the world, pool or store that it counts for. Always, while no thread allocates:
 * x_bytes[c] = bytes taken minus bytes given back in category c. */
typedef struct weft__memory {
    weft_allocator hook; /* constant after init; never NULL functions */
    /* shared atomic, relaxed counters */
    weft_a64 x_bytes[WEFT__MEMORY_CATEGORY_COUNT];
    weft_a64 x_allocations; /* successful allocations since init */
} weft__memory;

/* Takes the hook (or malloc/free when it is all zero). WEFT_INVALID_ARGUMENT when only one function
 * is set. */
WEFT__DOOR weft_result weft__memory_init(weft__memory *memory, const weft_allocator *hook);

/* `count * size` bytes, not zeroed, or NULL (also on overflow). An empty list, of 0 bytes, takes no
 * memory and is not NULL. */
WEFT__DOOR void *weft__alloc(weft__memory *memory, weft__memory_category category, size_t count,
                             size_t size, size_t alignment);
/* The same, zeroed. */
WEFT__DOOR void *weft__alloc_zeroed(weft__memory *memory, weft__memory_category category,
                                    size_t count, size_t size, size_t alignment);
/* Grows an array to `new_count` elements: copies, releases the old one. NULL leaves the old one
 * valid. */
void *weft__realloc(weft__memory *memory, weft__memory_category category, void *old,
                    size_t old_count, size_t new_count, size_t size, size_t alignment);
/* One of many blocks of the same size, which weft__memory_count_blocks counts together: counters
 * are on lines that all threads write. */
void *weft__alloc_uncounted(weft__memory *memory, size_t bytes, size_t alignment);
void weft__memory_count_blocks(weft__memory *memory, weft__memory_category category, size_t bytes,
                               uint32_t blocks);
/* Releases `count * size` bytes of the same category and alignment. NULL is ignored. */
WEFT__DOOR void weft__free(weft__memory *memory, weft__memory_category category, void *block,
                           size_t count, size_t size, size_t alignment);

/* Lines of 64 bytes, and what is made of them, lie at lines; all else at 16. */
static inline size_t weft__alignment(size_t size)
{
    return size % 64 == 0 ? 64 : 16;
}

/* Memory for `count` of `what`, a value or a type, and back: size and alignment are of its type. */
#define WEFT__NEW(memory, category, count, what)                                                   \
    weft__alloc((memory), (category), (count), sizeof(what), weft__alignment(sizeof(what)))
#define WEFT__NEW_ZEROED(memory, category, count, what)                                            \
    weft__alloc_zeroed((memory), (category), (count), sizeof(what), weft__alignment(sizeof(what)))
#define WEFT__FREE(memory, category, block, count)                                                 \
    weft__free((memory), (category), (block), (count), sizeof *(block),                            \
               weft__alignment(sizeof *(block)))

/* Counts memory that was not taken through the hook (mapped chunks): `bytes` may be negative. */
void weft__memory_count(weft__memory *memory, weft__memory_category category, int64_t bytes);
uint64_t weft__memory_bytes(const weft__memory *memory, weft__memory_category category);
