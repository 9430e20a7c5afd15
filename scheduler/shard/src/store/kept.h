/* SPDX-License-Identifier: MIT */
/* kept.h: what checkpoints hold beside sharded entities: resources, and private entities that
 * have a mark (weft_shard_desc.kept). It is the same on all ranks, so any number of them can go on
 * with it. */
#pragma once

#include "row_block.h"

/* What a rank would write. Zero-initialise; the caller frees `bytes`. */
typedef struct weft__kept {
    weft__bytes bytes;
    uint64_t of[WEFT_SHARD_KEPT_LIMIT][2]; /* how many entities, and a hash of them */
} weft__kept;

/* Takes the list of the description, and makes its queries. Errors: BAD_HANDLE, TYPE_MISMATCH,
 * INVALID_ARGUMENT, those of queries. */
weft_result weft__kept_make(weft_shard *shard, const weft_component list[WEFT_SHARD_KEPT_LIMIT]);

/* Errors: UNSUPPORTED, OUT_OF_MEMORY. */
weft_result weft__kept_write(const weft_shard *shard, weft__kept *out);
/* Whether all ranks would write the same; collective. Errors: UNSUPPORTED, IO. */
weft_result weft__kept_compare(const weft_shard *shard, const weft__kept *kept);

/* Errors: INVALID_ARGUMENT: there are private entities with a mark. */
weft_result weft__kept_is_new(const weft_shard *shard);
/* Reads the names in front: each must be in the list. Errors: CORRUPT, TYPE_MISMATCH. */
weft_result weft__kept_names(const weft_shard *shard, weft__reader *in, const char *path);
/* Whether these are the values of kept resources, and they can be set. Errors: CORRUPT,
 * WRONG_PHASE. */
weft_result weft__kept_check(const weft_shard *shard, const weft__block *resources);
void weft__kept_set(const weft_shard *shard, const weft__block *resources);
