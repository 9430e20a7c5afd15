/* SPDX-License-Identifier: MIT */
/* roll.c: the lists of a roll, the newest first. Each has its head in front of its entries, so that
 * a pointer to entries is all that is published. No list is freed before the roll ends. See roll.h,
 * which has the protocol. */
#include "roll.h"

#include <assert.h>
#include <string.h>

#ifndef WEFT__ROLL_FIRST
#define WEFT__ROLL_FIRST 32u /* entries of the first list; few in the explorer */
#endif

/* What stands in front of the entries. Owner: the roll. Constant after it was stored. */
typedef struct list_head {
    void *older; /* entries of the list before; NULL: this is the first */
    uint32_t capacity;
} list_head;
static_assert(sizeof(list_head) % sizeof(void *) == 0, "entries stand behind it");

static size_t list_bytes(uint32_t capacity)
{
    return sizeof(list_head) + capacity * sizeof(void *);
}

bool weft__roll_reserve(weft__roll *roll, weft__memory *memory, weft__memory_category category,
                        uint32_t index)
{
    if (index < roll->capacity) return true;
    uint32_t capacity = roll->capacity == 0 ? WEFT__ROLL_FIRST : roll->capacity;
    while (capacity <= index) capacity *= 2;
    list_head *head = weft__alloc(memory, category, 1, list_bytes(capacity), _Alignof(list_head));
    if (head == NULL) return false;
    *head = (list_head){at_plain(&roll->x_list), capacity};
    if (head->older != NULL) memcpy(head + 1, head->older, roll->capacity * sizeof(void *));
    at_store_rel(&roll->x_list, head + 1); /* R2 */
    roll->capacity = capacity;
    return true;
}

void weft__roll_fini(weft__roll *roll, weft__memory *memory, weft__memory_category category)
{
    for (void *list = at_plain(&roll->x_list); list != NULL;) {
        list_head *head = (list_head *)list - 1;
        list = head->older;
        weft__free(memory, category, head, 1, list_bytes(head->capacity), _Alignof(list_head));
    }
    *roll = (weft__roll){0};
}
