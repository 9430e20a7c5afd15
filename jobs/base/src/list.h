/* SPDX-License-Identifier: MIT */
/* list.h: the growing array of the library. It doubles, and keeps its memory until it is freed.
 * Where memory is refused it stays as it was.
 *
 *     WEFT__LIST(weft_entity) list = {0};
 *     weft_entity *next = WEFT__LIST_ADD(memory, WEFT__MEMORY_OTHER, &list);
 *     if (next == NULL) return WEFT_OUT_OF_MEMORY;
 *     ...
 *     WEFT__LIST_FREE(memory, WEFT__MEMORY_OTHER, &list);
 *
 * Owner: the struct that has it; one thread at a time. `list` is evaluated more than once. */
#pragma once

#include "heap.h"

#include <string.h>

/* Elements of one type; zero is empty. Always: count <= capacity. */
#define WEFT__LIST(type)                                                                           \
    struct {                                                                                       \
        type *at;                                                                                  \
        uint32_t count, capacity;                                                                  \
    }

/* Room for `wanted` elements in all. False: memory was refused. */
#define WEFT__LIST_ROOM(memory, category, list, wanted)                                            \
    weft__list_room((memory), (category), &(list)->at, &(list)->capacity, (wanted),                \
                    sizeof *(list)->at)
/* Copies of `more` elements at the end. False: memory was refused. */
#define WEFT__LIST_APPEND(memory, category, list, from, more)                                      \
    (WEFT__LIST_ROOM(memory, category, list, (size_t)(list)->count + (more)) &&                    \
     weft__list_copy((list)->at, &(list)->count, (from), (more), sizeof *(list)->at))
/* The next element, not zeroed. NULL: memory was refused. */
#define WEFT__LIST_ADD(memory, category, list)                                                     \
    (WEFT__LIST_ROOM(memory, category, list, (size_t)(list)->count + 1)                            \
         ? &(list)->at[(list)->count++]                                                            \
         : NULL)
/* At least `wanted` elements; new ones are zero. False: memory was refused. */
#define WEFT__LIST_REACH(memory, category, list, wanted)                                           \
    ((wanted) <= (list)->count ||                                                                  \
     (WEFT__LIST_ROOM(memory, category, list, wanted) &&                                           \
      weft__list_zero((list)->at, &(list)->count, (wanted), sizeof *(list)->at)))
/* Takes the memory back; the list is empty. */
#define WEFT__LIST_FREE(memory, category, list)                                                    \
    (weft__list_free((memory), (category), (list)->at, (list)->capacity, sizeof *(list)->at),      \
     (list)->at = NULL, (list)->count = (list)->capacity = 0)

/* Room for more than there is. */
WEFT__DOOR bool weft__list_grow(weft__memory *memory, weft__memory_category category, void *array,
                                uint32_t *capacity, size_t wanted, size_t size);

/* Room for `wanted` elements of `size` bytes, also where the pointer, at `array`, and the numbers
 * stand apart. False: memory was refused. */
static inline bool weft__list_room(weft__memory *memory, weft__memory_category category,
                                   void *array, uint32_t *capacity, size_t wanted, size_t size)
{
    return wanted <= *capacity || weft__list_grow(memory, category, array, capacity, wanted, size);
}

/* Gives back what more than half of the room is; what is left is a first block at least. Nothing
 * where there is no memory for it. */
void weft__list_trim(weft__memory *memory, weft__memory_category category, void *array,
                     uint32_t *capacity, uint32_t count, size_t size);

static inline void weft__list_free(weft__memory *memory, weft__memory_category category, void *at,
                                   uint32_t capacity, size_t size)
{
    weft__free(memory, category, at, capacity, size, weft__alignment(size));
}

/* Elements up to `wanted` are zero and count. True. */
static inline bool weft__list_zero(void *at, uint32_t *count, uint32_t wanted, size_t size)
{
    memset((char *)at + *count * size, 0, (wanted - *count) * size);
    *count = wanted;
    return true;
}

/* Copies elements behind the last one. True. */
static inline bool weft__list_copy(void *at, uint32_t *count, const void *from, size_t more,
                                   size_t size)
{
    if (more != 0) memcpy((char *)at + *count * size, from, more * size);
    *count += (uint32_t)more;
    return true;
}
