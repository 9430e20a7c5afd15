/* SPDX-License-Identifier: MIT */
/* mover_list.h: which rows are new, and which belong to another sector than the one that they are
 * in, or to another rank. */
#ifndef WEFT_MOVER_LIST_H
#define WEFT_MOVER_LIST_H

#include "row_block.h"

typedef struct weft__mover {
    weft_entity entity;
    uint64_t gid; /* 0: new */
    uint32_t to;  /* sector */
    uint32_t rank;
    weft_archetype archetype;
    uint64_t order; /* among those of a rank and archetype: the gid; of new ones the hash */
} weft__mover;

/* Zero-initialised it is empty. */
typedef struct weft__mover_list {
    weft__mover *movers;
    uint64_t capacity;
    uint32_t count;
} weft__mover_list;

/* Lists them. Looked at are chunks whose keys or rows changed since the last time. Owner; jobs
 * of the pool share the work. Errors: OUT_OF_MEMORY. */
weft_result weft__movers_collect(weft_shard *shard, weft__mover_list *out);
/* Sorts by rank, archetype, order. */
void weft__movers_sort(weft__mover_list *list);
/* Sorts by sector, order. */
void weft__movers_sort_by_sector(weft__mover_list *list);
void weft__movers_free(weft__mover_list *list);

/* Appends blocks of movers [begin, end), one for each archetype; they are sorted. Errors: as
 * weft__block_write. */
weft_result weft__movers_write(const weft_shard *shard, const weft__mover_list *list,
                               uint32_t begin, uint32_t end, weft__bytes *out);

#endif
