/* SPDX-License-Identifier: MIT */
/* gid_sort.c: a counting sort for each byte in which keys differ, from the least one up. Sorted
 * input, the most frequent one, is seen by the pass that compares. */
#include "gid_sort.h"

#include <stdbool.h>

/* Bits in which keys differ; *is_sorted: whether they ascend. */
static uint64_t differing_bits(const weft__gid_pair *pairs, uint32_t count, bool *is_sorted)
{
    uint64_t differ = 0;
    *is_sorted = true;
    for (uint32_t i = 1; i < count; i++) {
        differ |= pairs[i].key ^ pairs[0].key;
        if (pairs[i].key < pairs[i - 1].key) *is_sorted = false;
    }
    return differ;
}

weft__gid_pair *weft__gid_sort(weft__gid_pair *pairs, weft__gid_pair *room, uint32_t count)
{
    bool is_sorted;
    const uint64_t differ = differing_bits(pairs, count, &is_sorted);
    if (is_sorted) return pairs;
    for (uint32_t shift = 0; shift < 64; shift += 8) {
        if ((differ >> shift & 0xFF) == 0) continue;
        uint32_t begin[257] = {0};
        for (uint32_t i = 0; i < count; i++) begin[(pairs[i].key >> shift & 0xFF) + 1]++;
        for (uint32_t digit = 0; digit < 256; digit++) begin[digit + 1] += begin[digit];
        for (uint32_t i = 0; i < count; i++) room[begin[pairs[i].key >> shift & 0xFF]++] = pairs[i];
        weft__gid_pair *sorted = room;
        room = pairs;
        pairs = sorted;
    }
    return pairs;
}
