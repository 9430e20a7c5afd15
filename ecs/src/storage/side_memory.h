/* SPDX-License-Identifier: MIT */
/* side_memory.h: the side memory of chunks: versions, disabled bits and counts, chunk values. A few
 * types of few slices fit into the chunk (own_side), so that the only chunk of a small archetype
 * has no block for it. Owner of the chunk. */
#ifndef WEFT_SIDE_MEMORY_H
#define WEFT_SIDE_MEMORY_H

#include "archetype_state.h"
#include "heap.h"

/* Side memory of a chunk, not yet installed. Owner: the caller, until weft__side_replace gives
 * `block` to the chunk. */
typedef struct weft__side {
    void *block;
    char *chunk_values;
    weft_a64 *x_disabled;
    weft_a32 *x_versions;
    weft_a32 *x_disabled_counts;
    uint32_t bytes;
} weft__side;

/* Zeroed side memory. Threads: any. */
bool weft__side_allocate(weft__memory *memory, const weft__archetype *archetype,
                         const weft__layout *layout, weft__side *out);
/* Frees side memory that was not installed. */
void weft__side_free(weft__memory *memory, const weft__side *side);
/* Gives a new chunk, all zero but for its archetype and layout, its side memory, zeroed. False: no
 * memory. Threads: any. */
bool weft__side_begin(weft__memory *memory, weft__chunk *chunk);
/* Frees it. */
void weft__side_end(weft__memory *memory, const weft__chunk *chunk);
/* The chunk, which is to be of this archetype and layout, has this side memory from now on: a small
 * block is copied into the chunk and goes. What it had is the caller's. */
void weft__side_put(weft__memory *memory, weft__chunk *chunk, const weft__archetype *archetype,
                    const weft__layout *layout, const weft__side *side);
/* weft__side_put; what it had goes. */
void weft__side_replace(weft__memory *memory, weft__chunk *chunk, const weft__archetype *archetype,
                        const weft__layout *layout, const weft__side *side);

/* Whether it is within the chunk if it fits, else a block. */
bool weft__side_check(const weft__chunk *chunk);

#endif
