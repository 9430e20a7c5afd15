/* SPDX-License-Identifier: MIT */
/* row_block.h: rows of one kind list as bytes, column by column: what travels, what is in
 * checkpoints, and what hashes are made of.
 *
 *     words: rows | components << 32; gids [rows]; sectors [rows], 4 bytes each
 *     of each component, by id: a word: id | kind << 32 | has bits << 40, then
 *         PLAIN, SHARED  size * rows bytes
 *         BUFFER         lengths, 4 bytes each; all elements
 *         enable bits    a byte for each row
 *
 * Every part begins at a multiple of eight bytes. References are gids; 0: null, or to a private
 * entity. */
#ifndef WEFT_ROW_BLOCK_H
#define WEFT_ROW_BLOCK_H

#include "chunk_state.h"
#include "row_types.h"

/* Where a row is. Borrowed from the world, until structure changes. */
typedef struct weft__row_place {
    const weft__chunk *chunk;
    uint32_t row;
} weft__row_place;

/* The chunk of a slice, and the row in it with which the slice begins. */
static inline weft__row_place weft__slice_place(const weft_slice *slice)
{
    const weft__chunk *chunk = slice->chunk;
    return (weft__row_place){chunk, (uint32_t)(slice->entities - weft__chunk_entities(chunk))};
}

static inline weft_entity weft__row_entity(weft__row_place place)
{
    return weft__chunk_entities(place.chunk)[place.row];
}

/* Rows to be written: of one archetype. Borrowed. */
typedef struct weft__row_list {
    weft_archetype archetype;
    uint32_t count;
    const weft__row_place *places;
    const uint64_t *gids;
    const uint32_t *sectors;
} weft__row_list;

/* Appends a block. Errors: UNSUPPORTED, LIMIT, OUT_OF_MEMORY: bytes may have been added. */
weft_result weft__block_write(const weft_shard *shard, const weft__row_list *rows,
                              weft__bytes *out);

/* A component of a block that was read. Pointers into the bytes. */
typedef struct weft__block_column {
    weft__row_component type;
    const unsigned char *values;  /* PLAIN, SHARED; BUFFER: all elements */
    const uint32_t *lengths;      /* BUFFER: [rows] */
    uint64_t *starts;             /* BUFFER: [rows]: elements before those of the row; owned */
    const unsigned char *enabled; /* [rows] bytes; NULL: no enable bits */
} weft__block_column;

/* Owner: the reader; `columns` is freed by weft__block_free. */
typedef struct weft__block {
    uint32_t count, column_count;
    const uint64_t *gids;
    const uint32_t *sectors;
    weft__block_column *columns;
} weft__block;

/* Which component of this world has the id in the bytes; null: none. */
typedef weft_component weft__component_map_fn(const weft_shard *shard, uint32_t id,
                                              const void *user);

/* Reads the next block: everything is checked against the bytes and the world. Errors: CORRUPT,
 * TYPE_MISMATCH, OUT_OF_MEMORY. `map` NULL: ids are those of this world. */
weft_result weft__block_read(const weft_shard *shard, weft__reader *in, weft__component_map_fn *map,
                             const void *user, weft__block *out);
void weft__block_free(weft__block *block);

/* The hash of each row: of its components and values, not of its gid. `out`: [rows][2]. */
void weft__block_hash(const weft_shard *shard, const weft__block *block, uint64_t (*out)[2]);

#endif
