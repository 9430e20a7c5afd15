/* SPDX-License-Identifier: MIT */
/* small_memory.c: the first chunk memory of a world, one block with a bit per grain of 256 bytes,
 * which is not zeroed: of a fresh block only the pages that rows touch take memory; parts of units,
 * and lines. Owner, world idle. */
#include "small_memory.h"
#include "bits.h"

#include <assert.h>
#include <stdio.h>

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

/* ---- parts of units: 64, 16 or 4; a unit goes back when its last part does ---- */

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

static weft_result unit_open(weft__parts *parts, weft__units *units, uint32_t size_class)
{
    uint32_t number = parts->all.count + 1;
    if (!WEFT__LIST_ROOM(units->memory, WEFT__MEMORY_METADATA, &parts->all, number) ||
        !weft__table_room(units->memory, WEFT__MEMORY_METADATA, &parts->numbers, number))
        return WEFT_OUT_OF_MEMORY;
    weft__part_unit *unit = WEFT__NEW(units->memory, WEFT__MEMORY_METADATA, 1, *unit);
    if (unit == NULL) return WEFT_OUT_OF_MEMORY;
    weft__run run;
    weft_result result = weft__units_take(units, 1, 0, &run);
    if (result != WEFT_OK) {
        WEFT__FREE(units->memory, WEFT__MEMORY_METADATA, unit, 1);
        return result;
    }
    *unit = (weft__part_unit){.memory = run.memory,
                              .unit = run.first,
                              .place = parts->all.count,
                              .size_class = size_class,
                              .dirty = run.is_zero ? 0 : UINT64_MAX};
    parts->all.at[parts->all.count++] = unit;
    weft__table_put(&parts->numbers, unit->unit, number);
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
    const uint32_t place = units->is_mirrored ? parts_per_unit(size_class) - 1 - part : part;
    *out = (weft__run){.memory = unit->memory + place * weft__class_bytes(size_class),
                       .first = unit->unit,
                       .is_zero = (unit->dirty & bit) == 0};
    unit->dirty |= bit;
    if (bits_count(unit->used) == parts_per_unit(size_class)) list_remove(parts, unit);
    return WEFT_OK;
}

static void unit_close(weft__parts *parts, weft__units *units, weft__part_unit *unit)
{
    weft__part_unit *last = parts->all.at[--parts->all.count];
    weft__table_take(&parts->numbers, unit->unit, unit->place + 1);
    if (last != unit) {
        weft__table_take(&parts->numbers, last->unit, last->place + 1);
        last->place = unit->place;
        parts->all.at[last->place] = last;
        weft__table_put(&parts->numbers, last->unit, last->place + 1);
    }
    list_remove(parts, unit);
    weft__units_free(units, unit->unit, 1);
    WEFT__FREE(units->memory, WEFT__MEMORY_METADATA, unit, 1);
}

void weft__parts_free(weft__parts *parts, weft__units *units, uint32_t unit_index, void *memory)
{
    uint32_t step = 0, number = weft__table_next(&parts->numbers, unit_index, &step);
    weft__part_unit *unit = parts->all.at[number - 1];
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
    uint32_t count = parts->all.count, with_room[WEFT__UNIT_CLASS] = {0};
    const char *broken = NULL;
    *used = 0;
    for (uint32_t i = 0; i < count; i++) {
        const weft__part_unit *unit = parts->all.at[i];
        if (broken == NULL) broken = unit_check(unit);
        uint32_t parts_used = bits_count(unit->used);
        *used += parts_used;
        if (parts_used < parts_per_unit(unit->size_class)) with_room[unit->size_class]++;
    }
    if (broken == NULL && count != parts->numbers.count)
        broken = "count is not the units in the table";
    for (uint32_t size_class = 0; size_class < WEFT__UNIT_CLASS; size_class++)
        if (broken == NULL && listed(parts, size_class, count) != with_room[size_class])
            broken = "a list is not that of the units with room";
    if (broken != NULL) snprintf(text, text_bytes, "parts of units: %s", broken);
    return broken == NULL;
}

void weft__parts_fini(weft__parts *parts, weft__memory *memory)
{
    for (uint32_t i = 0; i < parts->all.count; i++)
        WEFT__FREE(memory, WEFT__MEMORY_METADATA, parts->all.at[i], 1);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_METADATA, &parts->all);
    weft__table_free(memory, WEFT__MEMORY_METADATA, &parts->numbers);
}

/* ---- lines ---- */

/* The first slab is small, each next one twice as large, up to a limit, so that small worlds stay
 * small and the rest at the end of a slab is little. */

#define FIRST_BYTES ((size_t)1024)
#define MOST_BYTES ((size_t)32768)

static_assert(sizeof(weft__line_slab) <= WEFT__LINE, "the head of a slab is a line");

static size_t slab_bytes(const weft__line_slab *last, size_t needed)
{
    size_t bytes = last == NULL ? FIRST_BYTES : 2 * last->bytes;
    if (bytes > MOST_BYTES) bytes = MOST_BYTES;
    return bytes < needed ? needed : bytes;
}

static weft__line_slab *slab_make(weft__lines *lines, weft__memory *memory, size_t needed)
{
    size_t bytes = slab_bytes(lines->slab, needed);
    weft__line_slab *slab =
        weft__alloc(memory, WEFT__MEMORY_METADATA, bytes / WEFT__LINE, WEFT__LINE, WEFT__LINE);
    if (slab == NULL) return NULL;
    *slab = (weft__line_slab){.before = lines->slab, .bytes = bytes, .used = WEFT__LINE};
    if (lines->slab != NULL) lines->slab->after = slab;
    lines->slab = slab;
    return slab;
}

void *weft__lines_take(weft__lines *lines, weft__memory *memory, size_t bytes)
{
    weft__line_slab *slab = lines->slab;
    bytes = bits_align_up(bytes, WEFT__LINE);
    if (slab == NULL || slab->bytes - slab->used < bytes)
        slab = slab_make(lines, memory, WEFT__LINE + bytes);
    if (slab == NULL) return NULL;
    slab->used += bytes;
    slab->blocks++;
    return (char *)slab + slab->used - bytes;
}

void weft__lines_undo(weft__lines *lines, size_t bytes)
{
    lines->slab->used -= bits_align_up(bytes, WEFT__LINE);
    lines->slab->blocks--;
}

static void slab_free(weft__memory *memory, weft__line_slab *slab)
{
    ASAN_UNPOISON_MEMORY_REGION(slab, slab->bytes); /* objects that ended */
    weft__free(memory, WEFT__MEMORY_METADATA, slab, slab->bytes / WEFT__LINE, WEFT__LINE,
               WEFT__LINE);
}

void weft__lines_give(weft__lines *lines, weft__memory *memory, weft__line_slab *slab)
{
    if (--slab->blocks != 0 || slab == lines->slab) return;
    slab->after->before = slab->before;
    if (slab->before != NULL) slab->before->after = slab->after;
    slab_free(memory, slab);
}

void weft__lines_fini(weft__lines *lines, weft__memory *memory)
{
    for (weft__line_slab *slab = lines->slab, *before; slab != NULL; slab = before) {
        before = slab->before;
        slab_free(memory, slab);
    }
    *lines = (weft__lines){0};
}
