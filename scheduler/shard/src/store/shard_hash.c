/* SPDX-License-Identifier: MIT */
/* shard_hash.c: weft_shard_hash: sums mod 2^64 of the hashes of rows, which are exact in any
 * order and on any number of ranks. Rows are hashed as blocks, as they would travel: references
 * are gids. */
#include <stdlib.h>

#include "hash.h"
#include "ranks_error.h"
#include "sector_move.h"
#include "sector_rows.h"

/* Adds the hashes of the rows of a block. */
static weft_result add_block(weft_shard *shard, const weft__bytes *bytes, uint64_t sums[2])
{
    weft__reader in = {bytes->at, bytes->at + bytes->count};
    weft__block block;
    weft_result result = weft__block_read(shard, &in, NULL, &block);
    if (result != WEFT_OK) return result;
    uint64_t(*hashes)[2] = malloc((size_t)block.count * sizeof *hashes + 1);
    if (hashes == NULL) {
        result = weft__ranks_no_memory();
    } else {
        weft__block_hash(shard, &block, hashes);
        for (uint32_t row = 0; row < block.count; row++)
            for (uint32_t k = 0; k < 2; k++)
                sums[k] += hash_end(hash_word(hash_start(block.gids[row], k), hashes[row][k]));
    }
    free(hashes);
    weft__block_free(&block);
    return result;
}

static weft_result hash_rows(weft_shard *shard, uint64_t sums[2])
{
    weft__sector_rows rows = {0};
    weft__bytes bytes = {0};
    weft_result result = weft__sector_rows_collect(shard, &rows);
    for (uint32_t begin = 0, end; begin < rows.count && result == WEFT_OK; begin = end) {
        end = weft__sector_rows_group(&rows, begin);
        bytes.count = 0;
        result = weft__sector_rows_write(shard, &rows, begin, end, &bytes);
        if (result == WEFT_OK) result = add_block(shard, &bytes, sums);
    }
    weft__bytes_free(&bytes);
    weft__sector_rows_free(&rows);
    return result;
}

weft_result weft_shard_hash(weft_shard *shard, uint64_t out[2])
{
    out[0] = out[1] = 0;
    uint64_t sums[2] = {0, 0};
    weft_result result = weft__rows_sync(shard, WEFT_OK);
    if (result == WEFT_OK) result = weft_ranks_agree(hash_rows(shard, sums));
    if (result == WEFT_OK) result = weft__transport_sum(sums, 2);
    if (result != WEFT_OK) return result;
    out[0] = sums[0];
    out[1] = sums[1];
    return WEFT_OK;
}
