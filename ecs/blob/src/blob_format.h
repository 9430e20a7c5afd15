/* SPDX-License-Identifier: MIT */
/* blob_format.h: the bytes of a blob block, its compiled type, and what builder, validator and
 * store share.
 *
 *     0        weft__blob_header
 *     64       root, then arrays, strings and objects in the order of their allocation, each at the
 *              next multiple of its alignment (so the layout depends on the calls only)
 *     data_end zero bytes up to a multiple of 8
 *     table    one weft__blob_extent per allocation, in order of position; the root is number 0
 *
 * Readers never touch the table: it is there so that validation is two linear passes. It says what
 * lies where; that every reference agrees with it is checked against the type, which the program
 * knows and an attacker does not choose. The content hash covers everything behind the header in
 * blocks of 64 KiB, so that the builder can hash large arrays while it copies them. */
#pragma once

#include <assert.h>
#include <weft/blob.h>

#define BLOB_MAGIC                                                                                 \
    UINT64_C(0x0A1A626F6C427457) /* "WtBlob", then two bytes text mode would change */
#define BLOB_VERSION 1u
#define BLOB_BYTE_ORDER 0x01020304u
#define BLOB_BYTES_MAX (UINT64_C(1) << 62)
#define BLOB_KINDS_MAX 256u
#define BLOB_FIELDS_MAX 4096u
#define BLOB_HASH_BLOCK ((uint64_t)64 << 10)
/* Seed of the hash of block number `index`. */
#define BLOB_BLOCK_SEED(index) (UINT64_C(0xA24BAED4963EE407) + (index))

/* The first bytes of a block, and owned with it. Invariants: table offset == data_end rounded up
 * to 8; total_bytes == table offset + extent_count * sizeof(weft__blob_extent). */
typedef struct weft__blob_header {
    uint64_t magic;
    uint32_t version, byte_order;
    uint64_t type_hash, content_hash;
    uint64_t total_bytes, data_end, extent_count;
    uint64_t reserved; /* 0 */
} weft__blob_header;
static_assert(sizeof(weft__blob_header) == WEFT_BLOB_HEADER_BYTES, "the root follows the header");

/* One allocation: root, array, string (with its NUL) or object. A value: of the table of a
 * block, or listed by its builder. Always: count != 0. */
typedef struct weft__blob_extent {
    uint64_t position; /* from the start of the block */
    uint64_t count;    /* elements, at least 1 */
    uint64_t owner; /* position of the array or string field that refers to it; 0: root, object */
    uint32_t kind;  /* index into weft__blob_plan.kinds */
    uint32_t depth; /* arrays around it: owner's depth + 1; 0: root, object */
} weft__blob_extent;
static_assert(sizeof(weft__blob_extent) == 32, "file format");

/* What an extent is an array of. A value; `type` is borrowed from the program. */
typedef struct weft__blob_element {
    const weft_blob_type *type; /* NULL: plain data */
    uint32_t bytes, alignment;
} weft__blob_element;

/* A root type, compiled: all kinds of extents it can reach, breadth first (the root is kind 0).
 * Constant after weft__blob_plan_init. Owner: its builder, or the stack of the call that checks a
 * block. Always: kind_count <= BLOB_KINDS_MAX. */
typedef struct weft__blob_plan {
    uint32_t kind_count;
    uint64_t type_hash;
    const char *mistake;     /* what is wrong with the description; NULL: nothing */
    uint64_t mistake_offset; /* in which field: bytes from the start of its struct */
    weft__blob_element kinds[BLOB_KINDS_MAX];
} weft__blob_plan;

/* Hash of one block of the content, known before the whole. A value; listed by the builder. */
typedef struct weft__blob_hash_block {
    uint64_t index, hash;
} weft__blob_hash_block;

/* Bytes to ask the allocator for: a little under whole pages when it is much, so that its own
 * header and the alignment fit in (else glibc maps and unmaps every such block: 25 x the time). */
static inline uint64_t weft__blob_reserve(uint64_t bytes)
{
    const uint64_t page = 4096, spare = 512;
    return bytes < 16 * page ? bytes : ((bytes + spare + page - 1) & ~(page - 1)) - spare;
}

static inline const weft__blob_extent *weft__blob_table(const void *block)
{
    const weft__blob_header *header = block;
    uint64_t offset = (header->data_end + 7) & ~UINT64_C(7);
    return (const weft__blob_extent *)(const void *)((const char *)block + offset);
}
