/* SPDX-License-Identifier: MIT */
/* mover_list.h: which rows are new, and which belong to another sector than the one that they are
 * in, or to another rank: by rank, archetype and sector, so that what goes the same way lies
 * together.
 *
 * Rows of a sector are in the order of the walk over chunks, which is the same for any number of
 * workers. */
#ifndef WEFT_MOVER_LIST_H
#define WEFT_MOVER_LIST_H

#include "row_block.h"

struct weft__key_run;
struct weft__key_row;
struct weft__gid_pair;

/* Memory that is used again by each sync. Zero-initialised it is empty. The arrays up to `sectors`
 * have `count` elements, one for each mover. Owner: one thread; places are valid until structure
 * changes. */
typedef struct weft__mover_list {
    uint32_t count;
    weft__row_place *places;
    weft_entity *entities;
    uint64_t *gids;    /* 0: new */
    uint32_t *sectors; /* where they go */
    uint64_t capacity[4];
    /* of the walk */
    struct weft__key_run *runs; /* chunks to look at */
    uint64_t run_capacity;
    struct weft__key_row *rows; /* [row of all runs] */
    uint64_t row_capacity;
    struct weft__gid_pair *pairs;
    uint64_t pair_capacity;
} weft__mover_list;

/* Lists them. Looked at are chunks whose keys or rows changed since the last time. Owner; jobs
 * of the pool share the work. Errors: OUT_OF_MEMORY, LIMIT. */
weft_result weft__movers_collect(weft_shard *shard, weft__mover_list *list);
/* The end of the movers that go to the same rank as mover `begin`. */
uint32_t weft__movers_to_rank(const weft_shard *shard, const weft__mover_list *list,
                              uint32_t begin);
/* The end of those of the same archetype as mover `begin`, at most `end`. */
uint32_t weft__movers_alike(const weft__mover_list *list, uint32_t begin, uint32_t end);
void weft__movers_free(weft__mover_list *list);

/* Appends blocks of movers [begin, end), one for each archetype. Errors: as weft__block_write. */
weft_result weft__movers_write(const weft_shard *shard, const weft__mover_list *list,
                               uint32_t begin, uint32_t end, weft__bytes *out);

#endif
