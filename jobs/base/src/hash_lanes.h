/* SPDX-License-Identifier: MIT */
/* hash_lanes.h: a wide 64-bit content hash for megabytes: eight 64-bit lanes, so that it runs at
 * the speed of memory (about 60 GB/s in cache with AVX2), and a form that copies on the way.
 *
 * Depends on the bytes and the seed only: the same on every machine of little-endian order and for
 * every instruction set. Not cryptographic: it finds damage, not malice. Per stripe of 64 bytes
 * each lane takes one word w of the stripe: with k = w ^ key(lane, stripe) it adds low32(k) *
 * high32(k), and its neighbour adds w itself (the accumulation of XXH3, Collet 2019, with counted
 * keys). The addition of w loses nothing, so one damaged word always changes a lane. Lanes and tail
 * are folded by hash.h. */
#pragma once

#include "door.h"
#include "hash.h"

/* memcpy(to, from, bytes), or nothing where `to` is NULL, that returns the hash of the bytes; no
 * overlap. Below one stripe the hash is hash_bytes. */
WEFT__DOOR uint64_t weft__hash_lanes_copy(uint64_t seed, void *to, const void *from, size_t bytes);

static inline uint64_t weft__hash_lanes(uint64_t seed, const void *data, size_t bytes)
{
    return weft__hash_lanes_copy(seed, NULL, data, bytes);
}

/* The same lanes as a sum: that of stripes [at, at + n), which data begins with, and that of those
 * behind them add to that of all. What fills no stripe counts as zero. */
uint64_t weft__hash_lanes_sum(uint64_t at, const void *data, size_t bytes);
