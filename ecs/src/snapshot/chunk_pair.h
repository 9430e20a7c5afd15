/* SPDX-License-Identifier: MIT */
/* chunk_pair.h: a chunk of the world beside what a snapshot says of it: which of its slices and
 * columns are the same. By serial number, rows and change versions; values are never compared.
 * Threads: owner. */
#ifndef WEFT_CHUNK_PAIR_H
#define WEFT_CHUNK_PAIR_H

#include "snapshot_state.h"

/* A chunk of the world and what a snapshot says of one. A value; of the stack. */
typedef struct weft__chunk_pair {
    const weft__chunk *chunk;
    const weft__snapshot_chunk *saved; /* of the same serial, archetype, size class; or NULL */
    uint32_t common;                   /* equal versions before this one mean the same ... */
    bool is_comparable;                /* no renewal of versions lies between the two; else none
                                          means the same */
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
    size_t offset = (size_t)((const char *)chunk->x_versions - weft__chunk_side(chunk));
    const char *versions = (const char *)pair->saved->side + offset;
    return (const weft_a32 *)(const void *)versions + (size_t)type * chunk->layout->slice_count;
}
/* Whether the values of a type in a slice with the same rows are the same. The pair is comparable;
 * one that has the same rows is. */
static inline bool weft__slice_has_same_values(const weft__chunk_pair *pair, uint32_t type,
                                               uint32_t slice)
{
    uint32_t version = at_plain(&weft__chunk_versions(pair->chunk, type)[slice]);
    return at_plain(&weft__saved_versions(pair, type)[slice]) == version &&
           weft__version_is_before(version, pair->common);
}
/* The same of all slices of a chunk with the same rows. */
bool weft__chunk_has_same_values(const weft__chunk_pair *pair, uint32_t type);

#endif
