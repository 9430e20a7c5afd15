/* SPDX-License-Identifier: MIT */
/* gid_sort.h: sorting pairs of a 64-bit key and a number: by bytes from the least one up (radix),
 * without those bytes in which all keys agree. Stable. */
#ifndef WEFT_GID_SORT_H
#define WEFT_GID_SORT_H

#include <stdint.h>

/* A value; pairs are owned by the caller, one thread. */
typedef struct weft__gid_pair {
    uint64_t key;
    uint32_t number;
} weft__gid_pair;

/* Sorts `count` pairs; `room`: as many. Returns where the sorted ones are: `pairs` or `room`. */
weft__gid_pair *weft__gid_sort(weft__gid_pair *pairs, weft__gid_pair *room, uint32_t count);

#endif
