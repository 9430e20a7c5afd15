/* SPDX-License-Identifier: MIT */
/* entity_change.c: add, remove, set, enable and set archetype of entities, one or many. A lean
 * way in one straight function, which also takes the value of the component that is added, does
 * the moves that need nothing but bytes copied (plan->is_plain, decided when the plan is made);
 * everything else, refusals among it, goes the general way: both give the same world. The lean
 * way knows where to go before it knows where it comes from (world->quick): found out one after
 * the other, these loads were a quarter of its time. Moves in general are in structure.c. Owner,
 * world idle. */
#include "entity_change.h"
#include "archetype.h"
#include "component_registry.h"
#include "destroy.h"
#include "entity_sparse.h"
#include "entity_value.h"
#include "query_change.h"
#include "slice_ops.h"

/* A change of weft__quick: the component with its world, and a bit for removing. */
static inline uint64_t key_of(weft_component component)
{
    static_assert(offsetof(weft_component, world) == 4 && sizeof component == 8, "packed");
    uint64_t bits;
    memcpy(&bits, &component, sizeof bits); /* as it came: in one register */
    return bits << 1;
}

/* The chunk of an entity, with its slot, if the world may be changed now; else NULL. */
static inline __attribute__((always_inline)) weft__chunk *
changed_chunk(const weft_world *world, uint64_t entity, weft_a64 **x_slot, uint64_t *slot)
{
    if (!weft__is_idle(world)) return NULL;
    *x_slot = weft__directory_slot(&world->directory, (uint32_t)entity);
    if (__builtin_expect(*x_slot == NULL, 0)) return NULL;
    *slot = at_load_rlx(*x_slot); /* relaxed: idle */
    if (__builtin_expect((*slot ^ entity) >> 32 != 0 || (uint32_t)*slot == 0, 0)) return NULL;
    return world->berths.at[(uint32_t)*slot >> WEFT__BERTH_SHIFT].chunk;
}

/* Whether the quick way, whose key is that of the change, leads from this chunk: it does from all
 * of the same layout. */
static inline bool quick_leads(weft__quick *quick, weft__chunk *from)
{
    if (__builtin_expect(quick->from != from, 0)) {
        if (quick->from == NULL || quick->plan->from != from->archetype ||
            quick->plan->from_layout != from->layout)
            return false;
        quick->from = from;
    }
    return quick->tuple->room == quick->to;
}

/* ---- many entities ----
 *
 * Chunk by chunk (destroy.h), all or none. */

/* Sorted, checked lists of components to add and to remove. Owner: one call. */
typedef struct lists {
    uint32_t *add;
    uint32_t *remove;
    uint32_t add_count;
    uint32_t remove_count;
    const weft__addition *addition; /* else NULL: `add` are its two components */
} lists;

static weft_result part_send(weft__change *change, weft__change_part *part, const lists *c)
{
    return weft__change_send(change, part,
                             weft__archetype_change(change->world, part->chunk->archetype, c->add,
                                                    c->add_count, c->remove, c->remove_count));
}

/* Rows that have the component of an addition stay. */
static weft_result part_beside(weft__change *change, weft__change_part *part, const lists *c)
{
    weft_world *world = change->world;
    weft__archetype *from = part->chunk->archetype;
    if (weft__archetype_find(from, c->addition->component) != WEFT__NONE) return WEFT_OK;
    weft__archetype *to = weft__archetype_change(world, from, c->add, c->add_count, NULL, 0);
    const weft__plan *plan = to == NULL ? NULL : weft__change_plan(change, part, to);
    weft__tuple *tuple = plan == NULL
                             ? NULL
                             : weft__tuple_with_value(world, part->chunk->tuple, to,
                                                      c->addition->shared, c->addition->value);
    if (tuple == NULL) return world->error->code;
    weft__change_route(change, part, plan, tuple);
    return WEFT_OK;
}

static weft_result change_apply(weft_world *world, const weft_entity *entities, uint32_t count,
                                const lists *c, const char *what)
{
    if (weft__ids_have(c->add, c->add_count, world->builtin.prefab.id) ||
        weft__ids_have(c->remove, c->remove_count, world->builtin.prefab.id))
        return weft__prefab_change(world, entities, count,
                                   &(weft__prefab_request){.add = c->add,
                                                           .remove = c->remove,
                                                           .add_count = c->add_count,
                                                           .remove_count = c->remove_count},
                                   what);
    weft__change_room room;
    weft__change change = {.world = world, .room = &room, .moves_whole = true};
    weft_result result = weft__batch_select(&change, entities, count, what);
    for (uint32_t i = 0; i < change.parts.count && result == WEFT_OK; i++)
        result = c->addition != NULL ? part_beside(&change, &change.parts.at[i], c)
                                     : part_send(&change, &change.parts.at[i], c);
    return weft__change_finish(&change, result);
}

/* The SPARSE components beside the others. */
static weft_result change_all(weft_world *world, const weft_entity *entities, uint32_t count,
                              lists c, const char *what)
{
    uint32_t added = weft__sparse_part(world, c.add, &c.add_count);
    uint32_t removed = weft__sparse_part(world, c.remove, &c.remove_count);
    if (added + removed == 0) return change_apply(world, entities, count, &c, what);
    weft__sparse_changes changes = {.remove = c.remove + c.remove_count, .remove_count = removed};
    weft_result result =
        weft__sparse_changes_prepare(world, entities, count, c.add + c.add_count, added, &changes);
    if (result != WEFT_OK) return result;
    if (c.add_count + c.remove_count != 0) result = change_apply(world, entities, count, &c, what);
    if (result == WEFT_OK)
        weft__sparse_changes_commit(world, entities, count, &changes);
    else
        weft__sparse_changes_cancel(world, entities, count, &changes);
    return result;
}

weft_result weft_entity_change_many(weft_world *world, const weft_entity *entities, uint32_t count,
                                    const weft_change_desc *desc)
{
    const char *what = "weft_entity_change_many";
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    if (desc == NULL)
        return weft__error_argument(world, what, "desc is NULL: say what to add or remove");
    if (entities == NULL && count != 0)
        return weft__error_argument(world, what, "entities is NULL: give an array of `count`");
    lists c = {.add_count = desc->add_count, .remove_count = desc->remove_count};
    c.add = weft__components_sort(world, desc->add, c.add_count, what);
    if (c.add == NULL) return world->error->code;
    c.remove = weft__components_sort(world, desc->remove, c.remove_count, what);
    result = c.remove == NULL ? world->error->code : change_all(world, entities, count, c, what);
    weft__ids_free(world, c.add, desc->add_count);
    weft__ids_free(world, c.remove, desc->remove_count);
    return result;
}

weft_result weft__entities_add(weft_world *world, const weft_entity *entities, uint32_t count,
                               uint32_t component, const char *what)
{
    weft_result result = weft__idle(world, what);
    lists c = {.add = &component, .add_count = 1};
    return result == WEFT_OK ? change_apply(world, entities, count, &c, what) : result;
}

weft_result weft__entities_add_beside(weft_world *world, const weft_entity *entities,
                                      uint32_t count, const weft__addition *addition,
                                      const char *what)
{
    weft_result result = weft__idle(world, what);
    uint32_t a = addition->component, b = addition->shared;
    uint32_t both[2] = {a < b ? a : b, a < b ? b : a};
    lists c = {.add = both, .add_count = 2, .addition = addition};
    return result == WEFT_OK ? change_apply(world, entities, count, &c, what) : result;
}

/* Follows a plan with one row; a residue without anything left dies. */
static inline weft_result row_follow(weft_world *world, const weft__plan *plan, weft__chunk *chunk,
                                     uint32_t row)
{
    if (plan->to == plan->from) return WEFT_OK;
    if ((plan->to->flags & WEFT__IS_RESIDUE) != 0 && weft__archetype_is_spent(world, plan->to))
        return weft__rows_die(world, chunk, NULL, row, 1);
    if (plan->to->shared_count == 0)
        return weft__row_move_by(world, plan, chunk, row, plan->to->tuple0);
    weft__tuple *to = weft__tuple_follow(world, chunk->tuple, plan->to);
    if (to == NULL) return world->error->code;
    weft_result result = weft__row_move_by(world, plan, chunk, row, to);
    weft__tuple_release(world, to);
    return result;
}

/* The whole operation, with every check and every error. */
static __attribute__((noinline)) weft_result
change_generally(weft_world *world, weft_entity entity, weft_component component, bool is_remove)
{
    const weft__type *type = weft__type_sparse(world, component);
    if (type != NULL)
        return is_remove ? weft__sparse_entity_remove(world, entity, type->sparse)
                         : weft__sparse_entity_add(world, entity, type->sparse);
    const char *what = is_remove ? "weft_entity_remove" : "weft_entity_add";
    weft_result result = weft__idle(world, what);
    if (result == WEFT_OK) result = weft__kind_check(world, component, WEFT_RESOURCE, what);
    if (result != WEFT_OK) return result;
    uint32_t row;
    weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL || (!is_remove && weft__residue_lacks(chunk, component.id)))
        return weft__error_stale(world, entity);
    if (weft__prefab_follows(world, chunk->archetype, component.id))
        return weft__prefab_change(world, &entity, 1,
                                   &(weft__prefab_request){.add = &component.id,
                                                           .remove = &component.id,
                                                           .add_count = !is_remove,
                                                           .remove_count = is_remove},
                                   what);
    const weft__plan *plan = weft__archetype_edge(world, chunk->archetype, component.id, is_remove);
    return plan == NULL ? world->error->code : row_follow(world, plan, chunk, row);
}

/* ---- the lean way ---- */

/* One function, one set of registers: the compiler would cut it in two. */
#define INLINE inline __attribute__((always_inline))

/* A row on its way. Lives in the registers of row_leave. */
typedef struct row_way {
    char *from_base, *to_base;
    size_t row, last, to_row; /* last: fills the hole; may be `row` */
} row_way;

/* A value of 8 to 16 bytes leaves, and that of the last row fills its place. */
static INLINE void words_leave(const weft__step *step, const row_way *way, bool is_filled)
{
    size_t bytes = step->bytes;
    char *values = way->from_base + step->from_offset;
    char *hole = values + way->row * bytes;
    const char *last = values + way->last * bytes;
    char *target = way->to_base + step->to_offset + way->to_row * bytes;
    uint64_t head, tail, last_head, last_tail;
    memcpy(&head, hole, 8);
    memcpy(&tail, hole + bytes - 8, 8);
    memcpy(target, &head, 8);
    memcpy(target + bytes - 8, &tail, 8);
    if (!is_filled) return;
    memcpy(&last_head, last, 8);
    memcpy(&last_tail, last + bytes - 8, 8);
    memcpy(hole, &last_head, 8);
    memcpy(hole + bytes - 8, &last_tail, 8);
}

/* A value that the row had: it leaves, unless its component is removed. */
static INLINE void value_leave(const weft__step *step, const row_way *way, bool is_filled)
{
    size_t bytes = step->bytes;
    char *values = way->from_base + step->from_offset, *hole = values + way->row * bytes;
    if (step->kind == WEFT__STEP_MOVE)
        weft__value_copy(way->to_base + step->to_offset + way->to_row * bytes, hole, bytes);
    if (is_filled) weft__value_copy(hole, values + way->last * bytes, bytes);
}

/* A value that the row gets; NULL: zeroes. */
static INLINE void value_come(const weft__step *step, const row_way *way, const char *value)
{
    size_t bytes = step->bytes;
    char *target = way->to_base + step->to_offset + way->to_row * bytes;
    if (value == NULL)
        weft__value_zero(target, bytes);
    else
        weft__value_copy(target, value, bytes);
}

/* All columns but that of the entities. `is_filled`: the last row is another one. */
static INLINE void columns_leave(const weft__plan *plan, const row_way *way, const char *value,
                                 bool is_filled)
{
    const weft__step *step = plan->steps;
    for (uint32_t n = plan->word_count; n != 0; n--, step++) words_leave(step, way, is_filled);
    for (; step->kind != WEFT__STEP_END; step++)
        if (step->kind == WEFT__STEP_ZERO)
            value_come(step, way, value);
        else
            value_leave(step, way, is_filled);
}

/* The slice that takes the row in: kept types get the newer version of both slices, new types the
 * world's. */
static void versions_leave(const weft_world *world, const weft__plan *plan, const weft__chunk *from,
                           uint32_t from_slice, weft__chunk *to, uint32_t slice)
{
    uint32_t version = world->front.version, old = 0;
    uint32_t from_slices = from->layout->slice_count, to_slices = to->layout->slice_count;
    const weft_a32 *x_from = from->x_versions + from_slice;
    weft_a32 *x_to = to->x_versions + slice;
    const uint32_t *kept = plan->kept, *kept_end = kept + 2 * (size_t)plan->kept_count;
    for (; kept != kept_end; kept += 2) {
        weft_a32 *x_kept = x_to + kept[1] * to_slices;
        weft__version_follow(x_kept, x_from + kept[0] * from_slices);
        old |= at_load_rlx(x_kept) ^ version; /* relaxed: idle */
    }
    for (uint32_t i = 0, n = plan->new_type_count; i < n; i++)
        at_store_rlx(x_to + plan->new_types[i] * to_slices, version); /* relaxed: idle */
    if (old != 0) return;
    to->stamped_slice = slice;
    to->stamped_version = version;
}

/* The slices of both rows of a quick move, before it: not needed when all their types are known to
 * be as new as can be. */
static __attribute__((noinline)) void slices_leave(weft_world *world, uint32_t row)
{
    const weft__plan *plan = world->quick.plan;
    weft__chunk *from = world->quick.from, *to = world->quick.to;
    uint32_t version = world->front.version, slice = row >> plan->from_shift;
    uint32_t last_slice = (from->count - 1) >> plan->from_shift;
    uint32_t to_slice = to->count >> plan->to_shift;
    if (!weft__slice_is_stamped(to, to_slice, version))
        versions_leave(world, plan, from, slice, to, to_slice);
    if (slice != last_slice && !weft__slice_is_stamped(from, slice, version))
        weft__row_hole_versions(world, from, slice, last_slice);
}

/* Totals: one row less here, one more there. `to` has other rows; neither has shared values. */
static INLINE void totals_move(weft_world *world, weft__plan *plan, weft__chunk *from,
                               weft__chunk *to, const row_way *way)
{
    WEFT_ASSERT(way->to_row != 0 && to->archetype->entity_count != 0);
    uint32_t version = world->front.version;
    weft__archetype *source = plan->from, *target = plan->to;
    world->front.structure_version++;
    plan->rows_moved++;
    to->count = (uint32_t)way->to_row + 1;
    to->order_version = target->order_version = version;
    target->entity_count++;
    from->count = (uint32_t)way->last;
    from->order_version = source->order_version = version;
    source->entity_count--;
    weft__chunk_soil(from);
}

/* The whole move of a row by the quick way, whose slices are settled. What concerns chunks and
 * directory comes first, so that registers are free for the columns. */
static INLINE void row_leave(weft_world *world, weft_a64 *x_slot, uint64_t slot, weft__chunk *from,
                             weft__chunk *to, const char *value)
{
    weft__plan *plan = world->quick.plan;
    uint32_t location = (uint32_t)slot;
    row_way way = {from->base, to->base, location - from->location, from->count - 1, to->count};
    uint64_t entity, filler;
    at_store_rlx(x_slot, slot - location + to->location + way.to_row); /* relaxed: idle */
    totals_move(world, plan, from, to, &way);
    char *hole = way.from_base + way.row * sizeof entity;
    memcpy(&entity, hole, sizeof entity);
    memcpy(way.to_base + way.to_row * sizeof entity, &entity, sizeof entity);
    if (way.row == way.last) {
        columns_leave(plan, &way, value, false);
        return;
    }
    memcpy(&filler, way.from_base + way.last * sizeof filler, sizeof filler);
    memcpy(hole, &filler, sizeof filler);
    weft__directory_place_bits(&world->directory, filler, location);
    columns_leave(plan, &way, value, true);
}

/* After a row came to `to`: those that may come to the same slice, up to the last that fits. */
static void run_begin(weft_world *world)
{
    weft__quick *quick = &world->quick;
    const weft__chunk *to = quick->to;
    uint32_t count = to->count, slice = (count - 1) >> quick->plan->to_shift;
    uint32_t end = (slice + 1) << quick->plan->to_shift;
    if (end > to->capacity - 1) end = to->capacity - 1;
    bool is_new = weft__slice_is_stamped(to, slice, world->front.version);
    quick->run_version = is_new ? world->front.version : 0;
    quick->new_version = world->front.version;
    quick->run_begin = count;
    quick->run_rows = end > count ? end - count : 0;
}

/* A row whose move moves bits, by the plan of the quick way. */
static __attribute__((noinline)) weft_result bits_leave(weft_world *world, weft__chunk *from,
                                                        uint32_t row, const void *value)
{
    const weft__plan *plan = world->quick.plan;
    uint32_t bytes = world->quick.bytes;
    weft_entity entity = weft__chunk_entities(from)[row];
    weft_result result = row_follow(world, plan, from, row);
    if (result != WEFT_OK || value == NULL) return result;
    const weft__chunk *to = weft__entity_chunk(world, entity, &row);
    weft__value_copy(weft__chunk_value(to, plan->added[0], row), value, bytes);
    return WEFT_OK;
}

/* The same with all questions: slices that differ, bits, a chunk that becomes full, has room again
 * or becomes empty. */
static __attribute__((noinline)) weft_result
row_leave_otherwise(weft_world *world, weft_a64 *x_slot, uint64_t slot, const void *value)
{
    weft__chunk *from = world->quick.from, *to = world->quick.to;
    uint32_t row = (uint32_t)slot - from->location;
    if (weft__row_has_bits(from, row)) return bits_leave(world, from, row, value);
    slices_leave(world, row);
    row_leave(world, x_slot, slot, from, to, value);
    if (from->archetype->enableable_count == 0) run_begin(world); /* else each row asks */
    weft__chunk_room_update(to);
    weft__chunk_room_update(from);
    if (from->count != 0) return WEFT_OK;
    const weft__archetype *archetype = from->archetype;
    uint32_t bit = archetype->number;
    if (archetype->entity_count == 0)
        world->archetypes.nonempty.at[bit / 64] ^= UINT64_C(1) << bit % 64;
    weft__chunk_release(world, from, false);
    return WEFT_OK;
}

/* Whether the last row may fill a hole as it is: the slices of both have the same versions. False
 * for the first row of a slice that is not stamped: slices_leave does it, so that rows that leave
 * in order are not compared. To stamp the slice of each row in random order was 15 % slower. */
static INLINE bool hole_agrees(const weft__quick *quick, const weft__chunk *from, uint32_t row,
                               uint32_t last, uint32_t version)
{
    uint32_t shift = quick->plan->from_shift, slice = row >> shift, slices = quick->from_slices;
    if (weft__slice_is_stamped(from, slice, version)) return true;
    if (slice << shift == row) return false;
    const weft_a32 *x_version = from->x_versions + slice;
    const weft_a32 *x_end = x_version + quick->from_words;
    ptrdiff_t other = (ptrdiff_t)(last >> shift) - (ptrdiff_t)slice;
    for (; x_version != x_end; x_version += slices) {
        /* relaxed: idle */
        if (at_load_rlx(x_version) != at_load_rlx(x_version + other)) return false;
    }
    return true;
}

/* Whether a row may come to the slice of the run as it is: all types are as new as can be, or those
 * that the row brings have the same versions in both slices. */
static INLINE bool run_agrees(const weft__quick *quick, const weft__chunk *from, uint32_t row,
                              const weft__chunk *to, uint32_t version)
{
    if (__builtin_expect(quick->run_version == version, 1)) return true;
    if (quick->new_version != version) return false;
    const weft__plan *plan = quick->plan;
    const weft_a32 *x_from = from->x_versions + (row >> plan->from_shift);
    const weft_a32 *x_to = to->x_versions + (to->count >> plan->to_shift);
    uint32_t from_slices = quick->from_slices, to_slices = to->layout->slice_count;
    const uint32_t *kept = plan->kept, *end = kept + 2 * (size_t)plan->kept_count;
    for (; kept != end; kept += 2) {
        /* relaxed: idle */
        if (at_load_rlx(x_from + kept[0] * from_slices) != at_load_rlx(x_to + kept[1] * to_slices))
            return false;
    }
    return true;
}

static __attribute__((noinline)) weft_result row_leave_quickly(weft_world *world, weft_a64 *x_slot,
                                                               uint64_t slot, const void *value)
{
    const weft__quick *quick = &world->quick;
    weft__chunk *from = quick->from, *to = quick->to;
    uint32_t version = world->front.version, last = from->count - 1;
    /* the slice of the run has an end; the first that leaves a full chunk, or the only one */
    if (__builtin_expect(to->count - quick->run_begin >= quick->run_rows, 0) ||
        __builtin_expect(last - 1 >= quick->from_edge, 0) ||
        __builtin_expect(!run_agrees(quick, from, (uint32_t)slot - from->location, to, version),
                         0) ||
        __builtin_expect(!hole_agrees(quick, from, (uint32_t)slot - from->location, last, version),
                         0))
        return row_leave_otherwise(world, x_slot, slot, value);
    row_leave(world, x_slot, slot, from, to, value);
    return WEFT_OK;
}

/* Bytes of the value that a plan of one component adds, when it is set by copying them. */
static uint32_t added_bytes(const weft__plan *plan)
{
    uint32_t bytes =
        plan->added_count != 1 ? 0 : plan->to->format->types[plan->added[0]]->plain_bytes;
    return bytes != 0 ? bytes : UINT32_MAX;
}

/* The way of this change from this chunk becomes the quick one. False: it is not a plain one. */
static bool quick_find(weft_world *world, weft__chunk *from, uint64_t key)
{
    if (key >> 33 != world->front.number) return false;
    weft__plan *plan =
        weft__archetype_edge_find(from->archetype, (uint32_t)(key >> 1), (key & 1) != 0);
    if (plan == NULL || !plan->is_plain) return false;
    weft__chunk *to = plan->to->tuple0->room;
    if (to == NULL) return false;
    if (plan->from_layout != from->layout || plan->to_layout != to->layout) {
        /* Byte offsets of the columns in the layouts of two chunks. */
        for (weft__step *step = plan->steps; step->kind != WEFT__STEP_END; step++) {
            step->from_offset = from->layout->columns[step->from].offset;
            step->to_offset = to->layout->columns[step->to].offset;
        }
        plan->from_layout = from->layout;
        plan->to_layout = to->layout;
    }
    const weft__layout *layout = from->layout;
    /* no run: the first row asks all questions, and begins one */
    world->quick = (weft__quick){.from = from,
                                 .key = key,
                                 .plan = plan,
                                 .tuple = plan->to->tuple0,
                                 .to = to,
                                 .bytes = added_bytes(plan),
                                 .from_edge = layout->capacity - 2,
                                 .from_slices = layout->slice_count,
                                 .from_words = layout->slice_count * plan->from->type_count};
    return true;
}

static __attribute__((noinline)) bool entity_add_value(weft_world *world, uint64_t entity,
                                                       uint64_t key, const void *value,
                                                       size_t bytes, weft_result *result)
{
    weft_a64 *x_slot;
    uint64_t slot;
    weft__chunk *from = changed_chunk(world, entity, &x_slot, &slot);
    if (from == NULL || !quick_find(world, from, key) || world->quick.bytes != bytes) return false;
    *result = row_leave_quickly(world, x_slot, slot, value);
    return true;
}

/* A change that does not take the quick way of world->quick, or is not plain. */
static __attribute__((noinline)) weft_result
change_by_edge(weft_world *world, weft_entity entity, weft_component component, bool is_remove)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    uint64_t key = key_of(component) | is_remove, slot;
    weft_a64 *x_slot;
    weft__chunk *from = changed_chunk(world, weft__entity_bits(entity), &x_slot, &slot);
    if (from == NULL || !quick_find(world, from, key))
        return change_generally(world, entity, component, is_remove);
    return row_leave_quickly(world, x_slot, slot, NULL);
}

/* Whether the change goes the quick way, and the entity's slot. */
static INLINE bool goes_quickly(weft_world *world, weft_entity entity, uint64_t key,
                                weft_a64 **x_slot, uint64_t *slot)
{
    if (world == NULL || world->quick.key != key) return false;
    weft__chunk *from = changed_chunk(world, weft__entity_bits(entity), x_slot, slot);
    return __builtin_expect(from != NULL, 1) && quick_leads(&world->quick, from);
}

/* The shortest way to what a SPARSE component has; NULL: it is none, or not near. `world` may be
 * NULL. */
static inline const weft__sparse_near *sparse_near_of(const weft_world *world,
                                                      weft_component component)
{
    if (world == NULL) return NULL;
    const weft__sparse_near *near = &world->types.near[component.id % WEFT__SPARSE_NEAR];
    return __builtin_expect(near->key == weft__sparse_key(component), 0) ? near : NULL;
}

/* Calls come last and nothing lives beyond them, so that no registers are saved. SPARSE components
 * that are not near are told apart in change_generally. */
weft_result weft_entity_add(weft_world *world, weft_entity entity, weft_component component)
{
    weft_a64 *x_slot;
    uint64_t slot;
    if (goes_quickly(world, entity, key_of(component), &x_slot, &slot))
        return row_leave_quickly(world, x_slot, slot, NULL);
    const weft__sparse_near *near = sparse_near_of(world, component);
    if (near != NULL) return weft__sparse_entity_add(world, entity, near->sparse);
    return change_by_edge(world, entity, component, false);
}

weft_result weft_entity_remove(weft_world *world, weft_entity entity, weft_component component)
{
    weft_a64 *x_slot;
    uint64_t slot;
    if (goes_quickly(world, entity, key_of(component) | 1, &x_slot, &slot))
        return row_leave_quickly(world, x_slot, slot, NULL);
    const weft__sparse_near *near = sparse_near_of(world, component);
    if (near != NULL) return weft__sparse_entity_remove(world, entity, near->sparse);
    return change_by_edge(world, entity, component, true);
}

weft_result weft_entity_set_archetype(weft_world *world, weft_entity entity, weft_archetype handle)
{
    weft_result result = weft__idle(world, "weft_entity_set_archetype");
    if (result != WEFT_OK) return result;
    weft__archetype *to = weft__archetype_given(world, handle);
    if (to == NULL) return world->error->code;
    uint32_t row;
    weft__chunk *chunk = weft__living_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    const weft__archetype *from = chunk->archetype;
    if ((to->flags & ~from->flags & WEFT__IS_RESIDUE) != 0)
        return weft__error_residue_tag(world, "weft_entity_set_archetype");
    result = weft__archetype_enter(world, to);
    if (result != WEFT_OK) return result;
    for (uint32_t i = 0; i < from->type_count; i++) {
        const weft__type *type = from->types[i].type;
        if ((type->desc.flags & WEFT_CLEANUP) != 0 &&
            weft__archetype_find(to, type->id) == WEFT__NONE)
            return weft__error(world, WEFT_INVALID_ARGUMENT, entity,
                               weft__component(world, type->id),
                               "weft_entity_set_archetype: the archetype lacks the cleanup "
                               "component \"%s\": remove it with weft_entity_remove first",
                               type->desc.name);
    }
    if ((from->flags & WEFT__HAS_LINKED_GROUP) != 0 &&
        ((from->flags ^ to->flags) & WEFT__IS_PREFAB) != 0)
        return weft__prefab_change(world, &entity, 1, &(weft__prefab_request){.to = to},
                                   "weft_entity_set_archetype");
    const weft__plan *plan = weft__plan_obtain(world, chunk->archetype, to);
    return plan == NULL ? world->error->code : row_follow(world, plan, chunk, row);
}

/* ---- values ----
 *
 * The component is added where it is absent, then the value
 * takes the place of the old one, which is destructed.
 *
 * Owner, world idle. The value itself is checked before anything changes. */

static void value_set(weft_world *world, const weft__chunk *chunk, uint32_t row,
                      const weft__type_slot *slot, const void *value)
{
    const weft__type *type = chunk->archetype->types[slot->type].type;
    weft__slot_stamp(world, chunk, row, slot);
    void *to = weft__slot_value(chunk, row, slot);
    if (to == NULL) return; /* a tag */
    if (type->needs_destruct) weft__type_destruct(&world->memory, type, to, 1);
    memcpy(to, value, type->desc.size);
}

/* Sets of any kind, with every check and every error. */
static __attribute__((noinline)) weft_result set_generally(weft_world *world, weft_entity entity,
                                                           weft_component component,
                                                           const void *value, size_t size)
{
    const weft__type *type = world->types.at[component.id];
    weft_result result = weft__value_check(world, component, value, size, "weft_entity_set");
    if (result == WEFT_OK) result = weft__values_check(world, type, value, 1);
    if (result == WEFT_OK) result = weft__may_write(world, "weft_entity_set");
    if (result != WEFT_OK) return result;
    if (type->sparse != NULL) return weft__sparse_set(world, entity, type, value);
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    const weft__type_slot *slot = weft__slot_find(world, chunk, component);
    if (slot == NULL || weft__prefab_follows(world, chunk->archetype, component.id)) {
        result = weft_entity_add(world, entity, component);
        if (result != WEFT_OK) return result;
        chunk = weft__entity_chunk(world, entity, &row);
        slot = weft__slot_find(world, chunk, component);
    }
    value_set(world, chunk, row, slot, value);
    return WEFT_OK;
}

/* Sets that are no more than bytes over bytes in no way. */
static __attribute__((noinline)) weft_result set_otherwise(weft_world *world, weft_entity entity,
                                                           weft_component component,
                                                           const void *value, size_t size)
{
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    weft_result result;
    bool is_plain = size == type->plain_bytes && size != 0 && value != NULL;
    if (is_plain && !(WEFT_IS_CHECKED && type->desc.is_checked) &&
        entity_add_value(world, weft__entity_bits(entity), key_of(component), value, size, &result))
        return result;
    return set_generally(world, entity, component, value, size);
}

/* Bytes over those of a component that the entity has in its row, where it is that simple. */
static __attribute__((noinline)) weft_result set_in_row(weft_world *world, weft_entity entity,
                                                        weft_component component, const void *value,
                                                        size_t size)
{
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    const weft__type_slot *slot =
        chunk == NULL ? NULL : weft__archetype_slot(chunk->archetype, component.id);
    if (__builtin_expect(slot == NULL, 0))
        return set_otherwise(world, entity, component, value, size);
    weft__slot_stamp(world, chunk, row, slot);
    return weft__value_put(weft__chunk_value(chunk, slot->column, row), value, size);
}

/* By the kind of the component. Calls come last here and below, so that no registers are saved. */
static __attribute__((noinline)) weft_result set_by_kind(weft_world *world, weft_entity entity,
                                                         weft_component component,
                                                         const void *value, size_t size)
{
    const weft__type *type = weft__type_at(world, component);
    if (WEFT_IS_CHECKED || __builtin_expect(type == NULL || value == NULL, 0))
        return set_otherwise(world, entity, component, value, size);
    if (type->sparse != NULL && size == type->value_bytes && size != 0)
        return weft__sparse_entity_set(world, entity, type->sparse, value);
    if (size != type->plain_bytes || size == 0 ||
        __builtin_expect((world->front.busy & WEFT__BUSY_WRITING) != 0, 0))
        return set_otherwise(world, entity, component, value, size);
    return set_in_row(world, entity, component, value, size);
}

/* A value that goes with its row, as the last one did, or any other. */
static inline __attribute__((always_inline)) weft_result
set(weft_world *world, weft_entity entity, weft_component component, const void *value, size_t size)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    const uint64_t key = key_of(component);
    if (!WEFT_IS_CHECKED && world->quick.key == key && size == world->quick.bytes &&
        value != NULL) {
        weft_a64 *x_slot;
        uint64_t slot;
        weft__chunk *from = changed_chunk(world, weft__entity_bits(entity), &x_slot, &slot);
        if (__builtin_expect(from != NULL, 1) && quick_leads(&world->quick, from))
            return row_leave_quickly(world, x_slot, slot, value);
    }
    return set_by_kind(world, entity, component, value, size);
}

weft_result weft_entity_set(weft_world *world, weft_entity entity, weft_component component,
                            const void *value, size_t size)
{
    return set(world, entity, component, value, size);
}

weft_result weft_entity_set_as(weft_world *world, weft_entity entity, weft_component component,
                               const void *value, size_t size, const char *type)
{
    const weft__type *held =
        WEFT_IS_CHECKED && world != NULL ? weft__type_at(world, component) : NULL;
    if (held != NULL && held->value_bytes == size && (held->desc.flags & WEFT_BUFFER) == 0 &&
        !weft__slice_is_type(held, size, type))
        return weft__error(world, WEFT_TYPE_MISMATCH, entity, component,
                           "WEFT_SET: component \"%s\" is set with a %s, another type of the same "
                           "size: name the type that it was registered with",
                           held->desc.name, type);
    return set(world, entity, component, value, size);
}

/* All entities are alive and have the component afterwards. */
static weft_result all_have(weft_world *world, const weft_entity *entities, uint32_t count,
                            weft_component component, const char *what)
{
    bool is_absent = false;
    weft__directory_prefetch_first(&world->directory, entities, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row;
        weft__directory_prefetch(&world->directory, entities, count, i);
        const weft__chunk *chunk = weft__entity_chunk(world, entities[i], &row);
        if (chunk == NULL) return weft__error_stale(world, entities[i]);
        is_absent = is_absent || weft__slot_find(world, chunk, component) == NULL ||
                    weft__prefab_follows(world, chunk->archetype, component.id);
    }
    return is_absent ? weft__entities_add(world, entities, count, component.id, what) : WEFT_OK;
}

weft_result weft_entity_set_many(weft_world *world, const weft_entity *entities, uint32_t count,
                                 weft_component component, const void *values, size_t size)
{
    const char *what = "weft_entity_set_many";
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    if (entities == NULL && count != 0)
        return weft__error_argument(world, what, "entities is NULL: give an array of `count`");
    weft_result result =
        weft__value_check(world, component, count == 0 ? what : values, size, what);
    if (result == WEFT_OK) result = weft__values_check(world, type, values, count);
    if (result == WEFT_OK) result = weft__may_write(world, what);
    if (result != WEFT_OK) return result;
    if (type->sparse != NULL) return weft__sparse_set_many(world, entities, count, type, values);
    result = all_have(world, entities, count, component, what);
    weft__directory_prefetch_first(&world->directory, entities, count);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        uint32_t row;
        weft__directory_prefetch(&world->directory, entities, count, i);
        const weft__chunk *chunk = weft__entity_chunk(world, entities[i], &row);
        value_set(world, chunk, row, weft__slot_find(world, chunk, component),
                  size == 0 ? NULL : (const char *)values + i * size);
    }
    return result;
}

weft_result weft_entity_enable(weft_world *world, weft_entity entity, weft_component component,
                               bool enabled)
{
    weft_result result = weft__may_write(world, "weft_entity_enable");
    if (result != WEFT_OK) return result;
    uint32_t row = 0;
    weft__chunk *chunk = weft__living_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    const weft__type *known = weft__type_at(world, component);
    if (known == NULL) return weft__error_component(world, component);
    if ((known->desc.flags & WEFT_ENABLEABLE) == 0)
        return weft__error(
            world, WEFT_TYPE_MISMATCH, entity, component,
            "weft_entity_enable: %s is not ENABLEABLE: register it with WEFT_ENABLEABLE",
            weft__type_name(world, component.id));
    uint32_t type = weft__archetype_find(chunk->archetype, component.id);
    if (type == WEFT__NONE)
        return weft__error(world, WEFT_NOT_FOUND, entity, component,
                           "weft_entity_enable: the entity has no %s: add it first",
                           weft__type_name(world, component.id));
    weft__chunk_enable(chunk, chunk->archetype->types[type].enableable, row, enabled);
    weft__stamp(&weft__chunk_versions(chunk, type)[row >> chunk->layout->slice_shift],
                world->front.version);
    return WEFT_OK;
}

bool weft_entity_is_enabled(const weft_world *world, weft_entity entity, weft_component component)
{
    if (world == NULL) return false;
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return false;
    uint32_t type = weft__archetype_find(chunk->archetype, weft__component_id(world, component));
    if (type == WEFT__NONE) return weft__sparse_has_any(world, entity, component);
    weft__note_read(world, "weft_entity_is_enabled", component);
    uint32_t enableable = chunk->archetype->types[type].enableable;
    return enableable == WEFT__NO_PLACE || weft__chunk_is_enabled(chunk, enableable, row);
}
