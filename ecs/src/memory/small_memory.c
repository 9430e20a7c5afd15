/* SPDX-License-Identifier: MIT */
/* small_memory.c: the first chunk memory of a world. Owner, world idle. */
#include "small_memory.h"

enum { ALIGNMENT = 64 }; /* of columns */

bool weft__small_allocate(weft__small *small, weft__memory *memory, uint32_t size_class,
                          weft__run *out)
{
    size_t bytes = weft__class_bytes(size_class);
    if (bytes > WEFT__SMALL_BYTES - small->bytes) return false;
    void *base = weft__alloc(memory, WEFT__MEMORY_CHUNKS, bytes, 1, ALIGNMENT);
    if (base == NULL) return false;
    small->bytes += bytes;
    *out = (weft__run){.memory = base, .first = WEFT__SMALL_UNIT};
    return true;
}

void weft__small_free(weft__small *small, weft__memory *memory, uint32_t size_class, void *base)
{
    size_t bytes = weft__class_bytes(size_class);
    small->bytes -= bytes;
    weft__free(memory, WEFT__MEMORY_CHUNKS, base, bytes, 1, ALIGNMENT);
}
