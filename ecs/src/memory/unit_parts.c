/* SPDX-License-Identifier: MIT */
/* unit_parts.c: small chunk memory: units cut into 64, 16 or 4 parts, so
 * that many archetypes of a few entities do not cost a unit each. Owner only, or one playback
 * task at a time; a unit goes back to the unit allocator when its last part does. */
#include "unit_parts.h"

#include "bits.h"

#include <stdio.h>

static uint32_t parts_per_unit(uint32_t size_class)
{
    return (uint32_t)(WEFT__UNIT_BYTES / weft__class_bytes(size_class));
}

static void list_push(weft__parts *parts, weft__part_unit *unit)
{
    weft__part_unit **head = &parts->with_room[unit->size_class];
    unit->prev = NULL;
    unit->next = *head;
    if (*head != NULL) (*head)->prev = unit;
    *head = unit;
}

static void list_remove(weft__parts *parts, weft__part_unit *unit)
{
    if (unit->prev != NULL)
        unit->prev->next = unit->next;
    else
        parts->with_room[unit->size_class] = unit->next;
    if (unit->next != NULL) unit->next->prev = unit->prev;
}

static bool table_grow(weft__parts *parts, weft__memory *memory)
{
    uint32_t size = parts->table == NULL ? 0 : parts->table_mask + 1;
    if (parts->count < size) return true;
    uint32_t grown = size == 0 ? 16 : 2 * size;
    weft__part_unit **table = weft__alloc_zeroed(memory, WEFT__MEMORY_METADATA, grown,
                                                 sizeof *table, _Alignof(weft__part_unit *));
    if (table == NULL) return false;
    for (uint32_t i = 0; i < size; i++) {
        for (weft__part_unit *unit = parts->table[i], *next; unit != NULL; unit = next) {
            next = unit->hash_next;
            unit->hash_next = table[unit->unit & (grown - 1)];
            table[unit->unit & (grown - 1)] = unit;
        }
    }
    weft__free(memory, WEFT__MEMORY_METADATA, parts->table, size, sizeof *table,
               _Alignof(weft__part_unit *));
    parts->table = table;
    parts->table_mask = grown - 1;
    return true;
}

static weft_result unit_open(weft__parts *parts, weft__units *units, uint32_t size_class)
{
    if (!table_grow(parts, units->memory)) return WEFT_OUT_OF_MEMORY;
    weft__part_unit *unit = weft__alloc(units->memory, WEFT__MEMORY_METADATA, 1, sizeof *unit,
                                        _Alignof(weft__part_unit));
    if (unit == NULL) return WEFT_OUT_OF_MEMORY;
    weft__run run;
    weft_result result = weft__units_allocate(units, 1, 0, &run);
    if (result != WEFT_OK) {
        weft__free(units->memory, WEFT__MEMORY_METADATA, unit, 1, sizeof *unit,
                   _Alignof(weft__part_unit));
        return result;
    }
    *unit = (weft__part_unit){.memory = run.memory,
                              .unit = run.first,
                              .size_class = size_class,
                              .dirty = run.is_zero ? 0 : UINT64_MAX};
    weft__part_unit **head = &parts->table[unit->unit & parts->table_mask];
    unit->hash_next = *head;
    *head = unit;
    parts->count++;
    list_push(parts, unit);
    return WEFT_OK;
}

weft_result weft__parts_allocate(weft__parts *parts, weft__units *units, uint32_t size_class,
                                 weft__run *out)
{
    if (parts->with_room[size_class] == NULL) {
        weft_result result = unit_open(parts, units, size_class);
        if (result != WEFT_OK) return result;
    }
    weft__part_unit *unit = parts->with_room[size_class];
    uint32_t part = bits_lowest(~unit->used);
    uint64_t bit = UINT64_C(1) << part;
    unit->used |= bit;
    *out = (weft__run){.memory = unit->memory + part * weft__class_bytes(size_class),
                       .first = unit->unit,
                       .is_zero = (unit->dirty & bit) == 0};
    unit->dirty |= bit;
    if (bits_count(unit->used) == parts_per_unit(size_class)) list_remove(parts, unit);
    return WEFT_OK;
}

static void unit_close(weft__parts *parts, weft__units *units, weft__part_unit *unit)
{
    weft__part_unit **link = &parts->table[unit->unit & parts->table_mask];
    while (*link != unit) link = &(*link)->hash_next;
    *link = unit->hash_next;
    parts->count--;
    list_remove(parts, unit);
    weft__units_free(units, unit->unit, 1);
    weft__free(units->memory, WEFT__MEMORY_METADATA, unit, 1, sizeof *unit,
               _Alignof(weft__part_unit));
}

void weft__parts_free(weft__parts *parts, weft__units *units, uint32_t unit_index, void *memory)
{
    weft__part_unit *unit = parts->table[unit_index & parts->table_mask];
    while (unit->unit != unit_index) unit = unit->hash_next;
    size_t offset = (size_t)((char *)memory - unit->memory);
    bool was_full = bits_count(unit->used) == parts_per_unit(unit->size_class);
    unit->used &= ~(UINT64_C(1) << offset / weft__class_bytes(unit->size_class));
    if (was_full) list_push(parts, unit);
    if (unit->used == 0) unit_close(parts, units, unit);
}

/* NULL when the books of a unit are right. */
static const char *unit_check(const weft__part_unit *unit)
{
    uint64_t all = bits_mask(parts_per_unit(unit->size_class));
    if (unit->used == 0) return "no part is used";
    if ((unit->used & ~all) != 0) return "a part beyond the last one is used";
    return (unit->used & ~unit->dirty) != 0 ? "a used part is not marked dirty" : NULL;
}

/* The units of a class in its list, at most `limit` + 1 of them; UINT32_MAX: a full one among
 * them. */
static uint32_t listed(const weft__parts *parts, uint32_t size_class, uint32_t limit)
{
    uint32_t count = 0;
    for (const weft__part_unit *unit = parts->with_room[size_class]; unit != NULL && count <= limit;
         unit = unit->next, count++)
        if (unit->size_class != size_class ||
            bits_count(unit->used) == parts_per_unit(unit->size_class))
            return UINT32_MAX;
    return count;
}

bool weft__parts_check(const weft__parts *parts, uint64_t *used, char *text, size_t text_bytes)
{
    uint32_t count = 0, with_room[WEFT__UNIT_CLASS] = {0};
    const char *broken = NULL;
    *used = 0;
    for (uint32_t i = 0; parts->table != NULL && i <= parts->table_mask; i++) {
        for (const weft__part_unit *unit = parts->table[i]; unit != NULL; unit = unit->hash_next) {
            if (broken == NULL) broken = unit_check(unit);
            uint32_t parts_used = bits_count(unit->used);
            *used += parts_used;
            count++;
            if (parts_used < parts_per_unit(unit->size_class)) with_room[unit->size_class]++;
        }
    }
    if (broken == NULL && count != parts->count) broken = "count is not the units in the table";
    for (uint32_t size_class = 0; size_class < WEFT__UNIT_CLASS; size_class++)
        if (broken == NULL && listed(parts, size_class, count) != with_room[size_class])
            broken = "a list is not that of the units with room";
    if (broken != NULL) snprintf(text, text_bytes, "parts of units: %s", broken);
    return broken == NULL;
}

void weft__parts_fini(weft__parts *parts, weft__memory *memory)
{
    uint32_t size = parts->table == NULL ? 0 : parts->table_mask + 1;
    for (uint32_t i = 0; i < size; i++) {
        for (weft__part_unit *unit = parts->table[i], *next; unit != NULL; unit = next) {
            next = unit->hash_next;
            weft__free(memory, WEFT__MEMORY_METADATA, unit, 1, sizeof *unit,
                       _Alignof(weft__part_unit));
        }
    }
    weft__free(memory, WEFT__MEMORY_METADATA, parts->table, size, sizeof *parts->table,
               _Alignof(weft__part_unit *));
}
