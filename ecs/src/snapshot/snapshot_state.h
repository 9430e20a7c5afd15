/* SPDX-License-Identifier: MIT */
/* snapshot_state.h: what a snapshot holds. How it is compared with the
 * world: chunk_pair.h.
 *
 * Rows are kept in blocks: the values of one column in one slice of one chunk. A block is shared
 * by all snapshots between which the slice did not change. That is seen by the chunk's serial
 * number, its entities, and the change version, as far as versions mean the same (timeline.h):
 * never by an address, and by looking at entities only where rows came, went or moved. */
#ifndef WEFT_SNAPSHOT_STATE_H
#define WEFT_SNAPSHOT_STATE_H

#include "archetype_order.h"
#include "directory_dead.h"
#include "name_table.h"
#include "timeline.h"

/* Values of a slice of a column. Reference counted by the owner. */
typedef struct weft__snapshot_block {
    uint32_t references;
    uint32_t bytes;           /* of data */
    uint32_t count;           /* values */
    const weft__type *type;   /* NULL: entities */
    _Alignas(64) char data[]; /* as aligned as any component: hooks write here */
} weft__snapshot_block;

/* The blocks of a column of a chunk. Reference counted by the owner: a column in which no slice
 * changed is shared as a whole, so its blocks are not touched. */
typedef struct weft__snapshot_column {
    uint32_t references;
    uint32_t slice_count;
    weft__snapshot_block *blocks[]; /* [slice]; a reference on each */
} weft__snapshot_column;

/* A chunk as it was. `side` is its side memory: versions, disabled bits and counts, chunk
 * values. Owner: the snapshot. Always: count != 0; each column has slice_count blocks, and the
 * counts of its blocks sum up to `count`. */
typedef struct weft__snapshot_chunk {
    uint64_t serial;
    uint32_t id;
    uint32_t size_class;
    uint32_t count;
    uint32_t slice_count; /* that hold rows */
    uint32_t order_version;
    uint32_t side_bytes;
    uint32_t room; /* of the archetype's list: which chunk goes to the head of its tuple's list of
                      chunks with room as the n-th; WEFT__NONE: no further one */
    uint32_t value_count;
    uint32_t *values; /* of the tuple; a reference on each is held */
    void *side;
    weft__snapshot_column **columns; /* [column]; a reference on each */
} weft__snapshot_chunk;

/* The chunks of an archetype of `order` in list order: chunks[first_chunk, first_chunk +
 * chunk_count). A value. */
typedef struct weft__snapshot_archetype {
    uint32_t chunk_count;
    uint32_t first_chunk;
    uint32_t order_version;
} weft__snapshot_archetype;

/* Owned by the caller that took it; constant once taken; used by the owner of the world only.
 * Always:
 *   archetype_count == order.count;
 *   archetypes[i].first_chunk = sum of chunk_count of archetypes before i;
 *   chunk_count = sum of chunk_count of all archetypes <= chunk_limit. */
struct weft_snapshot {
    weft_world *world;
    weft_snapshot *next;      /* of the world, see weft__timelines */
    weft__timeline *timeline; /* held */
    uint32_t version;         /* the world's, after taking it */
    uint32_t renewed;         /* the world's: where its versions ... */
    uint64_t renewal;         /* were renewed last */
    uint64_t steps;           /* the world's clock */
    double time;
    float dt;
    weft__archetype_list order;           /* of archetypes, as it was */
    weft__snapshot_archetype *archetypes; /* [place in the order] */
    uint32_t archetype_count;
    weft__snapshot_chunk *chunks; /* by archetype, in list order */
    uint32_t chunk_count;
    WEFT__LIST(weft__dead)
    dead; /* indices that are not alive; alive ones are known from the
                                    rows */
    uint32_t archetype_limit, chunk_limit; /* elements allocated (less one) */
    void **resources;                      /* [type id] copies, NULL */
    uint32_t type_count;
    void *states[WEFT__EXTENSION_COUNT]; /* of the world's extensions; NULL: none */
    weft__names_kept *names;             /* of entities; held, NULL: none */
    weft__past past;
};

#endif
