/* SPDX-License-Identifier: MIT */
/* search.h: the place of a number among ascending ones, which are fields of elements: by halving.
 * Stateless; the elements are the caller's. Numbers of 32 bits; what has 64, or guesses first, has
 * its own loop. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The first of `count` elements whose 32-bit field is not below `key`, or `count`. They ascend. */
#define WEFT__SEARCH(at, count, field, key)                                                        \
    weft__search((at), (count), sizeof *(at), offsetof(__typeof__(*(at)), field), (key))

/* For qsort: ascending by the number of 32 bits with which elements begin. */
static inline int weft__compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* By halving. `size` and `offset`, in bytes: of an element, and of its number. */
static inline uint32_t weft__search(const void *at, uint32_t count, size_t size, size_t offset,
                                    uint32_t key)
{
    uint32_t low = 0, number;
    while (low < count) {
        const uint32_t middle = low + (count - low) / 2;
        memcpy(&number, (const char *)at + middle * size + offset, sizeof number);
        if (number < key)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}
