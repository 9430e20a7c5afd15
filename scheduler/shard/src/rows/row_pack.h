/* SPDX-License-Identifier: MIT */
/* row_pack.h: packs: the halo values of the rows of sectors, sorted by gid.
 *
 * Chunks have rows in the order in which they came. A pack has them by gid, which is the same on
 * every rank and after every restart, and without holes, so it is also what is sent. Copied
 * again is only what changed: columns by change versions, all of a sector where rows came, left
 * or moved. */
#pragma once

#include "shard_state.h"

/* A value; pairs are owned by the caller, one thread. */
typedef struct weft__gid_pair {
    uint64_t key;
    uint32_t number;
} weft__gid_pair;

/* Sorts `count` pairs; `room`: as many. Returns where the sorted ones are: `pairs` or `room`. */
weft__gid_pair *weft__gid_sort(weft__gid_pair *pairs, weft__gid_pair *room, uint32_t count);

/* Makes the packs of the sectors of this rank current. Owner; systems do not run, or an EXCLUSIVE
 * one does. Errors: OUT_OF_MEMORY. Cost: a visit per chunk, some ns per changed value; jobs of the
 * pool share the copying. */
weft_result weft__packs_update(weft_shard *shard);
/* Room for `count` rows in all arrays. False: memory is refused. */
bool weft__pack_reserve(const weft_shard *shard, weft__pack *pack, uint32_t count);
void weft__packs_free(weft_shard *shard);
/* All rows and values count as changed: the map did. */
void weft__packs_forget_sent(weft_shard *shard);
