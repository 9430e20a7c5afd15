/* SPDX-License-Identifier: MIT */
/* transfer_memory.c: chunk memory that changes hands: a reservation of the source of which every
 * unit in use belongs to chunks that move as they are goes to the destination's unit allocator, and
 * back if the transfer fails. Nothing is copied then but metadata. Owner of both worlds, both
 * idle. */
#include "transfer_memory.h"
#include "error.h"
#include "format.h"
#include "transfer_state.h"
#include "transfer_world.h"

#define CATEGORY WEFT__MEMORY_COMMANDS

typedef struct weft__handed {
    uint32_t units;   /* that move */
    uint32_t pair;    /* in the destination, or WEFT__TRANSFER_STAYS */
    uint64_t used[2]; /* of its halves, while it is held */
} weft__handed;

static uint32_t pair_of(const weft__chunk *chunk)
{
    return chunk->first_unit / (2 * WEFT__MEGACHUNK_UNITS);
}

/* Whether every column lies in the same place in both worlds: component ids order them. */
static bool has_same_columns(const weft__transfer *t, const weft__chunk *chunk,
                             const weft__format *format, const weft__layout *to)
{
    const weft__layout *from = chunk->layout;
    const weft__type *const *types = chunk->archetype->format->types;
    if (to->capacity != from->capacity || to->column_count != from->column_count) return false;
    for (uint32_t column = 1; column < from->column_count; column++)
        if (format->types[column]->id != t->types[types[column]->id] ||
            to->columns[column].offset != from->columns[column].offset)
            return false;
    return true;
}

/* Counts the units of a part when its memory could go. Error: set. */
static weft_result part_count(weft__transfer *t, const weft__change_part *part)
{
    const weft__chunk *chunk = part->chunk;
    weft__archetype *to = weft__transfer_target(t, chunk->archetype);
    if (to == NULL) return t->to->error->code;
    if (chunk->unit_count == 0 || !weft__transfer_keeps_chunk(part, to, true)) return WEFT_OK;
    const weft__layout *layout = weft__layout_obtain(t->to, to->format, chunk->layout->size_class);
    if (layout == NULL) return t->to->error->code;
    if (has_same_columns(t, chunk, to->format, layout))
        t->pairs[pair_of(chunk)].units += chunk->unit_count;
    return WEFT_OK;
}

/* A recorder may take memory of either world on another thread meanwhile. */
static bool may_hand_over(const weft__transfer *t)
{
    return t->shares_memory && weft__held(t->from, WEFT__HOLDER_RECORDERS) == 0 &&
           weft__held(t->to, WEFT__HOLDER_RECORDERS) == 0;
}

weft_result weft__transfer_memory_take(weft__transfer *t)
{
    uint32_t end = 0;
    const bool hands_over = may_hand_over(t);
    for (uint32_t i = 0; i < t->change.parts.count && hands_over; i++) {
        const weft__chunk *chunk = t->change.parts.at[i].chunk;
        if (chunk->unit_count != 0 && pair_of(chunk) >= end) end = pair_of(chunk) + 1;
    }
    if (end == 0) return WEFT_OK;
    t->pairs = weft__alloc_zeroed(&t->to->memory, CATEGORY, end, sizeof *t->pairs, 8);
    if (t->pairs == NULL) return weft__error_memory(t->to, "weft_world_transfer");
    t->pair_count = end;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < t->change.parts.count && result == WEFT_OK; i++)
        result = part_count(t, &t->change.parts.at[i]);
    for (uint32_t pair = 0; pair < end; pair++) {
        weft__handed *handed = &t->pairs[pair];
        bool moves = result == WEFT_OK && handed->units != 0 &&
                     handed->units == weft__units_pair_used(&t->from->units, pair);
        handed->pair =
            !moves ? WEFT__TRANSFER_STAYS
                   : weft__units_hand_over(&t->from->units, pair, &t->to->units, WEFT__UNITS_ANY);
        if (handed->pair != WEFT__TRANSFER_STAYS)
            weft__units_hold(&t->to->units, handed->pair, handed->used);
    }
    return result;
}

bool weft__transfer_memory_run(const weft__transfer *t, const weft__chunk *chunk, weft__run *run)
{
    if (t->pairs == NULL || chunk->unit_count == 0) return false;
    uint32_t pair = t->pairs[pair_of(chunk)].pair;
    if (pair == WEFT__TRANSFER_STAYS) return false;
    *run = (weft__run){.memory = chunk->base,
                       .first = pair * 2 * WEFT__MEGACHUNK_UNITS +
                                chunk->first_unit % (2 * WEFT__MEGACHUNK_UNITS),
                       .count = chunk->unit_count,
                       .is_zero = chunk->is_zero};
    return true;
}

void weft__transfer_memory_keep(weft__transfer *t)
{
    for (uint32_t pair = 0; pair < t->pair_count; pair++)
        if (t->pairs[pair].pair != WEFT__TRANSFER_STAYS)
            weft__units_let_go(&t->to->units, t->pairs[pair].pair, t->pairs[pair].used);
}

void weft__transfer_memory_return(weft__transfer *t)
{
    weft__transfer_memory_keep(t);
    for (uint32_t pair = 0; pair < t->pair_count; pair++)
        if (t->pairs[pair].pair != WEFT__TRANSFER_STAYS)
            weft__units_hand_over(&t->to->units, t->pairs[pair].pair, &t->from->units, pair);
}

void weft__transfer_memory_fini(weft__transfer *t)
{
    weft__free(&t->to->memory, CATEGORY, t->pairs, t->pair_count, sizeof *t->pairs, 8);
}
