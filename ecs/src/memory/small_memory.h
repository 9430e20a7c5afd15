/* SPDX-License-Identifier: MIT */
/* small_memory.h: the first 64 KiB of chunk memory of a world are one block of its allocator, so
 * that a world of a few entities takes a few KiB and not a reservation with its huge page
 * (units.h). The allocator also gives warm memory to a world that follows another one.
 *
 * Owner, world idle. */
#ifndef WEFT_SMALL_MEMORY_H
#define WEFT_SMALL_MEMORY_H

#include "unit_parts.h"

#define WEFT__SMALL_BYTES ((size_t)65536)
#define WEFT__SMALL_GRAIN ((size_t)256)
#define WEFT__SMALL_WORDS 4u
#define WEFT__SMALL_UNIT UINT32_MAX /* weft__run.first of such memory; its count is 0 */

/* Owner: the world. Zero-initialise. Always: base == NULL => used is 0. */
typedef struct weft__small {
    char *base; /* WEFT__SMALL_BYTES, until the world ends; NULL until needed */
    uint64_t used[WEFT__SMALL_WORDS]; /* bit per grain */
} weft__small;

/* Memory of a size class, not zeroed. False: no room is left, or no memory. */
bool weft__small_allocate(weft__small *small, weft__memory *memory, uint32_t size_class,
                          weft__run *out);
void weft__small_free(weft__small *small, uint32_t size_class, const void *base);
/* Bytes in use. */
size_t weft__small_used(const weft__small *small);
void weft__small_fini(weft__small *small, weft__memory *memory);

#endif
