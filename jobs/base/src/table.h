/* SPDX-License-Identifier: MIT */
/* table.h: the hash table of the library: numbers, from 1, by hash. What a number stands for, and
 * whether it is what is looked for, knows who asks: mostly the number is a place in a list.
 *
 *     uint32_t step = 0, number;
 *     while ((number = weft__table_next(&table, hash, &step)) != 0)
 *         if (list.at[number - 1].key == key) return number;
 *
 * Open addressing, at most half full (R. Morris, Scatter storage techniques, CACM 11, 1968). Owner:
 * the struct that has it; one thread at a time, or many that look up. */
#pragma once

#include "heap.h"

typedef struct weft__table_slot {
    uint32_t hash;
    uint32_t number; /* 0: free */
} weft__table_slot;

/* Zero is empty. Always: 2 * count <= capacity, which is 0 or a power of two. */
typedef struct weft__table {
    weft__table_slot *slots;
    uint32_t count, capacity;
} weft__table;

/* Room for `count` numbers in all. False: memory was refused, the table is as before. */
WEFT__DOOR bool weft__table_room(weft__memory *memory, weft__memory_category category,
                                 weft__table *table, uint32_t count);
/* Enters a number; there is room for it. */
WEFT__DOOR void weft__table_put(weft__table *table, uint32_t hash, uint32_t number);
/* Takes a number out that is in. */
void weft__table_take(weft__table *table, uint32_t hash, uint32_t number);
/* Takes all out; the room stays. */
WEFT__DOOR void weft__table_clear(weft__table *table);
WEFT__DOOR void weft__table_free(weft__memory *memory, weft__memory_category category,
                                 weft__table *table);

/* The next number with this hash, *step being 0 for the first; 0: there are no more. */
static inline uint32_t weft__table_next(const weft__table *table, uint32_t hash, uint32_t *step)
{
    if (table->capacity == 0) return 0;
    for (;;) {
        weft__table_slot slot = table->slots[(hash + (*step)++) & (table->capacity - 1)];
        if (slot.number == 0 || slot.hash == hash) return slot.number;
    }
}
