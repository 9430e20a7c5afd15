/* SPDX-License-Identifier: MIT */
/* blob_store.h: the inside of a blob store: slots, reference counts, content table. The protocol is
 * at the top of blob_store.c. */
#pragma once

#include "blob_format.h"
#include "lock.h"
#include "os_file.h"
#include "table.h"

/* Slots come in segments of 64, 128, 256, ...: they never move, so weft_blob_read needs no lock. */
#define BLOB_SEGMENT_FIRST 64u
#define BLOB_SEGMENTS 26u
#define BLOB_NO_SLOT UINT32_MAX

/* Where the bytes of a block are. */
typedef enum blob_backing {
    BLOB_HEAP,   /* from the allocator, `reserved_bytes` of them */
    BLOB_PAGES,  /* from weft_os.map, read-only; `reserved_bytes` whole pages */
    BLOB_MAPPED, /* a mapped file; `reserved_bytes` of it */
} blob_backing;

/* A block on its way into a store, or out of it. Owner: one thread, until weft__blob_store_insert.
 */
typedef struct weft__blob_block {
    void *memory;
    size_t reserved_bytes;
    blob_backing backing;
} weft__blob_block;

/* One blob. Owner: the store, in a segment that never moves. Written by the thread that fills or
 * frees it; readers check x_state first. */
typedef struct blob_slot {
    weft_a64 x_state; /* generation (number of the store, count) << 32 | references */
    weft__blob_block block;
    const weft_blob_type *type;
    /* guarded by the store's lock */
    uint32_t next; /* in the free list */
} blob_slot;

/* Owner: the caller of weft_blob_store_create. Any thread may use it. */
struct weft_blob_store {
    /* constant after create */
    weft__memory *memory; /* of the world, or own_memory */
    weft__memory own_memory;
    const weft_os *os;
    uint32_t number;      /* in its references: 1..65,535; 0: it has none yet */
    uint32_t first_count; /* of its slots */
    bool protects;
    /* shared atomic */
    weft__lock lock;                     /* lock.h; guards which blobs exist */
    weft_aptr x_segments[BLOB_SEGMENTS]; /* blob_slot[BLOB_SEGMENT_FIRST << i], NULL until needed */
    /* guarded by the lock */
    uint32_t count_end;  /* no slot had this count, or a later one */
    uint32_t slot_count; /* slots ever given out */
    uint32_t free_first; /* list of free slots, through `next` */
    weft__table content; /* slots from 1, by what their blobs contain */
    weft_blob_store_stats stats;
    weft_error error; /* the last one */
};

/* A store that takes its memory from `memory`, which outlives it; NULL: from a copy of `own`. */
weft_result weft__blob_store_make(weft__memory *memory, const weft__memory *own, const weft_os *os,
                                  uint32_t protection, weft_blob_store **out);

/* Frees a store without builders. */
void weft__blob_store_free(weft_blob_store *store);

/* One more builder of the store, or with -1 one less. */
void weft__blob_store_built(weft_blob_store *store, int more);

/* A block of `bytes` bytes, not zeroed, for a blob that will be protected if the store does so. */
weft_result weft__blob_block_create(weft_blob_store *store, size_t bytes, weft__blob_block *out);
void weft__blob_block_destroy(weft_blob_store *store, weft__blob_block *block);
/* Takes over a complete, valid block (or frees it because an equal one is there) and gives one
 * reference. On failure the block stays the caller's. */
weft_result weft__blob_store_insert(weft_blob_store *store, weft__blob_block *block,
                                    const weft_blob_type *type, weft_blob_ref *out);
/* Keeps why something failed, for weft_blob_store_error; `file` may be NULL. Returns `code`. */
__attribute__((format(printf, 4, 5))) weft_result weft__blob_store_fail(weft_blob_store *store,
                                                                        weft_result code,
                                                                        const char *file,
                                                                        const char *format, ...);
/* The block of a live reference, or NULL. */
const weft__blob_header *weft__blob_store_block(const weft_blob_store *store, weft_blob_ref ref);
/* Its type, or NULL. */
const weft_blob_type *weft__blob_store_type(const weft_blob_store *store, weft_blob_ref ref);
