/* SPDX-License-Identifier: MIT */
/* checkpoint.h: all rows of this rank as blocks, sector by sector, in an order that does not
 * depend on ranks: what hashes and checkpoints are made of. */
#pragma once

#include "row_block.h"

/* Takes the list of what checkpoints keep, and makes its queries. Errors: BAD_HANDLE,
 * TYPE_MISMATCH, INVALID_ARGUMENT, those of queries. */
weft_result weft__kept_make(weft_shard *shard, const weft_component list[WEFT_SHARD_KEPT_LIMIT]);

/* Rows of one chunk. Borrowed from the world. Kept private ones have sector map.count. */
typedef struct weft__sector_run {
    uint64_t order; /* of the kind list */
    uint32_t sector, count;
    weft_archetype archetype;
    weft__row_place place; /* of its first row */
    const uint64_t *gids;
} weft__sector_run;

/* Runs by sector, then by kind list. Valid until structure changes. Zero-initialise. */
typedef struct weft__sector_rows {
    weft__sector_run *runs;
    uint64_t capacity;
    uint32_t count;
} weft__sector_rows;

/* The rows of a query: rows_query, or one of kept_rows, without gids. Errors: OUT_OF_MEMORY,
 * UNSUPPORTED. */
weft_result weft__sector_rows_collect(const weft_shard *shard, weft_query query,
                                      weft__sector_rows *out);
void weft__sector_rows_free(weft__sector_rows *rows);
/* The end of the runs that belong together with run `begin`: of the same sector and archetype. */
uint32_t weft__sector_rows_group(const weft__sector_rows *rows, uint32_t begin);
/* Appends one block with the rows of runs [begin, end), sorted by gid. Errors: as
 * weft__block_write.
 */
weft_result weft__sector_rows_write(const weft_shard *shard, const weft__sector_rows *rows,
                                    uint32_t begin, uint32_t end, weft__bytes *out);
