/* SPDX-License-Identifier: MIT */
/* row_types.h: which components of rows travel, and how.
 *
 * A *kind list* is what the rows of an archetype have beside ShardGid and ShardSector, by component
 * id: the same on every rank, because all register the same components in the same order. */
#ifndef WEFT_ROW_TYPES_H
#define WEFT_ROW_TYPES_H

#include "component_type.h"
#include "shard_state.h"

#define WEFT__ROW_COMPONENTS 256u /* of one archetype, at most */

/* How the values of a component are written. Numbers are in messages and files. */
typedef enum weft__value_kind {
    WEFT__VALUE_TAG = 0,
    WEFT__VALUE_PLAIN,
    WEFT__VALUE_BUFFER, /* lengths, then elements */
    WEFT__VALUE_SHARED, /* a value for each row */
    WEFT__VALUE_KINDS,
} weft__value_kind;

/* Sharded entities that have a SPARSE component. Owner: the shard. */
typedef struct weft__sparse_watch {
    weft_component component;
    weft_query query;
} weft__sparse_watch;

/* One component of rows. A value; `desc` belongs to the world. */
typedef struct weft__row_component {
    weft_component component;
    const weft_component_desc *desc;
    weft__value_kind kind;
    uint32_t size; /* of a value or an element */
    bool has_bits; /* ENABLEABLE */
    bool has_references;
    bool is_hashed;
} weft__row_component;

/* What the library must know of a component; UNSUPPORTED where its values cannot travel. */
weft_result weft__row_component_of(const weft_shard *shard, weft_component component,
                                   weft__row_component *out);
/* The kind list of an archetype, ascending by id. Errors: UNSUPPORTED, LIMIT. */
weft_result weft__row_components(const weft_shard *shard, weft_archetype archetype,
                                 weft__row_component list[WEFT__ROW_COMPONENTS], uint32_t *count);

/* Refuses sharded entities that have SPARSE components: those are in no archetype, so nothing
 * sends, saves or hashes them. Errors: UNSUPPORTED (the text names it), OUT_OF_MEMORY. */
weft_result weft__sparse_refuse(weft_shard *shard);
void weft__sparse_free(weft_shard *shard);

/* A hash of all components of the world in the order of their registration. */
uint64_t weft__components_hash(const weft_shard *shard);
/* Whether any component of the world has ENTITY fields. */
bool weft__world_has_references(const weft_shard *shard);

#endif
