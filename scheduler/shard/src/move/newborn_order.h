/* SPDX-License-Identifier: MIT */
/* newborn_order.h: which of new rows with equal values is which, by what refers to them.
 *
 * Rows with equal values may get any of their gids only while nothing tells them apart. A row that
 * has a gid and refers to one of them does, and so does a new row that refers to it or that it
 * refers to. All references to a new row are on its rank, so this needs no messages.
 *
 * New rows that refer to each other are a *group*. Its rows have colours, which are refined
 * (Weisfeiler and Leman 1968): first a hash of values and of the gids that refer to the row;
 * then, again and again, of the colour and of the colours of rows that refer to it and that it
 * refers to, until that tells nothing new. Then one of several rows of one colour is chosen, and
 * the others are refined by it, until no row of one colour has neighbours of one. Among equal
 * rows, gids go by the key of the group, which is made of all of its colours; groups of one key
 * are alike, and put in one order for all of their rows; within a group by colour.
 *
 * Private entities, resources and NOT_HASHED components tell nothing apart. Groups that refinement
 * cannot tell from each other and that are not alike either (regular ones of equal size) are
 * ordered by rank. */
#pragma once

#include "shard_state.h"

/* Memory of one naming, used again by the next. Zero-initialised it is empty. Owner: the shard.
 * Arrays have `count` elements, one for each mover; those of movers with a gid mean nothing. */
typedef struct weft__newborns {
    uint32_t count;
    const weft_entity *entities; /* of the movers; borrowed */
    const uint64_t *gids;        /* 0: new */
    uint64_t *hashes;            /* of values */
    uint64_t *keys;              /* of groups; 0 until rows are told apart */
    uint32_t *orders;            /* among those of one key on this rank */
    uint64_t *colours, *sums;
    uint32_t *leaders; /* of the group */
    struct weft__gid_pair *pairs;
    uint64_t capacity[7];
    struct weft__newborn_edge *edges; /* references to new rows */
    uint64_t edge_capacity, edge_count;
    uint64_t inner_count; /* of them: of new rows */
} weft__newborns;

/* Room for the movers; hashes are the caller's to set. False: memory is refused. */
bool weft__newborns_begin(weft__newborns *n, const weft_entity *entities, const uint64_t *gids,
                          uint32_t count);
/* Sets keys and orders. Errors: OUT_OF_MEMORY. Cost: O(references of the world), and of a group
 * O(its equals * its references). */
weft_result weft__newborns_tell_apart(const weft_shard *shard, weft__newborns *n);
void weft__newborns_free(weft__newborns *n);
