/* snapshot.h: what a snapshot holds. Private to snapshot.c and snapshot_restore.c.
 *
 * Rows are kept in blocks: the values of one column in one slice of one chunk. A block is shared
 * by all snapshots between which the slice did not change, which is seen by its change version
 * and the chunk's order version, never by looking at data. Versions tell times apart only along
 * one line of events, so every restore begins a new *timeline*; blocks are shared only within
 * one, or with the snapshot it began from. */
#ifndef WEFT_SNAPSHOT_H
#define WEFT_SNAPSHOT_H

#include "scheduler_private.h"
#include "structure.h"

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
 * values. */
typedef struct weft__snapshot_chunk {
    weft__chunk *chunk; /* only compared, never followed before its id is found in the world */
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

/* The chunks of an archetype in list order. A value. */
typedef struct weft__snapshot_archetype {
    uint32_t chunk_count;
    uint32_t first_chunk;
    uint32_t order_version;
} weft__snapshot_archetype;

/* An index that is not alive; alive ones are known from the rows. */
typedef struct weft__snapshot_dead {
    uint32_t index;
    uint32_t version;
} weft__snapshot_dead;

/* What the filters of a system compare with. A value. */
typedef struct weft__snapshot_system {
    uint32_t handle;
    uint32_t since;
    uint32_t stamp;
    bool was_active;
    double elapsed;
    double timer;
} weft__snapshot_system;

/* Owned by whoever took it; constant once taken; used by the owner of the world only. */
struct weft_snapshot {
    weft_world *world;
    weft_snapshot *next; /* of the world, see weft__timelines */
    uint64_t timeline;
    uint32_t version; /* the world's, after taking it */
    uint64_t steps;   /* the world's clock */
    double time;
    float dt;
    weft__snapshot_archetype *archetypes;
    uint32_t archetype_count;
    weft__snapshot_chunk *chunks; /* by archetype, in list order */
    uint32_t chunk_count;
    weft__snapshot_dead *dead;
    uint32_t dead_count;
    uint32_t dead_capacity;
    uint32_t directory_end;
    weft__snapshot_system *systems;
    uint32_t system_count;
    double *group_elapsed; /* [group]; groups are never removed */
    uint32_t group_count;
    uint32_t archetype_limit, chunk_limit, system_limit; /* elements allocated (less one) */
    void **singletons;                                   /* [type id] copies, NULL */
    uint32_t type_count;
};

/* Timelines of a world; in its snapshots extension. */
typedef struct weft__timelines {
    weft_world *world;
    uint64_t current; /* from 1 */
    uint64_t last;
    const weft_snapshot *origin; /* the snapshot that `current` began from, or NULL */
    weft_snapshot *snapshots;    /* all there are, by `next` */
} weft__timelines;

weft__timelines *weft__timelines_obtain(weft_world *world);
/* Whether equal versions in the snapshot and the world mean equal data. */
bool weft__snapshot_is_comparable(const weft_snapshot *snapshot);

#endif
