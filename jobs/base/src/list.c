/* SPDX-License-Identifier: MIT */
/* list.c: memory of growing arrays: the block that comes next, twice as large. What they hold is
 * the business of the macros in list.h; here elements are bytes. Nothing is given back before the
 * end, but by weft__list_trim. */
#include "list.h"

/* A line of cache, or four elements. */
static uint32_t first_count(size_t size)
{
    return size < 16 ? (uint32_t)(64 / size) : 4;
}

static bool resize(weft__memory *memory, weft__memory_category category, void *array,
                   uint32_t *capacity, uint32_t room, size_t size)
{
    void *old;
    memcpy(&old, array, sizeof old);
    void *block =
        weft__realloc(memory, category, old, *capacity, room, size, weft__alignment(size));
    if (block == NULL) return false;
    memcpy(array, &block, sizeof block);
    *capacity = room;
    return true;
}

bool weft__list_grow(weft__memory *memory, weft__memory_category category, void *array,
                     uint32_t *capacity, size_t wanted, size_t size)
{
    if (wanted > UINT32_MAX / 2) return false;
    uint32_t room = *capacity == 0 ? first_count(size) : 2 * *capacity;
    if (room < wanted) room = (uint32_t)wanted;
    return resize(memory, category, array, capacity, room, size);
}

void weft__list_trim(weft__memory *memory, weft__memory_category category, void *array,
                     uint32_t *capacity, uint32_t count, size_t size)
{
    if (count < first_count(size)) count = first_count(size);
    if (count < *capacity / 2) resize(memory, category, array, capacity, count, size);
}
