/* SPDX-License-Identifier: MIT */
/* directory_grow.h: the directory begins, gets blocks, ends.
 *
 * Edges: directory.h. */
#ifndef WEFT_DIRECTORY_GROW_H
#define WEFT_DIRECTORY_GROW_H

#include "directory.h"

/* Block limit 0 means the maximum. Allocates nothing. */
void weft__directory_init(weft__directory *directory, weft__memory *memory, const weft_os *os,
                          const weft_world_desc *desc);
void weft__directory_fini(weft__directory *directory);
/* Makes `count` blocks, fewer when the limit is near; at least one more is there after it, or an
 * error: LIMIT, OUT_OF_MEMORY. A block that another thread has published but not yet counted is
 * counted instead. Threads: any. */
weft_result weft__directory_grow(weft__directory *directory, uint32_t count);
/* The block, whose memory is the caller's to the end of the directory, becomes the last one: full,
 * as its x_count says. Errors: LIMIT, OUT_OF_MEMORY. Threads: any. */
weft_result weft__directory_publish(weft__directory *directory, weft__entity_block *block,
                                    uint32_t *index);
/* How many blocks a growing world makes when it needs some: as many, or an eighth more than it has.
 * Owner. */
uint32_t weft__directory_ahead(const weft__directory *directory, uint32_t needed);

/* Memory of `count` blocks that are not in the directory yet: mapping it can take the owner
 * milliseconds while other threads map and touch memory, so one of them does. NULL: no memory.
 * Threads: any. */
weft__block_slab *weft__directory_slab_make(weft__directory *directory, uint32_t count);
/* Gives it back unused; NULL is ignored. Threads: any. */
void weft__directory_slab_free(weft__directory *directory, weft__block_slab *slab);
/* Its blocks become the last ones, as many as the limit allows; the directory owns it. Owner. */
void weft__directory_slab_use(weft__directory *directory, weft__block_slab *slab);

#endif
