/* SPDX-License-Identifier: MIT */
/* list.c: memory of growing arrays: the block that comes next, twice as large. What they hold is
 * the business of the macros in list.h; here elements are bytes. Nothing is given back before the
 * end. */
#include "list.h"

bool weft__list_grow(weft__memory *memory, weft__memory_category category, void *array,
                     uint32_t *capacity, size_t wanted, size_t size)
{
    if (wanted > UINT32_MAX / 2) return false;
    uint32_t first = size < 16 ? (uint32_t)(64 / size) : 4; /* a line of cache, or four */
    uint32_t room = *capacity == 0 ? first : 2 * *capacity;
    if (room < wanted) room = (uint32_t)wanted;
    void *old;
    memcpy(&old, array, sizeof old);
    void *grown =
        weft__realloc(memory, category, old, *capacity, room, size, weft__list_alignment(size));
    if (grown == NULL) return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = room;
    return true;
}
