/* SPDX-License-Identifier: MIT */
/* small_memory.c: the first chunk memory of a world: one block, a bit per KiB.
 *
 * It is not zeroed: of a fresh block only the pages that rows touch take memory. Owner, world
 * idle. */
#include "small_memory.h"

#include "bits.h"

#include <assert.h>

enum { GRAIN = 1024, ALIGNMENT = 64 /* of columns */ };
static_assert(WEFT__SMALL_BYTES == 64 * GRAIN, "a word of bits");

static uint32_t grains_of(uint32_t size_class)
{
    return (uint32_t)(weft__class_bytes(size_class) / GRAIN);
}

bool weft__small_allocate(weft__small *small, weft__memory *memory, uint32_t size_class,
                          weft__run *out)
{
    uint32_t count = grains_of(size_class);
    if (count > 64) return false;
    uint32_t first = bits_find_run(~small->used, count);
    if (first == 64) return false;
    if (small->base == NULL)
        small->base = weft__alloc(memory, WEFT__MEMORY_CHUNKS, WEFT__SMALL_BYTES, 1, ALIGNMENT);
    if (small->base == NULL) return false;
    small->used |= bits_mask(count) << first;
    *out = (weft__run){.memory = small->base + (size_t)first * GRAIN, .first = WEFT__SMALL_UNIT};
    return true;
}

void weft__small_free(weft__small *small, uint32_t size_class, const void *base)
{
    size_t first = (size_t)((const char *)base - small->base) / GRAIN;
    small->used &= ~(bits_mask(grains_of(size_class)) << first);
}

void weft__small_fini(weft__small *small, weft__memory *memory)
{
    weft__free(memory, WEFT__MEMORY_CHUNKS, small->base, WEFT__SMALL_BYTES, 1, ALIGNMENT);
    *small = (weft__small){0};
}
