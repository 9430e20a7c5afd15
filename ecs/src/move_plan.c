/* move_plan.c: plans between archetypes (which columns a move copies, adds and drops) and the
 * edges that find them by one component. A plan is one block with its lists. Owner only; plans
 * live as long as their source archetype. */
#include "bits.h"
#include "world_private.h"

/* Walks the two ascending type lists side by side; `visit` gets positions, WEFT__NONE when
 * absent. */
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
    return sizeof *plan + plan->copy_count * sizeof(weft__column_copy) +
           (plan->added_count + plan->dropped_count + 2 * plan->kept_count + plan->new_type_count) *
               sizeof(uint32_t);
}

static void plan_fill(weft__plan *plan)
{
    weft__column_copy *copies = (weft__column_copy *)(void *)(plan + 1);
    uint32_t *added = (uint32_t *)(void *)(copies + plan->copy_count);
    uint32_t *dropped = added + plan->added_count, *kept = dropped + plan->dropped_count;
    uint32_t *new_types = kept + 2 * (size_t)plan->kept_count;
    plan->copies = copies;
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
    plan->next = from->plans;
    from->plans = plan;
    return plan;
}

const weft__plan *weft__plan_obtain(weft_world *world, weft__archetype *from, weft__archetype *to)
{
    weft__plan **link = &from->plans;
    for (weft__plan *plan; (plan = *link) != NULL; link = &plan->next) {
        if (plan->to != to) continue;
        *link = plan->next; /* recently used ones stay in front */
        plan->next = from->plans;
        from->plans = plan;
        return plan;
    }
    return plan_make(world, from, to);
}

static weft__edge *edge_slot(const weft__archetype *archetype, uint32_t key)
{
    uint32_t mask = archetype->edge_capacity - 1, i = key & mask;
    while (archetype->edges[i].key != 0 && archetype->edges[i].key != key) i = (i + 1) & mask;
    return &archetype->edges[i];
}

static bool edges_grow(weft_world *world, weft__archetype *archetype)
{
    uint32_t old_capacity = archetype->edge_capacity;
    if (2 * (archetype->edge_count + 1) <= old_capacity) return true;
    uint32_t grown = old_capacity == 0 ? 4 : 2 * old_capacity;
    weft__edge *old = archetype->edges;
    weft__edge *edges =
        weft__alloc_zeroed(&world->memory, WEFT__MEMORY_METADATA, grown, sizeof *edges, 8);
    if (edges == NULL) return false;
    archetype->edges = edges;
    archetype->edge_capacity = grown;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].key != 0) *edge_slot(archetype, old[i].key) = old[i];
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
    uint32_t key = component << 1 | (is_remove ? 1u : 0u);
    *edge_slot(archetype, key) = (weft__edge){.key = key, .plan = (weft__plan *)(uintptr_t)plan};
    archetype->edge_count++;
    return plan;
}

void weft__plans_fini(weft_world *world, weft__archetype *archetype)
{
    for (weft__plan *plan = archetype->plans, *next; plan != NULL; plan = next) {
        next = plan->next;
        weft__free(&world->memory, WEFT__MEMORY_METADATA, plan, 1, plan_bytes(plan),
                   _Alignof(weft__plan));
    }
    weft__free(&world->memory, WEFT__MEMORY_METADATA, archetype->edges, archetype->edge_capacity,
               sizeof *archetype->edges, 8);
}
