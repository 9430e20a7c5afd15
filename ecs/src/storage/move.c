/* SPDX-License-Identifier: MIT */
/* move.c: whole moves: one row (the general way of add and remove), and whole chunks
 * that change archetype or shared values by editing their metadata only. Owner, serial; everything
 * that can fail comes first. */
#include "move.h"
#include "bits.h"
#include "error.h"
#include "format.h"
#include "move_plan.h"
#include "row_move.h"
#include "tuple.h"

#include <string.h>

/* A call of its own: callers save no registers. */
__attribute__((noinline)) weft_result weft__value_put_long(char *to, const void *value,
                                                           size_t bytes)
{
    memcpy(to, value, bytes);
    return WEFT_OK;
}

/* ---- one row ---- */

/* The columns and types of one row. Fields are read into locals first: the stores of values may
 * alias anything, and would have them read again after every column. */
static inline void row_copy_types(const weft_world *world, const weft__plan *plan,
                                  const weft__chunk *from, uint32_t row, const weft__chunk *to,
                                  uint32_t to_row)
{
    const weft__layout *from_layout = from->layout, *to_layout = to->layout;
    const weft_a32 *x_from = from->x_versions + (row >> from_layout->slice_shift);
    weft_a32 *x_to = to->x_versions + (to_row >> to_layout->slice_shift);
    uint32_t from_slices = from_layout->slice_count, to_slices = to_layout->slice_count;
    const uint32_t *kept = plan->kept, *kept_end = kept + 2 * (size_t)plan->kept_count;
    for (; kept != kept_end; kept += 2)
        weft__version_follow(x_to + kept[1] * to_slices, x_from + kept[0] * from_slices);
    const uint32_t *new_types = plan->new_types;
    for (uint32_t i = 0, n = plan->new_type_count; i < n; i++)
        weft__stamp(x_to + new_types[i] * to_slices, world->front.version);
}

static inline void row_copy(weft_world *world, const weft__plan *plan, const weft__chunk *from,
                            uint32_t row, const weft__chunk *to, uint32_t to_row)
{
    char *from_base = from->base, *to_base = to->base;
    weft_entity entity = ((const weft_entity *)(const void *)from_base)[row];
    ((weft_entity *)(void *)to_base)[to_row] = entity;
    weft__directory_place(&world->directory, entity, weft__location(to, to_row));
    const weft__column *from_columns = from->layout->columns, *to_columns = to->layout->columns;
    const weft__column_copy *copy = plan->copies, *end = copy + plan->copy_count;
    uint32_t added_count = plan->added_count;
    const uint32_t *added = plan->added;
    bool is_dirty = !to->is_zero, constructs = (plan->to->flags & WEFT__NEEDS_CONSTRUCT) != 0;
    for (; copy != end; copy++) {
        size_t bytes = copy->bytes;
        weft__value_copy(to_base + to_columns[copy->to].offset + to_row * bytes,
                         from_base + from_columns[copy->from].offset + row * bytes, bytes);
    }
    for (uint32_t i = 0; i < added_count; i++) {
        const weft__column *place = &to_columns[added[i]];
        char *value = to_base + place->offset + (size_t)to_row * place->bytes;
        if (is_dirty) weft__value_zero(value, place->bytes);
        if (__builtin_expect(constructs, 0))
            weft__type_construct_zeroed(plan->to->format->types[added[i]], value, 1);
    }
    row_copy_types(world, plan, from, row, to, to_row);
    /* relaxed: statistics, and the owner is alone */
    at_store_rlx(&world->moved.x_rows, at_load_rlx(&world->moved.x_rows) + 1);
    at_store_rlx(&world->moved.x_bytes, at_load_rlx(&world->moved.x_bytes) + plan->copy_bytes);
}

void weft__row_hole_versions(const weft_world *world, weft__chunk *chunk, uint32_t s, uint32_t t)
{
    uint32_t slices = chunk->layout->slice_count, old = 0;
    weft_a32 *x_version = chunk->x_versions;
    const weft_a32 *x_end = x_version + chunk->archetype->type_count * slices;
    for (; x_version != x_end; x_version += slices) {
        weft__version_follow(x_version + s, x_version + t);
        old |= at_load_rlx(x_version + s) ^ world->front.version; /* relaxed: idle */
    }
    if (old != 0) return;
    chunk->stamped_slice = s;
    chunk->stamped_version = world->front.version;
}

enum { NEAR_ROWS = 32 };

void weft__row_last_ends(weft__chunk *chunk)
{
    uint32_t row = chunk->count, shift = chunk->layout->slice_shift;
    bool is_near = row < chunk->ready_end && chunk->ready_end - row <= NEAR_ROWS &&
                   row >> shift == (chunk->ready_end - 1) >> shift;
    if (!is_near) {
        weft__chunk_soil(chunk);
        return;
    }
    const weft__column *column = chunk->layout->columns + 1;
    const weft__column *end = chunk->layout->columns + chunk->layout->column_count;
    if (chunk->is_zero) memset(chunk->base + row * sizeof(weft_entity), 0, sizeof(weft_entity));
    for (; column < end; column++)
        weft__value_zero(chunk->base + column->offset + row * (size_t)column->bytes, column->bytes);
}

bool weft__row_die_at_edge(weft_world *world, weft__chunk *chunk, uint32_t row,
                           weft__entity_block *block, uint32_t special)
{
    if ((chunk->archetype->flags & special) != 0) return false;
    weft_entity entity = weft__chunk_entities(chunk)[row];
    uint32_t index = entity.index ^ world->directory.tag_bits;
    if (!weft__directory_kill_owner(&world->directory, block, index, entity.version)) return false;
    weft__row_swap_back(world, chunk, row);
    weft__chunk_count_rows(world, chunk, -1);
    if (chunk->count == 0)
        weft__chunk_release_clean(world, chunk);
    else if (!chunk->has_room)
        weft__chunk_room_update(chunk);
    return true;
}

weft_result weft__row_move_by(weft_world *world, const weft__plan *plan, weft__chunk *from,
                              uint32_t row, weft__tuple *to)
{
    if (from->tuple == to) return WEFT_OK;
    weft__span place;
    weft_result result = weft__row_reserve(world, to, &place);
    if (result != WEFT_OK) return result;
    row_copy(world, plan, from, row, place.chunk, place.row);
    if (plan->from->shared_count != 0 || weft__row_has_bits(from, row))
        weft__rows_copy_marks(world, plan, from, NULL, row, place);
    weft__rows_discard(world, plan, from, NULL, row, 1);
    weft__row_end(world, from, row);
    return WEFT_OK;
}

weft_result weft__row_move(weft_world *world, weft__chunk *from, uint32_t row, weft__tuple *to)
{
    const weft__plan *plan = weft__plan_obtain(world, from->archetype, to->archetype);
    return plan == NULL ? world->error->code : weft__row_move_by(world, plan, from, row, to);
}

/* ---- whole chunks in place ---- */

static void versions_copy(const weft_world *world, const weft__plan *plan, const weft__chunk *chunk,
                          const weft__side *side)
{
    uint32_t slices = chunk->layout->slice_count;
    for (uint32_t i = 0; i < plan->kept_count; i++)
        memcpy(side->x_versions + (size_t)plan->kept[2 * i + 1] * slices,
               chunk->x_versions + (size_t)plan->kept[2 * i] * slices, slices * sizeof(weft_a32));
    for (uint32_t i = 0; i < plan->new_type_count; i++)
        for (uint32_t s = 0; s < slices; s++)
            at_init(&side->x_versions[(size_t)plan->new_types[i] * slices + s],
                    world->front.version);
}

static void bits_copy(const weft__plan *plan, const weft__chunk *chunk, const weft__side *side)
{
    uint32_t slices = chunk->layout->slice_count, words = chunk->layout->mask_words;
    for (uint32_t i = 0; i < plan->kept_count; i++) {
        const weft__type_ref *a = &plan->from->types[plan->kept[2 * i]];
        const weft__type_ref *b = &plan->to->types[plan->kept[2 * i + 1]];
        if (a->enableable != WEFT__NO_PLACE) {
            memcpy(side->x_disabled + (size_t)b->enableable * words,
                   chunk->x_disabled + (size_t)a->enableable * words, words * sizeof(weft_a64));
            memcpy(side->x_disabled_counts + (size_t)b->enableable * slices,
                   chunk->x_disabled_counts + (size_t)a->enableable * slices,
                   slices * sizeof(weft_a32));
        }
        if (a->chunk_offset != WEFT__NONE)
            memcpy(side->chunk_values + b->chunk_offset, chunk->chunk_values + a->chunk_offset,
                   a->type->chunk_bytes);
    }
}

/* Stamps the shared types whose value differs between the tuples (same archetype). */
static void shared_stamp(const weft_world *world, const weft__chunk *chunk, const weft__tuple *to)
{
    const weft__archetype *archetype = chunk->archetype;
    for (uint32_t type = 0; type < archetype->type_count; type++) {
        uint32_t shared = archetype->types[type].shared;
        if (shared == WEFT__NO_PLACE || chunk->tuple->values[shared] == to->values[shared])
            continue;
        for (uint32_t s = 0; s < chunk->layout->slice_count; s++)
            weft__stamp(weft__chunk_versions(chunk, type) + s, world->front.version);
    }
}

static void chunk_retarget(weft_world *world, const weft__plan *plan, weft__chunk *chunk,
                           weft__tuple *to, const weft__side *side)
{
    uint32_t rows = chunk->count;
    weft__tuple *from = chunk->tuple;
    weft__chunk_count_rows(world, chunk, -(int64_t)rows);
    weft__chunk_room_remove(chunk);
    chunk->stamped_version = 0;
    chunk->ready_end = 0;
    world->quick.from = NULL;
    if (side != NULL) {
        versions_copy(world, plan, chunk, side);
        bits_copy(plan, chunk, side);
        weft__side_replace(&world->memory, chunk, to->archetype, chunk->layout, side);
        weft__chunk_unlist(chunk);
        chunk->archetype = to->archetype;
        chunk->list_index = to->archetype->chunk_count;
        to->archetype->chunks[to->archetype->chunk_count++] = chunk;
    } else {
        shared_stamp(world, chunk, to);
    }
    chunk->tuple = to;
    weft__tuple_enter(to, chunk);
    weft__chunk_count_rows(world, chunk, rows);
    weft__chunk_room_update(chunk);
    weft__tuple_leave(from, chunk);
    weft__tuple_release(world, from);
}

/* Room in the chunk lists of all destinations. */
static bool lists_reserve(weft_world *world, weft__tuple *const *to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) to[i]->archetype->arriving++;
    bool is_ready = true;
    for (uint32_t i = 0; i < count && is_ready; i++)
        is_ready = weft__chunk_list_reserve(world, to[i]->archetype, to[i]->archetype->arriving);
    for (uint32_t i = 0; i < count; i++) to[i]->archetype->arriving = 0;
    return is_ready;
}

/* One change of archetype, prepared. Owner: the list of weft__chunks_retarget; `side` goes to the
 * chunk. */
typedef struct retarget {
    const weft__plan *plan;
    weft__side side; /* block NULL: the archetype stays */
    bool is_new;     /* side is to be installed */
} retarget;

static void retargets_free(weft_world *world, retarget *list, uint32_t prepared, uint32_t count)
{
    for (uint32_t i = 0; i < prepared; i++) weft__side_free(&world->memory, &list[i].side);
    weft__free(&world->memory, WEFT__MEMORY_COMMANDS, list, count, sizeof *list,
               _Alignof(retarget));
}

static retarget *retargets_make(weft_world *world, weft__chunk *const *chunks,
                                weft__tuple *const *to, uint32_t count)
{
    retarget *list = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_COMMANDS, count, sizeof *list,
                                        _Alignof(retarget));
    if (list == NULL) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        weft__archetype *from = chunks[i]->archetype, *target = to[i]->archetype;
        if (from == target) continue;
        WEFT_ASSERT(from->format == target->format);
        list[i].is_new = true;
        list[i].plan = weft__plan_obtain(world, from, target);
        if (list[i].plan != NULL &&
            weft__side_allocate(&world->memory, target, chunks[i]->layout, &list[i].side))
            continue;
        retargets_free(world, list, i, count);
        return NULL;
    }
    return list;
}

weft_result weft__chunks_retarget(weft_world *world, weft__chunk *const *chunks,
                                  weft__tuple *const *to, uint32_t count)
{
    if (count == 0) return WEFT_OK;
    retarget *list =
        lists_reserve(world, to, count) ? retargets_make(world, chunks, to, count) : NULL;
    if (list == NULL) return weft__error_memory(world, "change of whole chunks");
    for (uint32_t i = 0; i < count; i++)
        if (chunks[i]->tuple != to[i])
            chunk_retarget(world, list[i].plan, chunks[i], to[i],
                           list[i].is_new ? &list[i].side : NULL);
    retargets_free(world, list, 0, count);
    return WEFT_OK;
}
