/* SPDX-License-Identifier: MIT */
/* entity_change.c: add, remove and set archetype of single entities. A lean way in one straight
 * function, which also takes the value of the component that is added, does the moves that need
 * nothing but bytes copied (plan->is_plain, decided when the plan is made); everything else,
 * refusals among it, goes the general way: both give the same world. The lean way knows where to go
 * before it knows where it comes from (world->quick): found out one after the other, these loads
 * were a quarter of its time. Moves in general are in move.c; arrays are in entity_change_many.c.
 * Owner, world idle. */
#include "entity_change.h"
#include "archetype.h"
#include "archetype_order.h"
#include "destroy.h"
#include "entity_sparse.h"
#include "entity_value.h"
#include "error.h"
#include "format.h"
#include "move.h"
#include "move_plan.h"
#include "prefab.h"
#include "row_move.h"
#include "tuple.h"

#include <string.h>

/* ---- the general way ---- */

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

/* OK when a component may be added to and removed from archetypes. */
static weft_result component_check(const weft_world *world, weft_component component)
{
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    if (weft__type_is_residue_tag(world, type))
        return weft__error_residue_tag(world, "weft_entity_add and _remove");
    if ((type->desc.flags & WEFT_RESOURCE) == 0) return WEFT_OK;
    return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                       "component \"%s\" is a RESOURCE and belongs to no entity: use "
                       "weft_resource_write",
                       type->desc.name);
}

/* The whole operation, with every check and every error. */
static __attribute__((noinline)) weft_result
change_generally(weft_world *world, weft_entity entity, weft_component component, bool is_remove)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, is_remove ? "weft_entity_remove" : "weft_entity_add");
    if (result == WEFT_OK) result = component_check(world, component);
    if (result != WEFT_OK) return result;
    uint32_t row;
    weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    if (weft__prefab_follows(world, chunk->archetype, component.id))
        return weft__prefab_change(world, &entity, 1,
                                   &(weft__prefab_request){.add = &component.id,
                                                           .remove = &component.id,
                                                           .add_count = !is_remove,
                                                           .remove_count = is_remove},
                                   is_remove ? "weft_entity_remove" : "weft_entity_add");
    const weft__plan *plan = weft__archetype_edge(world, chunk->archetype, component.id, is_remove);
    return plan == NULL ? world->error->code : row_follow(world, plan, chunk, row);
}

/* ---- the lean way ---- */

/* One function, one set of registers: the compiler would cut it in two. */
#define INLINE inline __attribute__((always_inline))

/* Byte offsets of the columns in the layouts of two chunks. */
static __attribute__((noinline)) void steps_place(weft__plan *plan, const weft__layout *from,
                                                  const weft__layout *to)
{
    for (weft__step *step = plan->steps; step->kind != WEFT__STEP_END; step++) {
        step->from_offset = from->columns[step->from].offset;
        step->to_offset = to->columns[step->to].offset;
    }
    plan->from_layout = from;
    plan->to_layout = to;
}

/* A value of the row that leaves goes to its new place, that of the last row into the hole; both
 * may be the same row. */
static INLINE void value_leave(char *target, char *hole, const char *last, size_t bytes)
{
    weft__value_copy(target, hole, bytes);
    if (hole != last) weft__value_copy(hole, last, bytes);
}

/* Where a row goes, with the value of the column that is added (NULL: zeroes). Lives on
 * the stack of the move. */
typedef struct landing {
    char *base;
    size_t row;
    const char *value;
} landing;

/* All columns but that of the entities, step by step. */
static INLINE void columns_leave(const weft__step *step, char *from_base, size_t row, size_t last,
                                 const landing *to)
{
    char *to_base = to->base;
    size_t to_row = to->row;
    const char *value = to->value;
    for (; step->kind != WEFT__STEP_END; step++) {
        size_t bytes = step->bytes;
        char *target = to_base + step->to_offset + to_row * bytes;
        char *values = from_base + step->from_offset, *hole = values + row * bytes;
        if (step->kind == WEFT__STEP_ZERO && value != NULL)
            weft__value_copy(target, value, bytes);
        else if (step->kind == WEFT__STEP_ZERO)
            weft__value_zero(target, bytes);
        else if (step->kind == WEFT__STEP_MOVE)
            value_leave(target, hole, values + last * bytes, bytes);
        else if (row != last)
            weft__value_copy(hole, values + last * bytes, bytes);
    }
}

/* The slice that takes the row in: kept types get the newer version of both slices, new types the
 * world's. Not needed when all types of the slice are known to be as new as can be. */
static __attribute__((noinline)) void versions_leave(const weft_world *world,
                                                     const weft__plan *plan,
                                                     const weft__chunk *from, uint32_t from_slice,
                                                     weft__chunk *to, uint32_t slice)
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

/* Totals: one row less here, one more there. `to` has other rows; neither has shared values. */
static INLINE void totals_move(weft_world *world, weft__plan *plan, weft__chunk *from,
                               weft__chunk *to)
{
    WEFT_ASSERT(to->count != 0 && to->archetype->entity_count != 0);
    uint32_t version = world->front.version;
    weft__archetype *source = plan->from, *target = plan->to;
    world->front.structure_version++;
    plan->rows_moved++;
    to->count++;
    to->order_version = target->order_version = version;
    target->entity_count++;
    to->tuple->rows++;
    from->count--;
    from->order_version = source->order_version = version;
    source->entity_count--;
    from->tuple->rows--;
}

/* A chunk that became full, or has room again. */
static __attribute__((noinline)) void room_update(weft__chunk *from, weft__chunk *to)
{
    weft__chunk_room_update(to);
    weft__chunk_room_update(from);
}

/* A chunk that became empty. */
static __attribute__((noinline)) void chunk_end(weft_world *world, weft__chunk *chunk)
{
    const weft__archetype *archetype = chunk->archetype;
    uint32_t bit = archetype->number;
    if (archetype->entity_count == 0)
        world->archetypes.nonempty[bit / 64] ^= UINT64_C(1) << bit % 64;
    weft__chunk_release(world, chunk);
}

/* A row goes by a plain plan to the next row of `to`, which has rows and room. Its own slot is
 * written already. */
static INLINE void row_leave(weft_world *world, weft__plan *plan, weft__chunk *from, uint32_t row,
                             weft__chunk *to, const char *value)
{
    const weft__layout *from_layout = from->layout, *to_layout = to->layout;
    uint32_t last = from->count - 1, to_row = to->count;
    uint32_t from_slice = row >> from_layout->slice_shift;
    uint32_t last_slice = last >> from_layout->slice_shift;
    uint32_t to_slice = to_row >> to_layout->slice_shift;
    if (!weft__slice_is_stamped(to, to_slice, world->front.version))
        versions_leave(world, plan, from, from_slice, to, to_slice);
    if (from_slice != last_slice && !weft__slice_is_stamped(from, from_slice, world->front.version))
        weft__row_hole_versions(world, from, from_slice, last_slice);
    totals_move(world, plan, from, to);
    weft__chunk_soil(from);
    if (__builtin_expect(to_row + 1 == to->capacity || !from->has_room, 0)) room_update(from, to);
    if (__builtin_expect(row != last, 1))
        weft__directory_place(&world->directory, weft__chunk_entities(from)[last],
                              weft__location(from, row));
    char *from_base = from->base, *to_base = to->base;
    weft__value_copy8(to_base + to_row * sizeof(weft_entity),
                      from_base + row * sizeof(weft_entity));
    weft__value_copy8(from_base + row * sizeof(weft_entity),
                      from_base + last * sizeof(weft_entity));
    columns_leave(plan->steps, from_base, row, last, &(landing){to_base, to_row, value});
    if (__builtin_expect(last == 0, 0)) chunk_end(world, from);
}

/* The component of a change_key. */
static inline weft_component component_of(uint64_t key)
{
    return (weft_component){(uint32_t)(key >> 1), (uint32_t)(key >> 33)};
}

/* Bytes of the value that a plan of one component adds; 0: none, or more than one. */
static uint32_t added_bytes(const weft__plan *plan)
{
    return plan->added_count != 1 ? 0 : plan->to->format->types[plan->added[0]]->value_bytes;
}

/* The last lean way is the quick one; another plain way takes its place. False: there is none. */
static __attribute__((noinline)) bool quick_find(weft_world *world, const weft__chunk *from,
                                                 uint64_t key)
{
    if (key >> 33 != world->front.number) return false;
    weft__plan *plan =
        weft__archetype_edge_find(from->archetype, (uint32_t)(key >> 1), (key & 1) != 0);
    if (plan == NULL || !plan->is_plain) return false;
    weft__chunk *to = plan->to->tuple0->room;
    if (to == NULL) return false;
    if (plan->from_layout != from->layout || plan->to_layout != to->layout)
        steps_place(plan, from->layout, to->layout);
    world->quick = (weft__quick){from, key, plan, plan->to->tuple0, to, added_bytes(plan)};
    return true;
}

/* The quick way also leads from other chunks of the same layout. */
static INLINE bool quick_leads_from(weft__quick *quick, const weft__chunk *from)
{
    if (__builtin_expect(quick->from == from, 1)) return true;
    if (quick->from == NULL || quick->plan->from != from->archetype ||
        quick->plan->from_layout != from->layout)
        return false;
    quick->from = from;
    return true;
}

/* The whole change; false: it is none for the lean way, and nothing was done. `value`: of the
 * component that is added, as long as the way says it is; NULL: zeroes. */
static INLINE bool change_leanly(weft_world *world, uint64_t entity, uint64_t key,
                                 const char *value, size_t bytes)
{
    if (__builtin_expect(world == NULL || world->front.busy != 0, 0)) return false;
    weft_a64 *x_slot = weft__directory_slot(&world->directory, (uint32_t)entity);
    if (__builtin_expect(x_slot == NULL, 0)) return false;
    uint64_t slot = at_load_rlx(x_slot); /* relaxed: idle */
    uint32_t location = (uint32_t)slot;
    if (__builtin_expect((slot ^ entity) >> 32 != 0 || location == 0, 0)) return false; /* stale */
    weft__chunk *from = world->berths.at[location >> WEFT__BERTH_SHIFT].chunk;
    weft__quick *quick = &world->quick;
    bool is_quick =
        quick->key == key && quick_leads_from(quick, from) && quick->tuple->room == quick->to;
    if (__builtin_expect(!is_quick, 0) && !quick_find(world, from, key)) return false;
    if (value != NULL && __builtin_expect(bytes != quick->bytes, 0)) return false;
    weft__chunk *to = quick->to;
    /* relaxed: idle */
    at_store_rlx(x_slot, slot - location + weft__location(to, to->count));
    row_leave(world, quick->plan, from, location - from->location, to, value);
    return true;
}

static __attribute__((noinline)) weft_result component_change(weft_world *world, uint64_t entity,
                                                              uint64_t key)
{
    if (__builtin_expect(change_leanly(world, entity, key, NULL, 0), 1)) return WEFT_OK;
    return change_generally(world, (weft_entity){(uint32_t)entity, (uint32_t)(entity >> 32)},
                            component_of(key), (key & 1) != 0);
}

bool weft__entity_add_value(weft_world *world, uint64_t entity, uint64_t key, const void *value,
                            size_t bytes)
{
    return change_leanly(world, entity, key, value, bytes);
}

/* Ids below all SPARSE types are told from them without a look at the type. */
static INLINE bool may_be_sparse(const weft_world *world, weft_component component)
{
    return world != NULL && component.id - 1 >= world->types.sparse_low - 1;
}

weft_result weft_entity_add(weft_world *world, weft_entity entity, weft_component component)
{
    if (__builtin_expect(may_be_sparse(world, component), 0)) {
        const weft__type *type = weft__type_sparse(world, component);
        if (type != NULL) return weft__sparse_entity_add(world, entity, type);
    }
    return component_change(world, weft__entity_bits(entity), weft__change_key(component));
}

weft_result weft_entity_remove(weft_world *world, weft_entity entity, weft_component component)
{
    if (__builtin_expect(may_be_sparse(world, component), 0)) {
        const weft__type *type = weft__type_sparse(world, component);
        if (type != NULL) return weft__sparse_entity_remove(world, entity, type);
    }
    return component_change(world, weft__entity_bits(entity), weft__change_key(component) | 1);
}

weft_result weft_entity_set_archetype(weft_world *world, weft_entity entity, weft_archetype handle)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_entity_set_archetype");
    if (result != WEFT_OK) return result;
    weft__archetype *to = weft__archetype_at(world, handle);
    if (to == NULL) return WEFT_BAD_HANDLE;
    uint32_t row;
    weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
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
    if (((from->flags & ~to->flags) & WEFT__IS_RESIDUE) != 0) { /* a residue stays one */
        to = weft__archetype_change(world, to, &world->builtin.residue.id, 1, NULL, 0);
        if (to == NULL) return world->error->code;
    }
    if ((from->flags & WEFT__HAS_LINKED_GROUP) != 0 &&
        ((from->flags ^ to->flags) & WEFT__IS_PREFAB) != 0)
        return weft__prefab_change(world, &entity, 1, &(weft__prefab_request){.to = to},
                                   "weft_entity_set_archetype");
    const weft__plan *plan = weft__plan_obtain(world, chunk->archetype, to);
    return plan == NULL ? world->error->code : row_follow(world, plan, chunk, row);
}
