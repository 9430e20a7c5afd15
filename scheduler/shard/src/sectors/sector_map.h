/* SPDX-License-Identifier: MIT */
/* sector_map.h: sectors, which are near each other, and which rank has which.
 *
 * Every rank holds the whole map and changes it in the same way, so there is nothing to agree
 * on. */
#pragma once

#include <weft/shard.h>

/* Owner: the shard. Always: near_begin[0] == 0; near of a sector is ascending and has itself;
 * rank_of is below `ranks`; order is a permutation of the sectors. */
typedef struct weft__sector_map {
    /* constant after create */
    uint32_t count, ranks, rank;
    weft_shard_grid grid; /* dimensions 0: sector_of counts */
    double scale[3];      /* cells per unit of length */
    uint32_t (*sector_of)(const void *key, void *user);
    void *user;
    uint32_t *near_begin; /* [count + 1] */
    uint32_t *near;       /* [near_begin[count]] */
    uint32_t *order;      /* [count]: by Morton code of the cell, else by number */
    /* owner only */
    uint32_t *rank_of;   /* [count] */
    uint8_t *visibility; /* [count]: WEFT__SECTOR_* */
} weft__sector_map;

/* What a sector is for this rank. */
enum {
    WEFT__SECTOR_MINE = 1,   /* it is here */
    WEFT__SECTOR_BORDER = 2, /* it is here, and near one that is not */
    WEFT__SECTOR_GHOST = 4,  /* it is elsewhere, and near one that is here */
};

/* Errors: INVALID_ARGUMENT, LIMIT, OUT_OF_MEMORY; call _free then, too. */
weft_result weft__sector_map_init(weft__sector_map *map, const weft_shard_desc *desc);
void weft__sector_map_free(weft__sector_map *map);

/* The sector of a key; `count` where sector_of gives none. Any thread. */
uint32_t weft__sector_at(const weft__sector_map *map, const void *key);
enum { WEFT__KEYS_AT_ONCE = 256 };
/* out[i]: the same of the i-th of `count` keys, at most WEFT__KEYS_AT_ONCE, `bytes` apart. */
void weft__sectors_at(const weft__sector_map *map, const unsigned char *keys, size_t bytes,
                      uint32_t count, uint32_t *out);

/* Cuts the sectors in their order into runs of about equal cost, one for each rank:
 * rank_of[sector]. costs: one for each sector, all 0 counts as all equal. Pure. */
void weft__sector_cut(const weft__sector_map *map, const uint64_t *costs, uint32_t *rank_of);
/* Takes a cut over. */
void weft__sector_map_set(weft__sector_map *map, const uint32_t *rank_of);
/* Largest cost of a rank / mean, of a cut. 1 where there is no cost. Pure. */
double weft__sector_imbalance(const weft__sector_map *map, const uint64_t *costs,
                              const uint32_t *rank_of);
