/* SPDX-License-Identifier: MIT */
/* section_format.h: the bytes of a section file, and what writer and reader share.
 *
 * Little-endian, unaligned. The *front* says all that is needed to reserve room for a section:
 *
 *     header      weft__section_header
 *     types       each as weft__file_type_put makes it
 *     shapes      each: u32 types, u32 type[]: what rows have beside Section
 *     sections    each: u32 has bounds, f32 least[3], most[3], u64 at, u64 bytes, u64 table bytes,
 *                 u64 table hash, u32 rows, runs, pieces, exports, lates, blobs, names; then its
 *                 runs, then its pieces
 *     run         u32 shape, u32 rows, u32 pieces, per SHARED type of the shape u8 0 (default) or 1
 *                 and the value
 *     piece       u32 rows, u64 at, u64 bytes, u64 hash: rows of one chunk
 *
 * The rows of a section are numbered in the order of its pieces. A section lies at a multiple of
 * 4 KiB: its table, then its pieces, which are a column after the other, packed:
 *
 *     table       exports u32 row[]; lates weft__late[]; blobs, each: u64 type hash, u64 bytes, the
 *                 block; names, each: u32 row, text
 *     piece       per type with a column, no buffer and no hooks, in order of the shape: rows x
 *                 value (its hash takes weft__section_part rows at a time); then
 *                 per type in order of the shape:
 *                   CHUNK       the value
 *                   ENABLEABLE  u8 0 (all enabled) or 1 and u64 disabled bits[]
 *                   BUFFER      per row u32 elements, and these
 *                   saved by a hook, also elements: each u32 bytes, and these
 *
 * ENTITY fields hold {row, 1}: of this section; {export, 3}: of section 0; null. BLOB fields hold 0
 * or the number of the blob in the table from 1. text: u32 bytes, then the bytes. */
#pragma once

#include "world_state.h"

#include <weft/stream.h>

#define WEFT__SECTION_MAGIC UINT64_C(0x0A1A74636553570A) /* line end, "WSect", bytes of text mode */
#define WEFT__SECTION_VERSION 2u
#define WEFT__SECTION_BYTE_ORDER 0x01020304u
#define WEFT__SECTION_SEED UINT64_C(0x5EC710C5B0F17E55)
#define WEFT__SECTION_ALIGNMENT 4096u
#define WEFT__FRONT_BYTES_MAX (UINT64_C(1) << 30)

/* A column is read, hashed and settled in parts of so many bytes, while the part is in cache: 1 M
 * entities of 40 bytes come in 0.8 of the time that parts of a whole chunk take. */
#define WEFT__SECTION_PART_BYTES (UINT32_C(256) << 10)

/* Versions of stored handles. */
#define WEFT__STORED_ROW 1u
#define WEFT__STORED_EXPORT 3u

/* The first bytes of a file. A value. The hash is of everything in the front behind it. */
typedef struct weft__section_header {
    uint64_t magic, front_hash;
    uint32_t version, byte_order;
    uint64_t front_bytes, total_bytes;
    uint64_t scene;
    uint32_t type_count, shape_count, section_count;
    uint32_t run_count, piece_count; /* of all sections */
    uint32_t reserved;               /* 0 */
} weft__section_header;
static_assert(sizeof(weft__section_header) == 72, "file format");

/* A reference to an entity of another section, which is null until that is there. A value. */
typedef struct weft__late {
    uint32_t row, type;       /* whose field it is: a row of this section, a type of the file */
    uint32_t element;         /* of a BUFFER */
    uint32_t offset;          /* bytes into the value or element */
    uint32_t section, target; /* export number `target` of that section */
} weft__late;
static_assert(sizeof(weft__late) == 24, "file format");

/* Whether values of the type are a column of a piece, its bytes or what a hook saves. */
static inline bool weft__section_has_column(const weft__type *type)
{
    return type->value_bytes != 0 && (type->desc.flags & WEFT_BUFFER) == 0;
}

/* Whether they are a packed column. */
static inline bool weft__section_is_packed(const weft__type *type)
{
    return weft__section_has_column(type) && type->desc.hooks.save == NULL;
}

/* Rows of a packed column that are hashed at once. */
static inline uint32_t weft__section_part(const weft__type *type)
{
    return type->value_bytes >= WEFT__SECTION_PART_BYTES
               ? 1
               : WEFT__SECTION_PART_BYTES / (uint32_t)type->value_bytes;
}
