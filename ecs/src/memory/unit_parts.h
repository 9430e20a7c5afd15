/* SPDX-License-Identifier: MIT */
/* unit_parts.h: parts of a unit (256 bytes, 1 KiB, 4 KiB) as memory of small chunks.
 *
 * Owned by the world; owner only. Units come from the unit allocator and go back to it. */
#ifndef WEFT_UNIT_PARTS_H
#define WEFT_UNIT_PARTS_H

#include "units.h"

/* Sizes of chunk memory: parts of a unit for small populations, then 1, 2, 4 ... 64 units. */
enum {
    WEFT__PART_256 = 0,
    WEFT__PART_1K = 1,
    WEFT__PART_4K = 2,
    WEFT__UNIT_CLASS = 3, /* class WEFT__UNIT_CLASS + k: 2^k units */
    WEFT__SIZE_CLASSES = 10,
};

static inline size_t weft__class_bytes(uint32_t size_class)
{
    return size_class < WEFT__UNIT_CLASS ? (size_t)256 << (2 * size_class)
                                         : WEFT__UNIT_BYTES << (size_class - WEFT__UNIT_CLASS);
}

/* A unit cut into n = WEFT__UNIT_BYTES / class bytes equal parts. Owner: weft__parts. Between
 * calls:
 *   used != 0 (a unit without used parts goes back), used < 2^n, used & ~dirty == 0;
 *   in with_room[size_class] exactly while used != 2^n - 1. */
typedef struct weft__part_unit {
    struct weft__part_unit *next; /* in with_room */
    struct weft__part_unit *prev;
    struct weft__part_unit *hash_next;
    char *memory;
    uint32_t unit; /* index */
    uint32_t size_class;
    uint64_t used;  /* bit per part */
    uint64_t dirty; /* bit per part ever used: others still read as zero */
} weft__part_unit;

/* The units that are cut. Owner: the world. Zero-initialise. Between calls:
 *   count = part units in the table <= table_mask + 1 once there is a table;
 *   units in use of the unit allocator = count + those of chunks. */
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
/* Whether the books are right; counts the parts in use into *used. False: the text names the first
 * wrong one. */
bool weft__parts_check(const weft__parts *parts, uint64_t *used, char *text, size_t text_bytes);
/* Frees the metadata; the units themselves go with the unit allocator. */
void weft__parts_fini(weft__parts *parts, weft__memory *memory);

#endif
