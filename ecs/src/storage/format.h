/* SPDX-License-Identifier: MIT */
/* format.h: formats of rows, and their layouts in chunks of each size.
 *
 * Both live as long as the world. Threads: owner, unless a function says otherwise. */
#pragma once

#include "world_state.h"

/* The columns of a row: shared by all archetypes whose sized components are the same, so that a
 * chunk can change between them in place. Owned by the world, never freed before it. */
struct weft__format {
    uint64_t hash;
    uint32_t column_count;   /* with the entity column */
    uint32_t row_bytes;      /* sum of the columns */
    uint32_t cap;            /* chunk_row_limit as given; UINT32_MAX: none */
    uint32_t row_limit;      /* the same, UINT32_MAX when no chunk could hold more anyway */
    uint32_t slice_shift;    /* log2 of rows per slice: 64..1024 rows (format.c) */
    uint32_t smallest_class; /* the smallest class that holds a row */
    weft_aptr x_layouts[WEFT__SIZE_CLASSES]; /* weft__layout *, NULL until used (format.c) */
    const weft__type *types[];               /* [column]; [0] is NULL: entities */
};

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
