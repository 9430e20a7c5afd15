/* SPDX-License-Identifier: MIT */
/* unit_parts.h: parts of a unit (1 KiB and 4 KiB) as memory of small chunks.
 *
 * Owned by the world; owner only. Units come from the unit allocator and go back to it. */
#ifndef WEFT_UNIT_PARTS_H
#define WEFT_UNIT_PARTS_H

#include "units.h"

/* Sizes of chunk memory: parts of a unit for small populations, then 1, 2, 4 ... 64 units. */
enum {
    WEFT__PART_1K = 0,
    WEFT__PART_4K = 1,
    WEFT__UNIT_CLASS = 2, /* class WEFT__UNIT_CLASS + k: 2^k units */
    WEFT__SIZE_CLASSES = 9,
};

static inline size_t weft__class_bytes(uint32_t size_class)
{
    return size_class < WEFT__UNIT_CLASS ? (size_t)1024 << (2 * size_class)
                                         : WEFT__UNIT_BYTES << (size_class - WEFT__UNIT_CLASS);
}

/* A unit cut into equal parts. In the list of its class while a part is free. */
typedef struct weft__part_unit {
    struct weft__part_unit *next;
    struct weft__part_unit *prev;
    struct weft__part_unit *hash_next;
    char *memory;
    uint32_t unit; /* index */
    uint32_t size_class;
    uint32_t used;  /* bit per part; never 0 for long */
    uint32_t dirty; /* bit per part ever used: others still read as zero */
} weft__part_unit;

/* Zero-initialise. */
typedef struct weft__parts {
    weft__part_unit *with_room[WEFT__UNIT_CLASS]; /* per part class */
    weft__part_unit **table;                      /* unit index -> part unit, chained */
    uint32_t table_mask;
    uint32_t count; /* units cut */
} weft__parts;

/* One part; out->count is 0, out->first the unit. Errors: OUT_OF_MEMORY, LIMIT. */
weft_result weft__parts_allocate(weft__parts *parts, weft__units *units, uint32_t size_class,
                                 weft__run *out);
/* Gives a part back. */
void weft__parts_free(weft__parts *parts, weft__units *units, uint32_t unit_index, void *memory);
/* Frees the metadata; the units themselves go with the unit allocator. */
void weft__parts_fini(weft__parts *parts, weft__memory *memory);

#endif
