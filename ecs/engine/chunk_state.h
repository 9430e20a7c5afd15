/* SPDX-License-Identifier: MIT */
/* chunk_state.h: a chunk: a run of memory that holds rows of one archetype and one tuple of shared
 * values, column after column; its metadata; and the layouts that say where the columns are.
 *
 * The metadata (this struct and its side memory) is apart from the chunk memory, so that
 * filters, versions and enable bits are read without touching data. A chunk struct keeps its
 * address and id while it lives; afterwards both may be another one's. Rows are cut into slices
 * of `1 << slice_shift` rows: each slice has a change version per component type and, per
 * enableable type, a part of the disabled bits and a count. */
#pragma once

#include "world_front.h"

#include <assert.h>

/* One column in one layout; owned by it, constant. */
typedef struct weft__column {
    uint32_t offset; /* bytes from the chunk's base: format.c aligns it */
    uint32_t bytes;  /* bytes per row */
} weft__column;

/* Where the columns of a format lie in chunks of one size class. Made on first use, constant then.
 * Column 0 is the entity column, at offset 0. Owner: the format. Always:
 *   columns[i].offset + capacity * columns[i].bytes <= columns[i + 1].offset;
 *   slice_count = ceil(capacity / 2^slice_shift). */
typedef struct weft__layout {
    uint32_t size_class;
    uint32_t capacity;    /* rows, at least 1 */
    uint32_t slice_count; /* slices that `capacity` rows touch */
    uint32_t mask_words;  /* 64-bit words of a row bit map: (capacity + 63) / 64 */
    uint32_t slice_shift;
    uint32_t column_count;
    weft__column columns[]; /* [column] */
} weft__layout;

#define WEFT__CHUNK_ROWS_MAX 131072u /* of the largest chunk: a megachunk of handles */
#define WEFT__OWN_SIDE ((size_t)40)  /* side memory within the chunk */

/* A chunk. The first cache line is what iteration and look-ups need. Owned by the world; changed by
 * the owner while the world is idle, or in playback by the one task that owns the chunk. Always,
 * while it is linked:
 *   1 <= count <= capacity; has_room <=> count < capacity;
 *   archetype->chunks[list_index] == it; world->chunks.at[id] == it; tuple->archetype == archetype;
 *   the berths from location on, as many as capacity needs, are its own;
 *   disabled bits at and beyond count are 0; the count of a slice = its disabled bits. */
struct weft__chunk {
    char *base; /* memory of the rows */
    const weft__layout *layout;
    weft__archetype *archetype;
    uint32_t count;         /* rows; 1..capacity while it is in a list */
    uint32_t capacity;      /* layout->capacity */
    uint32_t order_version; /* world version at which rows last came, went or moved */
    uint32_t location;      /* of row 0; 0: private chunk of a job, not linked */
    /* side memory, one run: chunk values, disabled bits, versions, disabled counts */
    weft_a32 *x_versions; /* [type position * slice_count + slice]; changed by weft__stamp: stores
                             of equal values race */
    weft_a64 *x_disabled; /* [enableable * mask_words + word]; bit set = row disabled; 0 beyond the
                             rows; changed by the worker of the slice: filter.h */
    weft__tuple *tuple;
    /* second line: bookkeeping */
    weft_a32 *x_disabled_counts; /* [enableable * slice_count + slice], rows disabled */
    char *chunk_values;          /* + type_ref.chunk_offset; NULL when there are none */
    uint32_t side_bytes;
    uint32_t stamped_slice; /* all types of it are known to have stamped_version */
    uint32_t stamped_version;
    uint32_t ready_version; /* of the slices of the ready rows, all types; while they are ready and
                               it is the world's, the order versions are, too */
    uint32_t ready_end;     /* rows count..ready_end-1 are ready for single creation: they read as
                               zero, their slices have ready_version, and none is the last one that
                               fits; never above 0 where a birth is more than bytes */
    uint32_t is_zero;       /* rows at and beyond `count` were never written and read as zero */
    uint32_t list_index;    /* position in archetype->chunks */
    uint32_t first_unit;    /* where the memory is: unit index ... */
    uint32_t unit_count;    /* ... and units; 0: a part of unit `first_unit`, which is
                               WEFT__SMALL_UNIT in small memory (small_memory.h) */
    uint32_t id; /* in world->chunks.at, the lowest that was free; 0: private chunk of a job, not
                    linked. Array operations take chunks in this order */
    struct weft__chunk *room_next; /* list of chunks with room of the tuple; both NULL and not */
    struct weft__chunk *room_prev; /* tuple->room: not in it */
    uint64_t serial; /* what it is known by over time: never given twice in a world, unlike its
                        address and id; a snapshot that makes it again gives it its own back */
    uint32_t mark;   /* scratch of one array operation: entry of the chunk + 1; or of a playback:
                        tasks stamp it; else 0 */
    bool has_room;   /* in that list: count < capacity */
    bool has_ids;    /* private: rows without an id have the null handle; else no row has an id, and
                      the entity column is undefined */
    bool
        is_private; /* was made by a job: the object is a block of the allocator, not of the world's
                        lines (small_memory.h) */
    _Alignas(8) char own_side[WEFT__OWN_SIDE]; /* side memory that fits, without chunk values; else
                                                  it is a block */
};
static_assert(sizeof(weft__chunk) == 3 * 64, "fills its lines");

/* A run of rows of one chunk. A value. */
typedef struct weft__span {
    weft__chunk *chunk;
    uint32_t row;
    uint32_t count;
} weft__span;

static inline weft_entity *weft__chunk_entities(const weft__chunk *chunk)
{
    return (weft_entity *)(void *)chunk->base;
}

/* The run of side memory. */
static inline char *weft__chunk_side(const weft__chunk *chunk)
{
    return chunk->chunk_values != NULL ? chunk->chunk_values : (char *)chunk->x_disabled;
}

/* First value of a column (1.. for components). */
static inline char *weft__chunk_column(const weft__chunk *chunk, uint32_t column)
{
    return chunk->base + chunk->layout->columns[column].offset;
}

static inline char *weft__chunk_value(const weft__chunk *chunk, uint32_t column, uint32_t row)
{
    const weft__column *place = &chunk->layout->columns[column];
    return chunk->base + place->offset + (size_t)row * place->bytes;
}

/* Change versions of a type position, one per slice. */
static inline weft_a32 *weft__chunk_versions(const weft__chunk *chunk, uint32_t type)
{
    return chunk->x_versions + (size_t)type * chunk->layout->slice_count;
}

/* Disabled bits of an enableable position (archetype->types[].enableable), one per row. */
static inline weft_a64 *weft__chunk_disabled(const weft__chunk *chunk, uint32_t enableable)
{
    return chunk->x_disabled + (size_t)enableable * chunk->layout->mask_words;
}

/* Disabled rows of an enableable position, one count per slice. */
static inline weft_a32 *weft__chunk_disabled_counts(const weft__chunk *chunk, uint32_t enableable)
{
    return chunk->x_disabled_counts + (size_t)enableable * chunk->layout->slice_count;
}

/* Slices that hold rows now. */
static inline uint32_t weft__chunk_slices(const weft__chunk *chunk)
{
    uint32_t shift = chunk->layout->slice_shift;
    return (chunk->count + (1u << shift) - 1) >> shift;
}

/* A row that was used is beyond the rows now. */
static inline void weft__chunk_soil(weft__chunk *chunk)
{
    chunk->ready_end = 0;
    chunk->is_zero = false;
}

static inline uint32_t weft__location(const weft__chunk *chunk, uint32_t row)
{
    return chunk->location + row;
}

/* Stamps a slice. relaxed: the value is read after the next sync point; racing writers of one
 * system store the same number. Stored only when different, so that the line can stay shared. */
static inline void weft__stamp(weft_a32 *x_version, uint32_t version)
{
    if (at_load_rlx(x_version) != version) at_store_rlx(x_version, version); /* relaxed: above */
}
