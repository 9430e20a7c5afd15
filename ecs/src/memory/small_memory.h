/* SPDX-License-Identifier: MIT */
/* small_memory.h: memory of small worlds and small chunks. The first 64 KiB of chunk memory of a
 * world are one block of its allocator, so that a world of a few entities takes a few KiB and not a
 * reservation with its huge page (units.h); the allocator also gives warm memory to a world that
 * follows another one. Then units are cut into parts of 256 bytes, 1 KiB or 4 KiB. Archetypes and
 * chunk objects lie in lines.
 *
 * Owner, world idle; parts: or one playback task at a time. */
#pragma once

#include "list.h"
#include "table.h"
#include "units.h"

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

/* ---- parts of units ---- */

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
    char *memory;
    uint32_t unit;  /* index */
    uint32_t place; /* in weft__parts.all */
    uint32_t size_class;
    uint64_t used;  /* bit per part */
    uint64_t dirty; /* bit per part ever used: others still read as zero */
} weft__part_unit;

/* The units that are cut. Owner: the world. Zero-initialise. Between calls:
 *   all.at[i]->place == i, found by `numbers`;
 *   units in use of the unit allocator = all.count + those of chunks. */
typedef struct weft__parts {
    weft__part_unit *with_room[WEFT__UNIT_CLASS]; /* per part class */
    WEFT__LIST(weft__part_unit *) all;
    weft__table numbers; /* places in `all`, from 1, by unit */
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

/* ---- lines ---- */

/* Memory of archetypes and chunk objects: blocks of whole cache lines, next to each other in slabs.
 * A slab ends when all of its blocks were given back, or with the world. An allocator leaves holes
 * around small blocks that begin a line: 96 bytes in glibc, twice per archetype. */

#define WEFT__LINE ((size_t)64)

/* In front of its blocks. Owner: the lines. Always: used <= bytes; both whole lines. */
typedef struct weft__line_slab {
    struct weft__line_slab *before; /* made before it */
    struct weft__line_slab *after;  /* NULL: the youngest */
    size_t blocks;                  /* that are in use */
    size_t bytes;                   /* all of it */
    size_t used;
} weft__line_slab;

/* Owner: the world. Zero-initialise. */
typedef struct weft__lines {
    weft__line_slab *slab; /* the youngest, from which blocks come; NULL until needed */
} weft__lines;

/* Memory of the next lines, at least `bytes`, not zeroed; it is in lines->slab. NULL: no memory. */
void *weft__lines_take(weft__lines *lines, weft__memory *memory, size_t bytes);
/* The block that was taken last is not needed. */
void weft__lines_undo(weft__lines *lines, size_t bytes);
/* Gives a block of a slab back. */
void weft__lines_give(weft__lines *lines, weft__memory *memory, weft__line_slab *slab);
void weft__lines_fini(weft__lines *lines, weft__memory *memory);

/* ---- memory that is kept but must not be touched: AddressSanitizer knows it ---- */

#if defined(__SANITIZE_ADDRESS__)
#define HAS_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_POISON 1
#endif
#endif
#ifdef HAS_POISON
#include <sanitizer/asan_interface.h>
#else
#define HAS_POISON 0
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif
