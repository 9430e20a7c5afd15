/* SPDX-License-Identifier: MIT */
/* transfer_state.h: one transfer of entities between two worlds: what its files share.
 *
 * Steps, in this order: select (rows of the source), map (types, archetypes, shared values),
 * reserve (ids, chunks and rows of the destination), copy (values, buffers, blobs): all of these
 * may fail, and are undone. Then commit: ids, references, names, versions; the rows of the source
 * end without being destructed. Owner of both worlds, both idle. */
#ifndef WEFT_TRANSFER_STATE_H
#define WEFT_TRANSFER_STATE_H

#include <weft/transfer.h>

#include "query_change.h"

/* Marks a location of a source entity that moves: below it is its number in the order of moving. */
#define WEFT__TRANSFER_MOVES (UINT32_C(1) << 31)

#define WEFT__TRANSFER_STAYS UINT32_MAX

/* Shared values of one SHARED type of the source. */
typedef struct weft__transfer_shared {
    uint32_t end;    /* entries of the maps */
    uint32_t *index; /* [source index]: index in the destination + 1; 0: not needed so far. One
                        reference of the transfer is on each */
    bool *is_new;    /* [source index]: its bytes were put into the destination by this transfer */
} weft__transfer_shared;

/* A blob of the source's store that moved rows refer to. */
typedef struct weft__transfer_blob {
    uint64_t from, to; /* references; from 0: free entry; to 0: it was stale */
    bool is_kept;      /* the destination's store keeps a reference */
} weft__transfer_blob;

/* One transfer; on the stack of weft_world_transfer. */
typedef struct weft__transfer {
    weft_world *from, *to;
    weft__change change;           /* the rows of the source; parts' `pieces`: first of `spans` */
    weft__spans spans;             /* rows of the destination, in the order of the parts */
    uint32_t *types;               /* [source id]: destination id, 0: not asked for yet */
    weft__archetype **targets;     /* [source archetype id - 1] */
    weft__transfer_shared *shared; /* [source id] */
    uint32_t type_count, archetype_count; /* of the source when the tables were made */
    weft_entity *sources;                 /* [number in the order of moving] old handles */
    weft_entity *ids;                     /* [number in the order of moving] new handles */
    uint64_t row_count;
    uint64_t name_count;
    bool shares_memory; /* the same hooks and OS: memory changes hands */
    uint32_t *pairs;    /* [reservation of the source]: WEFT__TRANSFER_STAYS or what it is in the
                           destination; NULL: none moves */
    uint32_t pair_count;
    uint32_t reserved;          /* parts that have rows in the destination */
    uint32_t copied;            /* parts whose values were copied */
    weft__transfer_blob *blobs; /* hash table by `from` */
    uint32_t blob_count, blob_capacity;
    weft_transfer_report report;
} weft__transfer;

/* Copies the last error of the source to the destination, where the caller looks. */
weft_result weft__transfer_failed(weft__transfer *t, weft_result result);
/* The destination's type of a source type. 0: error set. */
uint32_t weft__transfer_type(weft__transfer *t, uint32_t component);
/* Destination rows of a part: calls `visit` for every span with the number of its first row among
 * the rows of the part; ends when it returns false. */
bool weft__transfer_spans(weft__transfer *t, uint32_t part,
                          bool (*visit)(weft__transfer *t, uint32_t part, weft__span span,
                                        uint32_t done));

/* The destination's archetype of a source archetype. NULL: error set. */
weft__archetype *weft__transfer_target(weft__transfer *t, const weft__archetype *from);
/* Whether the chunk goes over as a chunk: all of it, in the same shape, and not mostly air. */
bool weft__transfer_keeps_chunk(const weft__change_part *part, const weft__archetype *to,
                                bool has_room);

/* ---- transfer_memory.c ---- */

/* Hands reservations over of which every unit moves. Before rows are reserved. */
weft_result weft__transfer_memory_take(weft__transfer *t);
/* The run of a chunk whose memory was handed over; false: it stays, and is to be copied. */
bool weft__transfer_memory_run(const weft__transfer *t, const weft__chunk *chunk, weft__run *run);
/* Gives everything back. */
void weft__transfer_memory_return(weft__transfer *t);
void weft__transfer_memory_fini(weft__transfer *t);

/* ---- transfer_shared.c ---- */

/* The destination's tuple for a source tuple. Held. NULL: error set. */
weft__tuple *weft__transfer_tuple(weft__transfer *t, const weft__tuple *from, weft__archetype *to);
/* BUSY when a value with a release hook would live in both worlds. After all tuples. */
weft_result weft__transfer_shared_check(weft__transfer *t);
/* New values are the destination's from here on: the source lets go of them without its hook. */
void weft__transfer_shared_commit(weft__transfer *t);
/* Drops the references of the transfer. */
void weft__transfer_shared_fini(weft__transfer *t);

/* ---- transfer_values.c ---- */

/* Copies the values of a part; on failure nothing of this part is left. */
weft_result weft__transfer_copy(weft__transfer *t, uint32_t part);
/* Undoes it. */
void weft__transfer_uncopy(weft__transfer *t, uint32_t part);
/* Heap memory, enable bits, versions, references of a part; after all ids are given. */
void weft__transfer_settle(weft__transfer *t, uint32_t part);

/* ---- transfer_blobs.c ---- */

/* Copies the blobs that the rows refer to. After the rows are reserved. */
weft_result weft__transfer_blobs_collect(weft__transfer *t);
/* Lets BLOB fields of moved values refer to the copies. */
void weft__transfer_blobs_rewrite(weft__transfer *t, const weft__type *type, void *values,
                                  uint32_t count);
/* Drops the references without a keeper; all of them unless the transfer is done. */
void weft__transfer_blobs_fini(weft__transfer *t, bool is_done);

#endif
