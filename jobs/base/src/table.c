/* SPDX-License-Identifier: MIT */
/* table.c: hash tables of numbers: they double, and what is behind a number that goes moves up, so
 * that no mark of it is left. Hashes are kept: nothing is asked of the owner when a table grows.
 * See table.h. */
#include "table.h"

#include <string.h>

void weft__table_put(weft__table *table, uint32_t hash, uint32_t number)
{
    uint32_t mask = table->capacity - 1, at = hash & mask;
    while (table->slots[at].number != 0) at = (at + 1) & mask;
    table->slots[at] = (weft__table_slot){hash, number};
    table->count++;
}

bool weft__table_room(weft__memory *memory, weft__memory_category category, weft__table *table,
                      uint32_t count)
{
    weft__table grown = {.capacity = table->capacity == 0 ? 16 : table->capacity};
    if (count <= table->capacity / 2) return true;
    if (count > UINT32_MAX / 4) return false;
    while (grown.capacity / 2 < count) grown.capacity *= 2;
    grown.slots = WEFT__NEW_ZEROED(memory, category, grown.capacity, *grown.slots);
    if (grown.slots == NULL) return false;
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->slots[i].number != 0)
            weft__table_put(&grown, table->slots[i].hash, table->slots[i].number);
    weft__table_free(memory, category, table);
    *table = grown;
    return true;
}

void weft__table_take(weft__table *table, uint32_t hash, uint32_t number)
{
    uint32_t mask = table->capacity - 1, hole = hash & mask;
    while (table->slots[hole].number != number) hole = (hole + 1) & mask;
    for (uint32_t at = (hole + 1) & mask; table->slots[at].number != 0; at = (at + 1) & mask) {
        uint32_t home = table->slots[at].hash & mask;
        if (((at - home) & mask) < ((at - hole) & mask)) continue; /* its home is behind the hole */
        table->slots[hole] = table->slots[at];
        hole = at;
    }
    table->slots[hole] = (weft__table_slot){0};
    table->count--;
}

void weft__table_clear(weft__table *table)
{
    if (table->capacity != 0) memset(table->slots, 0, table->capacity * sizeof *table->slots);
    table->count = 0;
}

void weft__table_free(weft__memory *memory, weft__memory_category category, weft__table *table)
{
    WEFT__FREE(memory, category, table->slots, table->capacity);
    *table = (weft__table){0};
}
