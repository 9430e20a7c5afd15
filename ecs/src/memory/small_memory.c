/* SPDX-License-Identifier: MIT */
/* small_memory.c: the first chunk memory of a world: one block, a bit per grain of 256 bytes.
 *
 * It is not zeroed: of a fresh block only the pages that rows touch take memory. Owner, world
 * idle. */
#include "small_memory.h"

#include "bits.h"

#include <assert.h>

enum { ALIGNMENT = 64 /* of columns */, NONE = WEFT__SMALL_WORDS * 64 };
static_assert(WEFT__SMALL_BYTES == NONE * WEFT__SMALL_GRAIN, "words of bits");

static uint32_t grains_of(uint32_t size_class)
{
    return (uint32_t)(weft__class_bytes(size_class) / WEFT__SMALL_GRAIN);
}

/* Grains up to 64 lie in one word, more are whole words. */
static uint32_t find(const weft__small *small, uint32_t count)
{
    uint32_t words = (count + 63) / 64, in_word = count < 64 ? count : 64, found = 0;
    for (uint32_t word = 0; word < WEFT__SMALL_WORDS; word++) {
        uint32_t first = bits_find_run(~small->used[word], in_word);
        found = first == 64 ? 0 : found + 1;
        if (found == words) return (word + 1 - words) * 64 + first;
    }
    return NONE;
}

/* Turns the bits of a run over. */
static void flip(weft__small *small, uint32_t first, uint32_t count)
{
    for (uint32_t done = 0; done < count; done += 64)
        small->used[(first + done) / 64] ^= bits_mask(count < 64 ? count : 64) << first % 64;
}

bool weft__small_allocate(weft__small *small, weft__memory *memory, uint32_t size_class,
                          weft__run *out)
{
    uint32_t count = grains_of(size_class), first = find(small, count);
    if (first == NONE) return false;
    if (small->base == NULL)
        small->base = weft__alloc(memory, WEFT__MEMORY_CHUNKS, WEFT__SMALL_BYTES, 1, ALIGNMENT);
    if (small->base == NULL) return false;
    flip(small, first, count);
    *out =
        (weft__run){.memory = small->base + first * WEFT__SMALL_GRAIN, .first = WEFT__SMALL_UNIT};
    return true;
}

void weft__small_free(weft__small *small, uint32_t size_class, const void *base)
{
    size_t first = (size_t)((const char *)base - small->base) / WEFT__SMALL_GRAIN;
    flip(small, (uint32_t)first, grains_of(size_class));
}

size_t weft__small_used(const weft__small *small)
{
    size_t grains = 0;
    for (uint32_t word = 0; word < WEFT__SMALL_WORDS; word++)
        grains += bits_count(small->used[word]);
    return grains * WEFT__SMALL_GRAIN;
}

void weft__small_fini(weft__small *small, weft__memory *memory)
{
    weft__free(memory, WEFT__MEMORY_CHUNKS, small->base, WEFT__SMALL_BYTES, 1, ALIGNMENT);
    *small = (weft__small){0};
}
