/* SPDX-License-Identifier: MIT */
/* small_memory.h: the first chunk memory of a world comes from its allocator, so that a world of a
 * few entities takes a few KiB and not a reservation with its huge page (units.h). The allocator
 * also gives warm memory to a world that follows another one.
 *
 * Owner, world idle. */
#ifndef WEFT_SMALL_MEMORY_H
#define WEFT_SMALL_MEMORY_H

#include "unit_parts.h"

#define WEFT__SMALL_BYTES ((size_t)65536) /* of a world */
#define WEFT__SMALL_UNIT UINT32_MAX       /* weft__run.first of such memory; its count is 0 */

/* Owner: the world. Zero-initialise. Always:
 *   bytes = sum of weft__class_bytes of the memory given out <= WEFT__SMALL_BYTES. */
typedef struct weft__small {
    size_t bytes;
} weft__small;

/* Memory of a size class, not zeroed. False: no room is left, or no memory. */
bool weft__small_allocate(weft__small *small, weft__memory *memory, uint32_t size_class,
                          weft__run *out);
void weft__small_free(weft__small *small, weft__memory *memory, uint32_t size_class, void *base);

#endif
