/* SPDX-License-Identifier: MIT */
/* archetype.c: the registry of archetypes: from a set of component ids to its archetype, made on
 * first use together with everything that is derived from the set, and freed with the world, or by
 * compaction. An archetype is one block: struct, type references, look-up slots, shared components.
 *
 * Its number is its place in the order, which is that of iteration, of layouts and of playback:
 * that in which archetypes were made, unless a snapshot or a file says otherwise; its id, which
 * handles hold, never changes. One that the restored state does not know, or that compaction found
 * without rows, leaves the order, and stays while something knows it. It comes back, last, when its
 * set is asked for again or its first chunk is made: as if it were made then, so that a future does
 * not depend on those that were taken back. Every way that is kept to an archetype outside the
 * order is forgotten, so that it is asked for. Owner only. */
#include "archetype.h"
#include "sparse.h"
#include "world_view.h"

/* ---- the archetypes of each component ---- */

/* Archetypes enter in the order of their numbers, so lists grow at their ends and stay ascending.
 * Room is made before an archetype enters; entering cannot fail. */

#define CATEGORY WEFT__MEMORY_QUERIES

static uint16_t narrow(uint32_t position)
{
    return position < WEFT__NO_PLACE ? (uint16_t)position : WEFT__NO_PLACE;
}

static weft__place place_of(const weft__archetype *archetype, uint32_t type)
{
    const weft__type_ref *ref = &archetype->types[type];
    return (weft__place){
        .type = narrow(type),
        .column = ref->column == 0 ? WEFT__NO_PLACE : ref->column,
        .enableable = ref->enableable,
        .shared = ref->shared,
    };
}

weft__place weft__place_find(const weft__archetype *archetype, uint32_t component)
{
    uint32_t type = weft__archetype_find(archetype, component);
    return type == WEFT__NONE ? weft__place_none() : place_of(archetype, type);
}

const weft__component_list *weft__component_list_at(const weft_world *world, uint32_t component)
{
    static const weft__component_list empty = {0};
    const weft__component_index *index = &world->component_index;
    return component < index->count ? &index->at[component] : &empty;
}

static bool list_reserve(weft_world *world, uint32_t component)
{
    weft__component_index *index = &world->component_index;
    return WEFT__LIST_REACH(&world->memory, CATEGORY, index, component + 1) &&
           WEFT__LIST_ROOM(&world->memory, CATEGORY, &index->at[component],
                           index->at[component].count + 1);
}

/* Room for one more archetype in the lists of its components. False: no memory; nothing changed
 * that can be seen. */
static bool component_index_reserve(weft_world *world, const weft__archetype *archetype)
{
    for (uint32_t type = 0; type < archetype->type_count; type++)
        if (!list_reserve(world, archetype->types[type].component)) return false;
    return true;
}

/* Enters an archetype, whose number is the highest, into the lists; they have room. */
static void component_index_enter(weft_world *world, const weft__archetype *archetype)
{
    for (uint32_t type = 0; type < archetype->type_count; type++) {
        weft__component_list *list = &world->component_index.at[archetype->types[type].component];
        WEFT_ASSERT(list->count < list->capacity);
        WEFT_ASSERT(list->count == 0 || list->at[list->count - 1].archetype < archetype->number);
        list->at[list->count++] =
            (weft__index_entry){.archetype = archetype->number, .place = place_of(archetype, type)};
    }
}

/* Takes the archetypes from number `count` on out again; lists keep their capacity, so entering as
 * many of the same cannot fail. Cost: O(component types + entries). */
static void component_index_cut(weft_world *world, uint32_t count)
{
    for (uint32_t id = 0; id < world->component_index.count; id++) {
        weft__component_list *list = &world->component_index.at[id];
        while (list->count != 0 && list->at[list->count - 1].archetype >= count) list->count--;
    }
}

static bool list_check(const weft_world *world, uint32_t component, uint64_t *entries)
{
    const weft__component_list *list = &world->component_index.at[component];
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t number = list->at[i].archetype;
        if (number >= world->archetypes.count) return false;
        if (i != 0 && list->at[i - 1].archetype >= number) return false;
        weft__place place = weft__place_find(world->archetypes.at[number], component);
        if (place.type == WEFT__NO_PLACE || memcmp(&place, &list->at[i].place, sizeof place) != 0)
            return false;
    }
    *entries += list->count;
    return list->count <= list->capacity;
}

bool weft__component_index_check(const weft_world *world)
{
    uint64_t entries = 0, types = 0;
    for (uint32_t component = 0; component < world->component_index.count; component++)
        if (!list_check(world, component, &entries)) return false;
    for (uint32_t i = 0; i < world->archetypes.count; i++)
        types += world->archetypes.at[i]->type_count;
    return entries == types;
}

#define TRIM_FROM 64u /* archetypes without rows: queries pass over fewer without any cost */

static bool list_grow(weft_world *world)
{
    weft__archetype_table *table = &world->archetypes;
    return WEFT__LIST_ROOM(&world->memory, WEFT__MEMORY_METADATA, table, table->count + 1) &&
           WEFT__LIST_REACH(&world->memory, WEFT__MEMORY_METADATA, &table->nonempty,
                            table->count / 64 + 1);
}

weft_result weft__archetype_enter(weft_world *world, weft__archetype *archetype)
{
    if (archetype->number != WEFT__NONE) return WEFT_OK;
    const weft__matching *matching = &world->matching;
    world->front.structure_version++; /* before: what is reserved may move, and then fail */
    if (!list_grow(world) || !component_index_reserve(world, archetype) ||
        !matching->reserve(world, archetype))
        return weft__error_memory(world, "archetype");
    uint32_t number = world->archetypes.count++;
    archetype->number = number;
    world->archetypes.at[number] = archetype;
    if (archetype->entity_count != 0)
        world->archetypes.nonempty.at[number / 64] |= UINT64_C(1) << number % 64;
    component_index_enter(world, archetype);
    matching->enter(world, archetype);
    return WEFT_OK;
}

/* ---- another order ---- */

/* Edges and derived archetypes that lead out of the order. */
static void ways_forget(weft__archetype *archetype)
{
    bool is_stale = false;
    for (uint32_t i = 0; i <= archetype->edge_mask && !is_stale; i++)
        is_stale =
            archetype->edges[i].key != 0 && archetype->edges[i].plan->to->number == WEFT__NONE;
    if (is_stale) {
        memset(archetype->edges, 0, (archetype->edge_mask + (size_t)1) * sizeof(weft__edge));
        archetype->edge_count = 0;
    }
    if (archetype->residue != NULL && archetype->residue->number == WEFT__NONE)
        archetype->residue = NULL;
    if (archetype->instance != NULL && archetype->instance->number == WEFT__NONE)
        archetype->instance = NULL;
}

/* Takes the archetypes from a number on out of the order. */
static void cut(weft_world *world, uint32_t count)
{
    for (uint32_t i = count; i < world->archetypes.count; i++) {
        world->archetypes.at[i]->number = WEFT__NONE;
        world->archetypes.nonempty.at[i / 64] &= ~(UINT64_C(1) << i % 64);
    }
    world->archetypes.count = count;
    component_index_cut(world, count);
    world->matching.cut(world, count);
}

weft_result weft__archetypes_arrange(weft_world *world, const weft__archetype_list *list)
{
    uint32_t same = 0;
    weft_result result = WEFT_OK;
    while (same < list->count && same < world->archetypes.count &&
           world->archetypes.at[same] == list->items[same])
        same++;
    if (same == list->count && same == world->archetypes.count) return WEFT_OK;
    cut(world, same);
    for (uint32_t i = same; i < list->count && result == WEFT_OK; i++)
        result = weft__archetype_enter(world, list->items[i]);
    world->quick.from = NULL;
    for (uint32_t i = 0; i < world->archetypes.id_count; i++)
        if (world->archetypes.by_id[i] != NULL) ways_forget(world->archetypes.by_id[i]);
    world->archetypes.order_version++;
    world->front.structure_version++;
    return result;
}

weft_result weft__archetypes_note(weft_world *world, weft__archetype_list *out)
{
    uint32_t count = world->archetypes.count;
    *out = (weft__archetype_list){0};
    out->items = WEFT__NEW(&world->memory, WEFT__MEMORY_METADATA, (size_t)count + 1, out->items[0]);
    if (out->items == NULL) return weft__error_memory(world, "the order of archetypes");
    out->count = count;
    if (count != 0) memcpy(out->items, world->archetypes.at, count * sizeof out->items[0]);
    for (uint32_t i = 0; i < count; i++) out->items[i]->holders++;
    return WEFT_OK;
}

static bool is_empty(const weft__archetype *archetype)
{
    return archetype->entity_count == 0 && archetype->chunk_count == 0 &&
           (archetype->flags & WEFT__IS_SPARSE) == 0;
}

/* Where most archetypes have no rows, and not few: takes these out of the order. False: nothing
 * was done (too few, or no memory). */
static bool archetypes_leave(weft_world *world)
{
    uint32_t count = world->archetypes.count, kept = 0;
    weft__archetype_list list;
    for (uint32_t i = 0; i < count; i++) kept += is_empty(world->archetypes.at[i]) ? 0 : 1;
    if (count - kept < TRIM_FROM || count - kept < count / 2) return false;
    if (weft__archetypes_note(world, &list) != WEFT_OK) return false;
    for (uint32_t i = 0, a = 0, b = kept; i < count; i++) {
        weft__archetype *archetype = world->archetypes.at[i];
        list.items[is_empty(archetype) ? b++ : a++] = archetype;
    }
    list.count = kept;
    weft_result result = weft__archetypes_arrange(world, &list);
    WEFT_ASSERT(result == WEFT_OK); /* they have been there */
    (void)result;
    list.count = count;
    weft__archetype_list_free(world, &list);
    return true;
}

void weft__archetype_list_free(weft_world *world, weft__archetype_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) list->items[i]->holders--;
    if (list->items != NULL)
        WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, list->items, (size_t)list->count + 1);
    *list = (weft__archetype_list){0};
}

uint32_t *weft__ids_alloc(const weft_world *world, uint32_t count, const char *what)
{
    weft__memory *memory = (weft__memory *)(uintptr_t)&world->memory;
    uint32_t *list = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_OTHER, count, *list);
    if (list == NULL) weft__error_memory(world, what);
    return list;
}

void weft__ids_free(const weft_world *world, uint32_t *list, uint32_t count)
{
    weft__memory *memory = (weft__memory *)(uintptr_t)&world->memory;
    WEFT__FREE(memory, WEFT__MEMORY_OTHER, list, count);
}

/* ---- tuples of shared values ---- */

/* Every archetype has tuple0 (all default); archetypes with shared components keep the others in a
 * list. A tuple holds one reference on each of its values as long as it exists. */

static size_t tuple_bytes(uint32_t shared_count)
{
    return bits_align_up(sizeof(weft__tuple) + shared_count * sizeof(uint32_t), 8);
}

static uint32_t tuple_hash(const weft__archetype *archetype, const uint32_t *values)
{
    uint32_t count = archetype->shared_count;
    return (uint32_t)hash_bytes(count, values, count * sizeof *values);
}

/* In zeroed memory. */
static void tuple_init(weft_world *world, weft__tuple *tuple, weft__archetype *archetype,
                       const uint32_t *values)
{
    uint32_t count = archetype->shared_count;
    tuple->archetype = archetype;
    if (values != NULL && count != 0) memcpy(tuple->values, values, count * sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        weft__shared_acquire(&world->shared, archetype->shared_components[i], tuple->values[i], 1);
}

static weft__tuple *tuple_make(weft_world *world, weft__archetype *archetype,
                               const uint32_t *values)
{
    size_t bytes = tuple_bytes(archetype->shared_count);
    weft__tuple *tuple =
        weft__alloc_zeroed(&world->memory, WEFT__MEMORY_METADATA, 1, bytes, _Alignof(weft__tuple));
    if (tuple != NULL) tuple_init(world, tuple, archetype, values);
    return tuple;
}

static void tuple_end(weft_world *world, weft__tuple *tuple)
{
    weft__archetype *archetype = tuple->archetype;
    for (uint32_t i = 0; i < archetype->shared_count; i++)
        weft__shared_release(&world->shared, archetype->shared_components[i], tuple->values[i], 1);
    if (tuple == archetype->tuple0) return; /* in the block of the archetype */
    weft__free(&world->memory, WEFT__MEMORY_METADATA, tuple, 1,
               tuple_bytes(archetype->shared_count), _Alignof(weft__tuple));
}

/* There is room. */
static void tuple_enter(weft__tuple *tuple, uint32_t place)
{
    weft__archetype *archetype = tuple->archetype;
    archetype->tuples.at[place] = tuple;
    tuple->place = place;
    weft__table_put(&archetype->tuple_places, tuple_hash(archetype, tuple->values), place + 1);
}

static void tuple_leave(weft__tuple *tuple)
{
    weft__archetype *archetype = tuple->archetype;
    weft__table_take(&archetype->tuple_places, tuple_hash(archetype, tuple->values),
                     tuple->place + 1);
}

static weft__tuple *tuple_find(const weft__archetype *archetype, const uint32_t *values)
{
    size_t bytes = archetype->shared_count * sizeof *values;
    if (memcmp(archetype->tuple0->values, values, bytes) == 0) return archetype->tuple0;
    uint32_t hash = tuple_hash(archetype, values), step = 0, number;
    while ((number = weft__table_next(&archetype->tuple_places, hash, &step)) != 0)
        if (memcmp(archetype->tuples.at[number - 1]->values, values, bytes) == 0)
            return archetype->tuples.at[number - 1];
    return NULL;
}

weft__tuple *weft__tuple_obtain(weft_world *world, weft__archetype *archetype,
                                const uint32_t *values)
{
    weft__tuple *tuple =
        archetype->shared_count == 0 ? archetype->tuple0 : tuple_find(archetype, values);
    if (tuple == NULL) {
        weft__memory *memory = &world->memory;
        uint32_t count = archetype->tuples.count + 1;
        if (WEFT__LIST_ROOM(memory, WEFT__MEMORY_METADATA, &archetype->tuples, count) &&
            weft__table_room(memory, WEFT__MEMORY_METADATA, &archetype->tuple_places, count))
            tuple = tuple_make(world, archetype, values);
        if (tuple == NULL) {
            weft__error_memory(world, "shared values");
            return NULL;
        }
        tuple_enter(tuple, archetype->tuples.count++);
    }
    tuple->holders++;
    return tuple;
}

weft__tuple *weft__tuple_follow(weft_world *world, const weft__tuple *from, weft__archetype *to)
{
    uint32_t count = to->shared_count;
    if (count == 0 || from->archetype->shared_count == 0) {
        to->tuple0->holders++;
        return to->tuple0;
    }
    uint32_t *values = weft__ids_alloc(world, count, "shared values");
    if (values == NULL) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = weft__archetype_find(from->archetype, to->shared_components[i]);
        if (type == WEFT__NONE) continue;
        values[i] = from->values[from->archetype->types[type].shared];
    }
    weft__tuple *tuple = weft__tuple_obtain(world, to, values);
    weft__ids_free(world, values, count);
    return tuple;
}

weft__tuple *weft__tuple_with_value(weft_world *world, const weft__tuple *from, weft__archetype *to,
                                    uint32_t component, uint32_t value)
{
    weft__tuple *base = weft__tuple_follow(world, from, to);
    uint32_t type = weft__archetype_find(to, component);
    uint32_t position = to->types[type].shared;
    if (base == NULL || base->values[position] == value) return base;
    uint32_t few[16], *values = few;
    if (to->shared_count > 16)
        values = WEFT__NEW(&world->memory, WEFT__MEMORY_OTHER, to->shared_count, *values);
    weft__tuple *tuple = NULL;
    if (values != NULL) {
        for (uint32_t i = 0; i < to->shared_count; i++) values[i] = base->values[i];
        values[position] = value;
        tuple = weft__tuple_obtain(world, to, values);
    } else {
        weft__error_memory(world, "a tuple of shared values");
    }
    if (values != few) WEFT__FREE(&world->memory, WEFT__MEMORY_OTHER, values, to->shared_count);
    weft__tuple_release(world, base);
    return tuple;
}

void weft__tuple_release(weft_world *world, weft__tuple *tuple)
{
    WEFT_ASSERT(tuple->holders != 0);
    if (--tuple->holders != 0) return;
    weft__archetype *archetype = tuple->archetype;
    weft__tuple *last = archetype->tuples.at[--archetype->tuples.count];
    tuple_leave(tuple);
    if (last != tuple) {
        tuple_leave(last);
        tuple_enter(last, tuple->place);
    }
    tuple_end(world, tuple);
}

/* ---- plans of moves ----
 *
 * Which columns a move copies, adds and drops, and the edges that find plans by one component. A
 * plan is one block with its lists. Owner only; plans live as long as their source archetype. */

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
                       ((from->flags ^ to->flags) & WEFT__IS_PREFAB) != 0; /* query_change.c */
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
               **plans = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_METADATA, grown, *plans);
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
    WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, old, allocated);
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
    weft__edge *edges = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_METADATA, grown, *edges);
    if (edges == NULL) return false;
    archetype->edges = edges;
    archetype->edge_mask = grown - 1;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].key != 0) *edge_slot(archetype, old[i].key) = old[i];
    WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, old, old_capacity);
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

static void plans_forget(weft_world *world, weft__archetype *from)
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

/* Ends the plans to archetypes that end, which have id 0, or all of one that ends itself. */
static void plans_fini(weft_world *world, weft__archetype *archetype)
{
    for (uint32_t i = 0; i <= archetype->plan_mask; i++)
        for (weft__plan *plan = archetype->plans[i], *next; plan != NULL; plan = next) {
            next = plan->next;
            weft__free(&world->memory, WEFT__MEMORY_METADATA, plan, 1, plan_bytes(plan),
                       _Alignof(weft__plan));
        }
    WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, archetype->plans, bucket_count(archetype));
    WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, archetype->edges, edge_capacity(archetype));
}

/* ---- the block of an archetype ---- */

/* Bytes of the CHUNK values of one chunk, so that the sizes of its side memory fit 32 bits. */
#define CHUNK_VALUES_MAX (UINT32_C(1) << 30)
#define FEW_TYPES 4

const weft__edge weft__no_edge;

/* Sizes of the parts of an archetype's block. A value. */
typedef struct census {
    uint32_t slot_count;
    uint32_t shared_count;
    uint32_t enableable_count;
    uint32_t column_count; /* with the entity column */
    uint32_t row_limit;
    uint64_t chunk_value_bytes;
    uint32_t flags;
} census;

static void census_type(const weft_world *world, census *c, const weft__type *type)
{
    c->shared_count += (type->desc.flags & WEFT_SHARED) != 0 ? 1 : 0;
    c->enableable_count += (type->desc.flags & WEFT_ENABLEABLE) != 0 ? 1 : 0;
    c->column_count += type->value_bytes != 0 ? 1 : 0;
    uint32_t limit = type->desc.chunk_row_limit;
    if (limit != 0 && limit < c->row_limit) c->row_limit = limit;
    if (type->chunk_bytes != 0)
        c->chunk_value_bytes = bits_align_up(c->chunk_value_bytes, 64) + type->chunk_bytes;
    if ((type->desc.flags & WEFT_CLEANUP) != 0) c->flags |= WEFT__HAS_CLEANUP;
    if (type->sparse != NULL) c->flags |= WEFT__IS_SPARSE;
    c->flags |= type->archetype_flags;
    if (type->needs_destruct) c->flags |= WEFT__NEEDS_DESTRUCT;
    if (type->needs_construct) c->flags |= WEFT__NEEDS_CONSTRUCT;
    if (type->entity_offset_count != 0) c->flags |= WEFT__HAS_ENTITY_FIELDS;
    if (type->id == world->builtin.residue.id) c->flags |= WEFT__IS_RESIDUE;
    if (type->id == world->builtin.prefab.id) c->flags |= WEFT__IS_PREFAB;
    if (type->id == world->builtin.inactive.id) c->flags |= WEFT__IS_DISABLED;
    if (type->id == world->builtin.linked_group.id) c->flags |= WEFT__HAS_LINKED_GROUP;
    uint32_t special = WEFT__HAS_CLEANUP | WEFT__IS_RESIDUE | WEFT__HAS_LINKED_GROUP |
                       WEFT__NEEDS_CONSTRUCT | WEFT__NEEDS_DESTRUCT;
    if ((type->desc.flags & WEFT_ENABLEABLE) != 0) c->flags |= WEFT__HAS_BITS;
    if ((c->flags & special) != 0 || (type->desc.flags & WEFT_SHARED) != 0)
        c->flags |= WEFT__IS_SPECIAL;
}

static census census_take(const weft_world *world, const uint32_t *components, uint32_t count)
{
    census c = {.row_limit = UINT32_MAX, .column_count = 1};
    for (uint32_t i = 0; i < count; i++) census_type(world, &c, world->types.at[components[i]]);
    /* few types are looked up the most, often in vain: more than half of their slots stay free */
    c.slot_count =
        (uint32_t)bits_round_up_power_of_two((uint64_t)count * 2 + (count < FEW_TYPES ? 1 : 0));
    return c;
}

static size_t block_bytes(uint32_t type_count, uint32_t slot_count, uint32_t shared_count)
{
    return offsetof(weft__archetype, types) + type_count * sizeof(weft__type_ref) +
           slot_count * sizeof(weft__type_slot) + tuple_bytes(shared_count) +
           shared_count * sizeof(uint32_t);
}

/* One type's positions; `columns` gets the sized ones. */
static void type_enter(weft__archetype *archetype, weft__type_ref *ref, const weft__type *type,
                       uint32_t *column_count, const weft__type **columns)
{
    *ref = (weft__type_ref){.type = type,
                            .component = type->id,
                            .enableable = WEFT__NO_PLACE,
                            .shared = WEFT__NO_PLACE,
                            .chunk_offset = WEFT__NONE};
    if (type->value_bytes != 0) {
        columns[*column_count] = type;
        ref->column = (uint16_t)(*column_count)++;
    }
    if ((type->desc.flags & WEFT_ENABLEABLE) != 0)
        ref->enableable = (uint16_t)archetype->enableable_count++;
    if ((type->desc.flags & WEFT_SHARED) != 0) {
        ((uint32_t *)(uintptr_t)archetype->shared_components)[archetype->shared_count] = type->id;
        ref->shared = (uint16_t)archetype->shared_count++;
    }
    if (type->chunk_bytes == 0) return;
    ref->chunk_offset = (uint32_t)bits_align_up(archetype->chunk_value_bytes, 64);
    archetype->chunk_value_bytes = ref->chunk_offset + type->chunk_bytes;
}

static void slot_enter(weft__type_slot *slots, uint32_t mask, uint32_t position,
                       const weft__type_ref *ref)
{
    uint32_t i = ref->component & mask;
    while (slots[i].component != 0) i = (i + 1) & mask;
    slots[i] = (weft__type_slot){
        .component = ref->component, .type = (uint16_t)position, .column = ref->column};
}

static weft__archetype *archetype_make(weft_world *world, const uint32_t *components,
                                       uint32_t count, const weft__type **columns)
{
    census c = census_take(world, components, count);
    if (c.chunk_value_bytes > CHUNK_VALUES_MAX) {
        weft__error(
            world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
            "the CHUNK components of an archetype take %llu bytes, at most %u are possible: "
            "use fewer or smaller ones",
            (unsigned long long)c.chunk_value_bytes, CHUNK_VALUES_MAX);
        return NULL;
    }
    size_t bytes = block_bytes(count, c.slot_count, c.shared_count);
    weft__archetype *archetype = weft__lines_take(&world->archetype_lines, &world->memory, bytes);
    if (archetype == NULL) {
        weft__error_memory(world, "archetype");
        return NULL;
    }
    memset(archetype, 0, bytes);
    archetype->slab = world->archetype_lines.slab;
    weft__type_ref *types = archetype->types;
    weft__type_slot *slots = (weft__type_slot *)(void *)(types + count);
    archetype->type_count = count;
    archetype->slots = slots;
    archetype->slot_mask = c.slot_count - 1;
    weft__tuple *tuple0 = (weft__tuple *)(void *)(slots + c.slot_count);
    archetype->shared_components =
        (uint32_t *)(void *)((char *)tuple0 + tuple_bytes(c.shared_count));
    archetype->flags = c.flags;
    archetype->chunks = &archetype->first_chunk;
    archetype->chunk_capacity = 1;
    archetype->edges = (weft__edge *)(uintptr_t)&weft__no_edge;
    archetype->plans = &archetype->first_plans;
    uint32_t column_count = 1;
    for (uint32_t i = 0; i < count; i++) {
        type_enter(archetype, &types[i], world->types.at[components[i]], &column_count, columns);
        slot_enter(slots, archetype->slot_mask, i, &types[i]);
    }
    archetype->format = weft__format_obtain(world, columns, column_count, c.row_limit);
    if (archetype->format != NULL) {
        /* Makes tuple0 of a new archetype in zeroed memory of its block. */
        tuple_init(world, tuple0, archetype, NULL);
        tuple0->holders = 1; /* lives as long as its archetype */
        archetype->tuple0 = tuple0;
        return archetype;
    }
    weft__lines_undo(&world->archetype_lines, bytes);
    return NULL;
}

/* All but its block. */
static void archetype_fini(weft_world *world, weft__archetype *archetype)
{
    plans_fini(world, archetype);
    for (uint32_t i = 0; i < archetype->tuples.count; i++)
        tuple_end(world, archetype->tuples.at[i]);
    if (archetype->tuple0 != NULL) tuple_end(world, archetype->tuple0);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_METADATA, &archetype->tuples);
    weft__table_free(&world->memory, WEFT__MEMORY_METADATA, &archetype->tuple_places);
    if (archetype->chunks != &archetype->first_chunk)
        WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, archetype->chunks,
                   archetype->chunk_capacity);
}

/* ---- registry ---- */

/* Ids are places here. Room for one more. */
static bool ids_grow(weft_world *world)
{
    weft__archetype_table *table = &world->archetypes;
    if (!weft__roll_reserve(&table->known, &world->memory, WEFT__MEMORY_METADATA,
                            table->id_count) ||
        !weft__table_room(&world->memory, WEFT__MEMORY_METADATA, &table->sets, table->id_count + 1))
        return false;
    table->by_id = at_plain(&table->known.x_list);
    return true;
}

static bool has_components(const weft__archetype *archetype, const uint32_t *components,
                           uint32_t count)
{
    if (archetype->type_count != count) return false;
    for (uint32_t i = 0; i < count; i++)
        if (archetype->types[i].component != components[i]) return false;
    return true;
}

static weft__archetype *archetype_find(const weft_world *world, uint64_t hash,
                                       const uint32_t *components, uint32_t count)
{
    const weft__archetype_table *table = &world->archetypes;
    uint32_t step = 0, id;
    while ((id = weft__table_next(&table->sets, (uint32_t)hash, &step)) != 0)
        if (has_components(table->by_id[id - 1], components, count)) return table->by_id[id - 1];
    return NULL;
}

/* The lowest id less one that no archetype has. */
static uint32_t id_free(const weft_world *world)
{
    uint32_t id = world->archetypes.free_from;
    if (world->archetypes.free_ids == 0) return world->archetypes.id_count;
    while (world->archetypes.by_id[id] != NULL) id++;
    return id;
}

static weft__archetype *archetype_add(weft_world *world, uint64_t hash, const uint32_t *components,
                                      uint32_t count)
{
    const weft__type **columns = WEFT__NEW(&world->memory, WEFT__MEMORY_OTHER, count + 1, *columns);
    if (columns == NULL || !ids_grow(world)) {
        WEFT__FREE(&world->memory, WEFT__MEMORY_OTHER, columns, count + 1);
        weft__error_memory(world, "archetype");
        return NULL;
    }
    columns[0] = NULL;
    weft__archetype *archetype = archetype_make(world, components, count, columns);
    WEFT__FREE(&world->memory, WEFT__MEMORY_OTHER, columns, count + 1);
    if (archetype == NULL) return NULL;
    archetype->hash = hash;
    archetype->id = id_free(world) + 1;
    archetype->number = WEFT__NONE;
    if (weft__archetype_enter(world, archetype) != WEFT_OK) {
        archetype_fini(world, archetype);
        weft__lines_undo(&world->archetype_lines,
                         block_bytes(count, archetype->slot_mask + 1, archetype->shared_count));
        return NULL;
    }
    weft__table_put(&world->archetypes.sets, (uint32_t)hash, archetype->id);
    if (archetype->id > world->archetypes.id_count) {
        world->archetypes.id_count++;
    } else {
        world->archetypes.free_ids--;
        world->archetypes.free_from = archetype->id;
    }
    world->archetypes.by_id[archetype->id - 1] = archetype;
    if ((archetype->flags & WEFT__IS_RESIDUE) != 0) world->archetypes.has_residues = true;
    if ((archetype->flags & WEFT__IS_SPARSE) != 0) {
        /* The type knows the archetype of its rows. */
        weft__sparse *sparse = archetype->types[0].type->sparse;
        sparse->archetype = archetype;
        sparse->slice_shift = archetype->format->slice_shift;
        sparse->is_special = (archetype->flags & WEFT__IS_SPECIAL) != 0;
        if (!sparse->is_special) sparse->tuple = archetype->tuple0;
    }
    weft__roll_publish(&world->archetypes.known, world->archetypes.id_count);
    return archetype;
}

weft__archetype *weft__archetype_obtain(weft_world *world, const uint32_t *components,
                                        uint32_t count)
{
    uint64_t hash = hash_bytes(HASH_K1, components, count * sizeof *components);
    weft__archetype *archetype = archetype_find(world, hash, components, count);
    if (archetype == NULL) return archetype_add(world, hash, components, count);
    return weft__archetype_enter(world, archetype) == WEFT_OK ? archetype : NULL;
}

weft__archetype *weft__archetype_at(const weft_world *world, weft_archetype handle)
{
    if (weft__archetype_is(world, handle)) return world->archetypes.by_id[handle.id - 1];
    weft__error(world, WEFT_BAD_HANDLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "archetype %u does not exist in world \"%s\": use a handle that "
                "weft_archetype_create of this world returned",
                handle.id, world->desc.name);
    return NULL;
}

weft__archetype *weft__archetype_given(const weft_world *world, weft_archetype handle)
{
    if (handle.id != 0 || world->error->code == WEFT_OK) return weft__archetype_at(world, handle);
    world->error->number++; /* a failure of its own */
    return NULL;
}

void weft__archetypes_fini(weft_world *world)
{
    for (uint32_t i = 0; i < world->archetypes.id_count; i++)
        if (world->archetypes.by_id[i] != NULL) archetype_fini(world, world->archetypes.by_id[i]);
    weft__table_free(&world->memory, WEFT__MEMORY_METADATA, &world->archetypes.sets);
    weft__roll_fini(&world->archetypes.known, &world->memory, WEFT__MEMORY_METADATA);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_METADATA, &world->archetypes);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_METADATA, &world->archetypes.nonempty);
    weft__component_index *index = &world->component_index;
    for (uint32_t id = 0; id < index->count; id++)
        WEFT__LIST_FREE(&world->memory, CATEGORY, &index->at[id]);
    WEFT__LIST_FREE(&world->memory, CATEGORY, index);
    weft__formats_fini(world);
}

/* ---- archetypes without rows ---- */

static bool is_needed(const weft__archetype *archetype)
{
    bool is_given = at_load_rlx(&archetype->x_is_given) != 0; /* relaxed: the world is idle */
    return archetype->number != WEFT__NONE || is_given || archetype->holders != 0 ||
           (archetype->flags & WEFT__IS_SPARSE) != 0 || /* its type knows it */
           archetype->chunk_count != 0 || archetype->entity_count != 0 ||
           archetype->tuple0->holders > 1 || archetype->tuples.count != 0;
}

/* Takes what is not needed out of the registry: a list by next_ending, with id 0. */
static weft__archetype *unneeded_take(weft_world *world)
{
    weft__archetype_table *table = &world->archetypes;
    weft__archetype *list = NULL;
    for (uint32_t i = 0; i < table->id_count; i++) {
        weft__archetype *archetype = table->by_id[i];
        if (archetype == NULL || is_needed(archetype)) continue;
        weft__table_take(&table->sets, (uint32_t)archetype->hash, archetype->id);
        archetype->next_ending = list;
        archetype->id = 0;
        table->by_id[i] = NULL;
        table->free_ids++;
        if (i < table->free_from) table->free_from = i;
        list = archetype;
    }
    return list;
}

void weft__archetypes_trim(weft_world *world)
{
    if (!archetypes_leave(world)) return;
    weft__archetype *list = unneeded_take(world), *next;
    for (uint32_t i = 0; i < world->archetypes.id_count && list != NULL; i++)
        if (world->archetypes.by_id[i] != NULL) plans_forget(world, world->archetypes.by_id[i]);
    for (; list != NULL; list = next) {
        next = list->next_ending;
        weft__line_slab *slab = list->slab;
        plans_forget(world, list); /* counts what they moved */
        archetype_fini(world, list);
        weft__lines_give(&world->archetype_lines, &world->memory, slab);
    }
}

/* ---- derived archetypes ---- */

/* A component that is new comes with what it requires, but for what is removed. */
static void list_add(const weft_world *world, uint32_t *list, uint32_t *count,
                     const uint32_t *remove, uint32_t remove_count, uint32_t component)
{
    const weft__type *type = world->types.at[component];
    uint32_t before = *count;
    if (weft__ids_have(remove, remove_count, component)) return;
    weft__ids_insert(list, count, component);
    for (uint32_t i = 0; i < type->required_count && *count != before; i++)
        if (!weft__ids_have(remove, remove_count, type->required[i]))
            weft__ids_insert(list, count, type->required[i]);
}

weft__archetype *weft__archetype_change(weft_world *world, weft__archetype *archetype,
                                        const uint32_t *add, uint32_t add_count,
                                        const uint32_t *remove, uint32_t remove_count)
{
    uint32_t present = archetype == NULL ? 0 : archetype->type_count;
    uint32_t capacity = present + add_count + 1, count = 0;
    for (uint32_t i = 0; i < add_count; i++) capacity += world->types.at[add[i]]->required_count;
    uint32_t *list = weft__ids_alloc(world, capacity, "archetype");
    if (list == NULL) return NULL;
    for (uint32_t i = 0; i < present; i++) {
        uint32_t component = archetype->types[i].component;
        if (!weft__ids_have(remove, remove_count, component)) list[count++] = component;
    }
    for (uint32_t i = 0; i < add_count; i++)
        list_add(world, list, &count, remove, remove_count, add[i]);
    weft__archetype *result = weft__archetype_obtain(world, list, count);
    weft__ids_free(world, list, capacity);
    return result;
}

/* The archetype without the types that `drops` names, with `add` (0: none). */
static weft__archetype *archetype_filter(weft_world *world, weft__archetype *archetype,
                                         bool (*drops)(const weft_world *, const weft__type *),
                                         uint32_t add)
{
    uint32_t capacity = archetype->type_count + 1, count = 0;
    uint32_t *list = weft__ids_alloc(world, capacity, "archetype");
    if (list == NULL) return NULL;
    for (uint32_t i = 0; i < archetype->type_count; i++)
        if (!drops(world, archetype->types[i].type)) list[count++] = archetype->types[i].component;
    if (add != 0) weft__ids_insert(list, &count, add);
    weft__archetype *result = weft__archetype_obtain(world, list, count);
    weft__ids_free(world, list, capacity);
    return result;
}

static bool is_not_left(const weft_world *world, const weft__type *type)
{
    return (type->desc.flags & WEFT_CLEANUP) == 0 && type->id != world->builtin.residue.id;
}

bool weft__type_is_not_copied(const weft_world *world, const weft__type *type)
{
    return (type->desc.flags & (WEFT_CLEANUP | WEFT_NOT_COPIED)) != 0 ||
           type->id == world->builtin.prefab.id;
}

weft__archetype *weft__archetype_residue(weft_world *world, weft__archetype *archetype)
{
    bool is_tagged = (archetype->flags & WEFT__IS_RESIDUE) != 0;
    WEFT_ASSERT((archetype->flags & WEFT__HAS_CLEANUP) != 0);
    if (archetype->residue == NULL)
        archetype->residue = archetype_filter(world, archetype, is_not_left,
                                              is_tagged ? 0 : world->builtin.residue.id);
    return archetype->residue;
}

weft__archetype *weft__archetype_instance(weft_world *world, weft__archetype *archetype)
{
    if (archetype->instance == NULL)
        archetype->instance = archetype_filter(world, archetype, weft__type_is_not_copied, 0);
    return archetype->instance;
}

bool weft__archetype_is_spent(const weft_world *world, const weft__archetype *archetype)
{
    return archetype->type_count == 1 && archetype->types[0].component == world->builtin.residue.id;
}

/* ---- public ---- */

uint32_t *weft__components_sort(const weft_world *world, const weft_component *components,
                                uint32_t count, const char *what)
{
    if (components == NULL && count != 0) {
        weft__error_argument(world, what,
                             "the components are NULL, but their count is not 0: give an array");
        return NULL;
    }
    uint32_t *list = weft__ids_alloc(world, count, what);
    if (list == NULL) return NULL;
    uint32_t sorted = 0;
    for (uint32_t i = 0; i < count; i++) {
        const weft__type *type = weft__type_at(world, components[i]);
        uint32_t before = sorted;
        if (type == NULL) {
            weft__error_listed(world, what, "components", i, components[i]);
        } else if (weft__type_is_residue_tag(world, type)) {
            weft__error_residue_tag(world, what);
        } else if ((type->desc.flags & WEFT_RESOURCE) != 0) {
            weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, components[i],
                        "%s: component \"%s\" is a RESOURCE and belongs to no archetype: use "
                        "weft_resource_write",
                        what, type->desc.name);
        } else {
            weft__ids_insert(list, &sorted, type->id);
            if (sorted == before)
                weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, components[i],
                            "%s: component \"%s\" is in the list twice", what, type->desc.name);
        }
        if (sorted != before) continue;
        weft__ids_free(world, list, count);
        return NULL;
    }
    return list;
}

/* True, and the error set, when a component is SPARSE. */
static bool sparse_refuse(const weft_world *world, const uint32_t *components, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const weft__type *type = world->types.at[components[i]];
        if (type->sparse == NULL) continue;
        weft__error(
            world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, weft__component(world, type->id),
            "weft_archetype_create: component \"%s\" is SPARSE and belongs to no archetype: "
            "add it to the entities (weft_entity_add, weft_entity_set_many)",
            type->desc.name);
        return true;
    }
    return false;
}

weft_archetype weft_archetype_create(weft_world *world, const weft_component *components,
                                     uint32_t count)
{
    const weft_archetype none = {0};
    if (world == NULL || weft__idle(world, "weft_archetype_create") != WEFT_OK) return none;
    uint32_t *list = weft__components_sort(world, components, count, "weft_archetype_create");
    if (list == NULL) return none;
    weft__archetype *archetype = sparse_refuse(world, list, count)
                                     ? NULL
                                     : weft__archetype_change(world, NULL, list, count, NULL, 0);
    weft__ids_free(world, list, count);
    return weft__archetype_give(world, archetype);
}

uint32_t weft_archetype_components(const weft_world *world, weft_archetype handle,
                                   weft_component *out, uint32_t capacity)
{
    const weft__archetype *archetype = world == NULL ? NULL : weft__archetype_at(world, handle);
    if (archetype == NULL) return 0;
    for (uint32_t i = 0; i < archetype->type_count && i < capacity && out != NULL; i++)
        out[i] = weft__component(world, archetype->types[i].component);
    return archetype->type_count;
}
