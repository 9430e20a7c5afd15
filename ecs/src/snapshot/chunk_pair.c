/* SPDX-License-Identifier: MIT */
/* chunk_pair.c: which rows and values of a chunk are those of a snapshot.
 *
 * Rows of a chunk in which none came, went or moved are known by its versions; else the entities of
 * a slice are compared. What versions mean the same: timeline.h. */
#include "chunk_pair.h"

#include <string.h>

weft__chunk_pair weft__chunk_pair_make(const weft__chunk *chunk, const weft__snapshot_chunk *saved,
                                       const weft_snapshot *snapshot, uint32_t common)
{
    if (saved != NULL &&
        (saved->serial != chunk->serial || saved->side_bytes != chunk->side_bytes ||
         saved->size_class != chunk->layout->size_class))
        saved = NULL;
    weft__chunk_pair pair = {.chunk = chunk, .saved = saved, .common = common};
    if (saved == NULL) return pair;
    pair.is_comparable = snapshot->renewal == snapshot->world->front.renewal;
    pair.is_all_common = snapshot->version == common;
    pair.has_same_rows = pair.is_comparable && saved->count == chunk->count &&
                         saved->order_version == chunk->order_version &&
                         weft__version_is_before(saved->order_version, common);
    return pair;
}

bool weft__slice_has_same_rows(const weft__chunk_pair *pair, uint32_t slice)
{
    if (pair->has_same_rows) return true;
    const weft__chunk *chunk = pair->chunk;
    uint32_t rows = weft__slice_rows(chunk, chunk->count, slice);
    if (rows == 0 || rows != weft__slice_rows(chunk, pair->saved->count, slice)) return false;
    const weft_entity *entities =
        weft__chunk_entities(chunk) + ((size_t)slice << chunk->layout->slice_shift);
    return memcmp(entities, pair->saved->columns[0]->blocks[slice]->data,
                  rows * sizeof *entities) == 0;
}

bool weft__chunk_has_same_values(const weft__chunk_pair *pair, uint32_t type)
{
    uint32_t count = pair->saved->slice_count;
    const weft_a32 *x_versions = weft__chunk_versions(pair->chunk, type);
    bool is_same =
        memcmp(x_versions, weft__saved_versions(pair, type), count * sizeof x_versions[0]) == 0;
    for (uint32_t i = 0; i < count && is_same && !pair->is_all_common; i++)
        is_same = weft__version_is_before(at_plain(&x_versions[i]), pair->common);
    return is_same;
}
