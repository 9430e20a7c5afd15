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

/* How the destination has a shared value of the source. */
typedef enum weft__value_came {
    WEFT__VALUE_KNOWN,  /* it had an equal one */
    WEFT__VALUE_NEW,    /* its bytes were put there by this transfer */
    WEFT__VALUE_MERGED, /* those of another one, equal there since references became null, were */
} weft__value_came;

/* Shared values of one SHARED type of the source. Owner: the transfer. */
typedef struct weft__transfer_shared {
    uint32_t end;    /* entries of the maps */
    uint32_t *index; /* [source index]: index in the destination + 1; 0: not needed so far. One
                        reference of the transfer is on each */
    uint8_t *came;   /* [source index]: weft__value_came */
} weft__transfer_shared;

/* A blob of the source's store that moved rows refer to. Owner: the transfer's table. */
typedef struct weft__transfer_blob {
    uint64_t from, to; /* references; from 0: free entry; to 0: it was stale */
    bool is_kept;      /* the destination's store keeps a reference */
} weft__transfer_blob;

/* One transfer; on the stack of weft_world_transfer. */
typedef struct weft__transfer {
    weft_world *from, *to;
    weft__change change;           /* the rows of the source; parts' `pieces`: first of `spans` */
    uint32_t entity_parts;         /* parts with rows of entities; behind them those with rows of
                                      their SPARSE components */
    weft__spans spans;             /* rows of the destination, in the order of the parts */
    uint32_t *types;               /* [source id]: destination id, 0: not asked for yet */
    weft__archetype **targets;     /* [source archetype id - 1] */
    weft__transfer_shared *shared; /* [source id] */
    uint32_t type_count, archetype_count; /* of the source when the tables were made */
    weft_entity *sources;                 /* [number in the order of moving] old handles */
    weft_entity *ids;                     /* [number in the order of moving] new handles: given
                                             by the commit, or foreseen before */
    bool are_foreseen;
    uint64_t row_count;
    uint64_t name_count;
    bool shares_memory;         /* the same hooks and OS: memory changes hands */
    struct weft__handed *pairs; /* [reservation of the source]; NULL: none moves */
    uint32_t pair_count;
    uint32_t reserved; /* parts that have rows in the destination */
    uint32_t copied;   /* parts whose values were copied */
    WEFT__LIST(weft__transfer_blob) blobs;
    weft__table blobs_from; /* of their places in the list, from 1 */
    weft_transfer_report report;
} weft__transfer;

#endif
