/* SPDX-License-Identifier: MIT */
/* row_block.h: rows of one kind list as bytes, column by column: what travels, what is in
 * checkpoints, and what hashes are made of.
 *
 *     words: rows | components << 32; gids [rows]; sectors [rows], 4 bytes each
 *     of each component, by id: a word: id | kind << 32 | has bits << 40, then
 *         PLAIN, SHARED  size * rows bytes
 *         BUFFER         lengths, 4 bytes each; all elements
 *         enable bits    a byte for each row
 *     of each SPARSE component that a row has, by id: a word as above, a word: its rows; their
 *         numbers, 4 bytes each; values
 *     a word: names; each: a word: row | bytes << 32, the text
 *
 * Every part begins at a multiple of eight bytes. References are gids; 0: null, or to a private
 * entity. A block of kept private entities has the number of sectors as their sector, and in place
 * of gids hashes of what they are.
 *
 * A *kind list* is what the rows of an archetype have beside ShardGid and ShardSector, by component
 * id: the same on every rank, because all register the same components in the same order. */
#pragma once

#include "byte_list.h"
#include "chunk_state.h"
#include "evolution.h"
#include "shard_state.h"

#define WEFT__ROW_COMPONENTS 256u /* of one archetype, at most */

/* How the values of a component are written. Numbers are in messages and files. */
typedef enum weft__value_kind {
    WEFT__VALUE_TAG = 0,
    WEFT__VALUE_PLAIN,
    WEFT__VALUE_BUFFER, /* lengths, then elements */
    WEFT__VALUE_SHARED, /* a value for each row */
    WEFT__VALUE_SPARSE, /* in no kind list: rows, then a value for each of these */
} weft__value_kind;

/* One component of rows. A value; `desc` belongs to the world. */
typedef struct weft__row_component {
    weft_component component;
    const weft_component_desc *desc;
    weft__value_kind kind;
    uint32_t size; /* of a value or an element */
    bool has_bits; /* ENABLEABLE */
    bool has_references;
} weft__row_component;
/* Why values cannot travel; NULL: they can. */
const char *weft__row_reason(const weft_component_desc *desc);
/* The kind list of an archetype, ascending by id. Errors: UNSUPPORTED, LIMIT. */
weft_result weft__row_components(const weft_shard *shard, weft_archetype archetype,
                                 weft__row_component list[WEFT__ROW_COMPONENTS], uint32_t *count);

/* The SPARSE component behind one, in the order of registration; from null to null. */
weft_component weft__sparse_next(const weft_shard *shard, weft_component component);

/* A hash of all components of the world in the order of their registration. */
uint64_t weft__components_hash(const weft_shard *shard);
/* Whether any component of the world has ENTITY fields. */
bool weft__world_has_references(const weft_shard *shard);

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
    const unsigned char *values;  /* PLAIN, SHARED, SPARSE; BUFFER: all elements */
    void *converted;              /* they, where another layout was written; owned */
    const uint32_t *rows;         /* SPARSE: [count] */
    uint32_t count;               /* of values, BUFFER: of lengths */
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
    weft__reader names; /* [name_count], checked */
    uint64_t name_count;
} weft__block;

/* The components that the ids in the bytes mean. Owner: a load. */
typedef struct weft__block_types {
    weft_component *components; /* [id, up to `count`]; null: not in this world */
    weft__evolution *plans;     /* [id]; those that are needed */
    uint64_t count;
} weft__block_types;

/* Reads the next block: everything is checked against the bytes and the world. Errors: CORRUPT,
 * TYPE_MISMATCH, OUT_OF_MEMORY. `types` NULL: ids and layouts are those of this world. */
weft_result weft__block_read(const weft_shard *shard, weft__reader *in,
                             const weft__block_types *types, weft__block *out);
void weft__block_free(weft__block *block);
/* Whether its rows are kept private entities. */
static inline bool weft__block_is_private(const weft_shard *shard, const weft__block *block)
{
    return block->count != 0 && block->sectors[0] == shard->map.count;
}
/* The next name of block->names, in `out`; NULL: it is damaged. */
const char *weft__block_name(weft__reader *names, uint32_t *row, char out[256]);

/* The hash of each row: of its components and values, not of its gid. `out`: [rows][2]. */
void weft__block_hash(const weft_shard *shard, const weft__block *block, uint64_t (*out)[2]);

/* Makes the table current. Errors: OUT_OF_MEMORY. Cost: O(entities) after structure changed. */
weft_result weft__gid_table_refresh(weft_shard *shard);
/* Of the table as it is; null: none. A row counts before a stub, a stub before a ghost. */
weft_entity weft__gid_table_find(const weft_shard *shard, uint64_t gid);
/* Adds an entity, or puts it in the place of the one that there is. False: memory is refused. */
bool weft__gid_table_put(weft_shard *shard, uint64_t gid, weft_entity entity);
void weft__gid_table_free(weft_shard *shard);
