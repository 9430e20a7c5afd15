/* SPDX-License-Identifier: MIT */
/* move_plan.c: plans between archetypes (which columns a move copies, adds and drops) and the
 * edges that find them by one component. A plan is one block with its lists. Owner only; plans
 * live as long as their source archetype. */
#include "move_plan.h"
#include "archetype.h"
#include "bits.h"
#include "error.h"
#include "format.h"
#include "world_state.h"

#define PLANS_PER_BUCKET 8 /* a table is made when an archetype has more plans */

/* Walks the two ascending type lists side by side; walk_next gives positions, WEFT__NONE when
 * absent. Lives on the stack. Always: i <= from->type_count; k <= to->type_count. */
typedef struct walk {
    const weft__archetype *from;
    const weft__archetype *to;
    uint32_t i;
    uint32_t k;
} walk;

static bool walk_next(walk *w, uint32_t *from, uint32_t *to)
{
    bool has_from = w->i < w->from->type_count, has_to = w->k < w->to->type_count;
    if (!has_from && !has_to) return false;
    uint32_t a = has_from ? w->from->types[w->i].component : UINT32_MAX;
    uint32_t b = has_to ? w->to->types[w->k].component : UINT32_MAX;
    *from = a <= b ? w->i++ : WEFT__NONE;
    *to = b <= a ? w->k++ : WEFT__NONE;
    return true;
}

static void plan_count(weft__plan *plan)
{
    uint32_t from, to;
    for (walk w = {plan->from, plan->to, 0, 0}; walk_next(&w, &from, &to);) {
        bool has_from_column = from != WEFT__NONE && plan->from->types[from].column != 0;
        bool has_to_column = to != WEFT__NONE && plan->to->types[to].column != 0;
        plan->kept_count += from != WEFT__NONE && to != WEFT__NONE ? 1 : 0;
        plan->new_type_count += from == WEFT__NONE ? 1 : 0;
        plan->copy_count += has_from_column && has_to_column ? 1 : 0;
        if (has_from_column && has_to_column)
            plan->copy_bytes += plan->from->types[from].type->value_bytes;
        plan->added_count += !has_from_column && has_to_column ? 1 : 0;
        plan->dropped_count += has_from_column && !has_to_column ? 1 : 0;
    }
}

static size_t plan_bytes(const weft__plan *plan)
{
    uint32_t step_count = plan->copy_count + plan->added_count + plan->dropped_count + 1;
    return sizeof *plan + plan->copy_count * sizeof(weft__column_copy) +
           step_count * sizeof(weft__step) +
           (plan->added_count + plan->dropped_count + 2 * plan->kept_count + plan->new_type_count) *
               sizeof(uint32_t);
}

static void plan_fill(weft__plan *plan)
{
    weft__column_copy *copies = (weft__column_copy *)(void *)(plan + 1);
    weft__step *steps = (weft__step *)(void *)(copies + plan->copy_count);
    uint32_t step_count = plan->copy_count + plan->added_count + plan->dropped_count + 1;
    uint32_t *added = (uint32_t *)(void *)(steps + step_count);
    uint32_t *dropped = added + plan->added_count, *kept = dropped + plan->dropped_count;
    uint32_t *new_types = kept + 2 * (size_t)plan->kept_count;
    plan->copies = copies;
    plan->steps = steps;
    plan->added = added;
    plan->dropped = dropped;
    plan->kept = kept;
    plan->new_types = new_types;
    uint32_t from, to;
    for (walk w = {plan->from, plan->to, 0, 0}; walk_next(&w, &from, &to);) {
        uint32_t a = from == WEFT__NONE ? 0 : plan->from->types[from].column;
        uint32_t b = to == WEFT__NONE ? 0 : plan->to->types[to].column;
        if (from != WEFT__NONE && to != WEFT__NONE) *kept++ = from, *kept++ = to;
        if (from == WEFT__NONE) *new_types++ = to;
        if (a != 0 && b != 0)
            *copies++ = (weft__column_copy){
                .from = a, .to = b, .bytes = plan->from->types[from].type->value_bytes};
        else if (a != 0)
            *dropped++ = a;
        else if (b != 0)
            *added++ = b;
    }
}

/* The copies whose values have 8 to 16 bytes, or the others. */
static weft__step *copies_put(const weft__plan *plan, weft__step *step, bool is_of_words)
{
    for (uint32_t i = 0; i < plan->copy_count; i++) {
        const weft__column_copy *copy = &plan->copies[i];
        if ((copy->bytes - 8 <= 8) == is_of_words)
            *step++ = (weft__step){
                .kind = WEFT__STEP_MOVE, .bytes = copy->bytes, .from = copy->from, .to = copy->to};
    }
    return step;
}

/* After plan_fill: the steps of a plain move. */
static void plan_steps(weft__plan *plan)
{
    const weft__type *const *from = plan->from->format->types, *const *to = plan->to->format->types;
    plan->from_shift = (uint8_t)plan->from->format->slice_shift;
    plan->to_shift = (uint8_t)plan->to->format->slice_shift;
    weft__step *step = copies_put(plan, plan->steps, true);
    plan->word_count = (uint32_t)(step - plan->steps);
    step = copies_put(plan, step, false);
    for (uint32_t i = 0; i < plan->added_count; i++)
        *step++ = (weft__step){.kind = WEFT__STEP_ZERO,
                               .bytes = to[plan->added[i]]->value_bytes,
                               .to = plan->added[i]};
    for (uint32_t i = 0; i < plan->dropped_count; i++)
        *step++ = (weft__step){.kind = WEFT__STEP_DROP,
                               .bytes = from[plan->dropped[i]]->value_bytes,
                               .from = plan->dropped[i]};
    *step = (weft__step){.kind = WEFT__STEP_END};
}

/* After plan_fill. */
static bool plan_is_plain(const weft__plan *plan)
{
    const weft__archetype *from = plan->from, *to = plan->to;
    uint32_t special =
        from->shared_count | to->shared_count | (to->flags & (uint32_t)WEFT__IS_RESIDUE);
    bool is_followed = (from->flags & WEFT__HAS_LINKED_GROUP) != 0 &&
                       ((from->flags ^ to->flags) & WEFT__IS_PREFAB) != 0; /* prefab.c */
    if (special != 0 || from == to || is_followed) return false;
    for (uint32_t i = 0; i < plan->added_count; i++)
        if (to->format->types[plan->added[i]]->needs_construct) return false;
    for (uint32_t i = 0; i < plan->dropped_count; i++)
        if (from->format->types[plan->dropped[i]]->needs_destruct) return false;
    return true;
}

static weft__plan *plan_make(weft_world *world, weft__archetype *from, weft__archetype *to)
{
    weft__plan counted = {.from = from, .to = to, .is_in_place = from->format == to->format};
    plan_count(&counted);
    weft__plan *plan = weft__alloc(&world->memory, WEFT__MEMORY_METADATA, 1, plan_bytes(&counted),
                                   _Alignof(weft__plan));
    if (plan == NULL) {
        weft__error_memory(world, "move between archetypes");
        return NULL;
    }
    *plan = counted;
    plan_fill(plan);
    plan_steps(plan);
    plan->is_plain = plan_is_plain(plan);
    return plan;
}

/* 0: no table yet, `plans` is the bucket in the archetype. */
static uint32_t bucket_count(const weft__archetype *archetype)
{
    return archetype->plans == &archetype->first_plans ? 0 : archetype->plan_mask + 1;
}

static weft__plan **bucket_of(const weft__archetype *from, const weft__archetype *to)
{
    return &from->plans[to->id & from->plan_mask];
}

/* Chains stay short. Without memory for it they get longer, which is no failure. */
static void buckets_grow(weft_world *world, weft__archetype *from)
{
    uint32_t old_count = from->plan_mask + 1, grown = 4 * old_count;
    if (from->plan_count < PLANS_PER_BUCKET * old_count) return;
    weft__plan **old = from->plans,
               **plans = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_METADATA, grown,
                                            sizeof *plans, _Alignof(weft__plan *));
    if (plans == NULL) return;
    uint32_t allocated = bucket_count(from);
    from->plans = plans;
    from->plan_mask = grown - 1;
    for (uint32_t i = 0; i < old_count; i++)
        for (weft__plan *plan = old[i], *next; plan != NULL; plan = next) {
            next = plan->next;
            plan->next = *bucket_of(from, plan->to);
            *bucket_of(from, plan->to) = plan;
        }
    weft__free(&world->memory, WEFT__MEMORY_METADATA, allocated == 0 ? NULL : old, allocated,
               sizeof *plans, _Alignof(weft__plan *));
}

const weft__plan *weft__plan_obtain(weft_world *world, weft__archetype *from, weft__archetype *to)
{
    weft__plan **head = bucket_of(from, to), **link = head, *plan;
    while ((plan = *link) != NULL && plan->to != to) link = &plan->next;
    if (plan == NULL) {
        plan = plan_make(world, from, to);
        if (plan == NULL) return NULL;
        buckets_grow(world, from);
        from->plan_count++;
        head = bucket_of(from, to);
    } else {
        *link = plan->next; /* recently used ones stay in front */
    }
    plan->next = *head;
    *head = plan;
    return plan;
}

/* 0: no table yet, `edges` is the free edge in the archetype. */
static uint32_t edge_capacity(const weft__archetype *archetype)
{
    return archetype->edges == &weft__no_edge ? 0 : archetype->edge_mask + 1;
}

static weft__edge *edge_slot(const weft__archetype *archetype, uint64_t key)
{
    uint32_t mask = archetype->edge_mask, i = (uint32_t)key & mask;
    while (archetype->edges[i].key != 0 && archetype->edges[i].key != key) i = (i + 1) & mask;
    return &archetype->edges[i];
}

static bool edges_grow(weft_world *world, weft__archetype *archetype)
{
    uint32_t old_capacity = edge_capacity(archetype);
    if (2 * (archetype->edge_count + 1) <= old_capacity) return true;
    uint32_t grown = old_capacity == 0 ? 4 : 2 * old_capacity;
    weft__edge *old = archetype->edges;
    weft__edge *edges =
        weft__alloc_zeroed(&world->memory, WEFT__MEMORY_METADATA, grown, sizeof *edges, 8);
    if (edges == NULL) return false;
    archetype->edges = edges;
    archetype->edge_mask = grown - 1;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].key != 0) *edge_slot(archetype, old[i].key) = old[i];
    if (old_capacity != 0)
        weft__free(&world->memory, WEFT__MEMORY_METADATA, old, old_capacity, sizeof *edges, 8);
    return true;
}

const weft__plan *weft__archetype_edge_make(weft_world *world, weft__archetype *archetype,
                                            uint32_t component, bool is_remove)
{
    if (!edges_grow(world, archetype)) {
        weft__error_memory(world, "move between archetypes");
        return NULL;
    }
    weft__archetype *to = is_remove
                              ? weft__archetype_change(world, archetype, NULL, 0, &component, 1)
                              : weft__archetype_change(world, archetype, &component, 1, NULL, 0);
    if (to == NULL) return NULL;
    const weft__plan *plan = weft__plan_obtain(world, archetype, to);
    if (plan == NULL) return NULL;
    uint64_t key = (uint64_t)component << 1 | (is_remove ? 1 : 0);
    *edge_slot(archetype, key) = (weft__edge){.key = key, .plan = (weft__plan *)(uintptr_t)plan};
    archetype->edge_count++;
    return plan;
}

void weft__plans_forget(weft_world *world, weft__archetype *from)
{
    for (uint32_t i = 0; i <= from->plan_mask; i++)
        for (weft__plan **link = &from->plans[i], *plan; (plan = *link) != NULL;) {
            if (from->id != 0 && plan->to->id != 0) { /* in this order: `to` may be freed */
                link = &plan->next;
                continue;
            }
            *link = plan->next;
            from->plan_count--;
            at_add_rlx(&world->moved.x_rows, plan->rows_moved); /* relaxed, both: statistics */
            at_add_rlx(&world->moved.x_bytes, plan->rows_moved * plan->copy_bytes);
            weft__free(&world->memory, WEFT__MEMORY_METADATA, plan, 1, plan_bytes(plan),
                       _Alignof(weft__plan));
        }
}

void weft__plans_fini(weft_world *world, weft__archetype *archetype)
{
    for (uint32_t i = 0; i <= archetype->plan_mask; i++)
        for (weft__plan *plan = archetype->plans[i], *next; plan != NULL; plan = next) {
            next = plan->next;
            weft__free(&world->memory, WEFT__MEMORY_METADATA, plan, 1, plan_bytes(plan),
                       _Alignof(weft__plan));
        }
    uint32_t buckets = bucket_count(archetype);
    weft__free(&world->memory, WEFT__MEMORY_METADATA, buckets == 0 ? NULL : archetype->plans,
               buckets, sizeof *archetype->plans, _Alignof(weft__plan *));
    if (edge_capacity(archetype) != 0)
        weft__free(&world->memory, WEFT__MEMORY_METADATA, archetype->edges,
                   edge_capacity(archetype), sizeof *archetype->edges, 8);
}
