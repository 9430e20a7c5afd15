/* snapshot.h: what a snapshot holds. Private to snapshot.c and snapshot_restore.c.
 *
 * Rows are kept in blocks: the values of one column in one slice of one chunk. A block is shared
 * by all snapshots between which the slice did not change. That is seen by the chunk's serial
 * number, its entities, and the change version, as far as versions mean the same (timeline.h):
 * never by an address, and by looking at entities only where rows came, went or moved. */
#ifndef WEFT_SNAPSHOT_H
#define WEFT_SNAPSHOT_H

#include "registry.h"
#include "structure.h"
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
 * values. */
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

/* The chunks of an archetype of `order` in list order. A value. */
typedef struct weft__snapshot_archetype {
    uint32_t chunk_count;
    uint32_t first_chunk;
    uint32_t order_version;
} weft__snapshot_archetype;

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
    weft_snapshot *next;      /* of the world, see weft__timelines */
    weft__timeline *timeline; /* held */
    uint32_t version;         /* the world's, after taking it */
    uint64_t steps;           /* the world's clock */
    double time;
    float dt;
    weft__archetype_list order;           /* of archetypes, as it was */
    weft__snapshot_archetype *archetypes; /* [place in the order] */
    uint32_t archetype_count;
    weft__snapshot_chunk *chunks; /* by archetype, in list order */
    uint32_t chunk_count;
    weft__dead *dead; /* indices that are not alive; alive ones are known from the rows */
    uint32_t dead_count;
    uint32_t dead_capacity;
    weft__snapshot_system *systems;
    uint32_t system_count;
    double *group_elapsed; /* [group]; groups are never removed */
    uint32_t group_count;
    uint32_t archetype_limit, chunk_limit, system_limit; /* elements allocated (less one) */
    void **resources;                                    /* [type id] copies, NULL */
    uint32_t type_count;
};

/* A chunk of the world and what a snapshot says of one. A value; of the stack. */
typedef struct weft__chunk_pair {
    const weft__chunk *chunk;
    const weft__snapshot_chunk *saved; /* of the same serial, archetype, size class; or NULL */
    uint32_t common;                   /* equal versions before this one mean the same ... */
    bool is_all_common;                /* ... and all that the snapshot has are before it */
    bool has_same_rows;                /* no row came, went or moved */
} weft__chunk_pair;

/* `saved`: of `snapshot`; another chunk and NULL are fine. */
weft__chunk_pair weft__chunk_pair_make(const weft__chunk *chunk, const weft__snapshot_chunk *saved,
                                       const weft_snapshot *snapshot, uint32_t common);
/* Rows of a slice of a chunk that has `count`. */
static inline uint32_t weft__slice_rows(const weft__chunk *chunk, uint32_t count, uint32_t slice)
{
    uint32_t shift = chunk->layout->slice_shift, first = slice << shift;
    if (count <= first) return 0;
    return count - first < 1u << shift ? count - first : 1u << shift;
}
/* Whether the rows of a slice are of the same entities, in order. */
bool weft__slice_has_same_rows(const weft__chunk_pair *pair, uint32_t slice);
/* Versions of a type position in saved side memory. */
static inline const weft_a32 *weft__saved_versions(const weft__chunk_pair *pair, uint32_t type)
{
    const weft__chunk *chunk = pair->chunk;
    size_t offset = (size_t)((const char *)chunk->x_versions - (const char *)chunk->side);
    const char *versions = (const char *)pair->saved->side + offset;
    return (const weft_a32 *)(const void *)versions + (size_t)type * chunk->layout->slice_count;
}
/* Whether the values of a type in a slice with the same rows are the same. */
static inline bool weft__slice_has_same_values(const weft__chunk_pair *pair, uint32_t type,
                                               uint32_t slice)
{
    uint32_t version = at_plain(&weft__chunk_versions(pair->chunk, type)[slice]);
    return at_plain(&weft__saved_versions(pair, type)[slice]) == version &&
           weft__version_is_before(version, pair->common);
}
/* The same of all slices of a chunk with the same rows. */
bool weft__chunk_has_same_values(const weft__chunk_pair *pair, uint32_t type);

/* WRONG_PHASE (error set) while entities exist that are in no row. */
weft_result weft__snapshot_check_ids(const weft_world *world, const char *what);

/* For the checker of invariants: every chunk of a snapshot holds a reference on each value. */
void weft__snapshots_shared_visit(const void *data, weft__shared_visit_fn visit, void *user);

#endif
