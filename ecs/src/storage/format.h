/* SPDX-License-Identifier: MIT */
/* format.h: formats of rows, and their layouts in chunks of each size.
 *
 * Both live as long as the world. Threads: owner, unless a function says otherwise. */
#ifndef WEFT_FORMAT_H
#define WEFT_FORMAT_H

#include "chunk_state.h"

/* The format with these columns ([1..]; [0] is the entity column) and row cap (UINT32_MAX: none).
 * NULL: error set (LIMIT when a row does not fit a megachunk). */
weft__format *weft__format_obtain(weft_world *world, const weft__type *const *columns,
                                  uint32_t column_count, uint32_t row_limit);
/* Rows of a chunk of a size class. */
uint32_t weft__format_capacity(const weft__format *format, uint32_t size_class);
/* Layout of a format for a size class, made on first use. NULL: error set. */
const weft__layout *weft__layout_any(weft_world *world, weft__format *format,
                                     uint32_t size_class); /* any thread; sets no error */
const weft__layout *weft__layout_obtain(weft_world *world, weft__format *format,
                                        uint32_t size_class);

/* Whether formats and layouts are sound: columns one after the other, within the chunk. */
bool weft__formats_check(const weft_world *world);
void weft__formats_fini(weft_world *world);

#endif
