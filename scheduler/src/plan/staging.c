/* SPDX-License-Identifier: MIT */
/* staging.c: sync points and stages. See staging.h. To place 1,000 systems in a few milliseconds
 * only pairs that share a component with a write are tested, and only if the result could move
 * the later one. */
#include "staging.h"

#include "hash.h"
#include "invariant.h"

#include <weft/system.h>

#include <stdlib.h>
#include <string.h>

static bool lists_meet(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
    for (uint32_t i = 0, k = 0; i < a_count && k < b_count;) {
        if (a[i] == b[k]) return true;
        if (a[i] < b[k])
            i++;
        else
            k++;
    }
    return false;
}

static bool list_contains_all(const uint32_t *list, uint32_t count, const uint32_t *wanted,
                              uint32_t wanted_count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found < wanted_count; i++)
        if (list[i] == wanted[found]) found++;
    return found == wanted_count;
}

/* Whether the observer could meet an entity that has no other components than these. */
static bool could_meet(const weft__staging_node *observer, const uint32_t *components,
                       uint32_t count)
{
    if ((observer->traits & WEFT__STAGING_ROWS_ONLY) == 0 &&
        lists_meet(components, count, observer->mentions, observer->mention_count))
        return true;
    return list_contains_all(components, count, observer->required, observer->required_count);
}

static bool sees_destroyed(const weft__staging_node *recorder, const weft__staging_node *observer)
{
    return (recorder->effects & WEFT_RECORDS_DESTROY) != 0 &&
           (recorder->destroy_count == 0 ||
            could_meet(observer, recorder->destroys, recorder->destroy_count));
}

static bool sees_changed(const weft__staging_node *recorder, const weft__staging_node *observer)
{
    return (recorder->effects & (WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE)) != 0 &&
           (recorder->record_count == 0 || lists_meet(recorder->records, recorder->record_count,
                                                      observer->mentions, observer->mention_count));
}

static bool sees_created(const weft__staging_node *recorder, const weft__staging_node *observer)
{
    return (recorder->effects & WEFT_RECORDS_CREATE) != 0 &&
           (recorder->record_count == 0 ||
            could_meet(observer, recorder->records, recorder->record_count));
}

weft__visible weft__staging_visible(const weft__staging_node *recorder,
                                    const weft__staging_node *observer)
{
    if (recorder->effects == WEFT_RECORDS_NOTHING) return WEFT__VISIBLE_NOTHING;
    if ((observer->traits & WEFT__STAGING_EXCLUSIVE) != 0) return WEFT__VISIBLE_TO_EXCLUSIVE;
    if ((observer->traits & WEFT__STAGING_SEES_ROWS) == 0) return WEFT__VISIBLE_NOTHING;
    if (sees_destroyed(recorder, observer)) return WEFT__VISIBLE_DESTROYED;
    if (sees_changed(recorder, observer)) return WEFT__VISIBLE_CHANGED;
    if (sees_created(recorder, observer)) return WEFT__VISIBLE_CREATED;
    return WEFT__VISIBLE_NOTHING;
}

uint32_t weft__staging_visible_effects(const weft__staging_node *recorder,
                                       const weft__staging_node *observer)
{
    uint32_t visible = 0;
    bool is_blind = (observer->traits & WEFT__STAGING_SEES_ROWS) == 0;
    if (is_blind || (observer->traits & WEFT__STAGING_EXCLUSIVE) != 0) return 0;
    if (sees_destroyed(recorder, observer)) visible |= WEFT_RECORDS_DESTROY;
    if (sees_changed(recorder, observer)) visible |= WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE;
    if (sees_created(recorder, observer)) visible |= WEFT_RECORDS_CREATE;
    return visible & recorder->effects;
}

weft__conflict weft__staging_conflict(const weft__staging_node *a, const weft__staging_node *b,
                                      uint32_t *component)
{
    weft__conflict conflict = weft__access_conflict(&a->access, &b->access, component);
    bool can_fuse = (a->traits & b->traits & WEFT__STAGING_FUSABLE) != 0;
    return conflict == WEFT__CONFLICT_NEAR && !can_fuse ? WEFT__CONFLICT_FAR : conflict;
}

/* One access item of a node already placed in the current segment. Owner: `planning`. */
typedef struct placed_item {
    const weft__access_item *item;
    uint32_t node;
    uint32_t next; /* of the same component; UINT32_MAX ends */
} placed_item;

/* Scratch of one compilation; lives on the stack. */
typedef struct planning {
    const weft__staging_input *input;
    weft__staging *plan;
    weft__memory *memory;
    uint32_t *heads; /* [component] first placed item, UINT32_MAX = none */
    placed_item *placed;
    uint32_t placed_count;
    uint32_t item_count;
    uint32_t *order; /* nodes of the segment in the order in which they are placed */
    uint32_t *gates; /* [gate] the first stage behind it; 0: not known */
    uint64_t random;
} planning;

static void *scratch(weft__memory *memory, size_t count, size_t size)
{
    return weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, count + 1, size, 8);
}

static void unscratch(weft__memory *memory, void *block, size_t count, size_t size)
{
    weft__free(memory, WEFT__MEMORY_SYSTEMS, block, count + 1, size, 8);
}

static bool planning_init(planning *p)
{
    uint32_t nodes = p->input->node_count;
    for (uint32_t i = 0; i < nodes; i++) p->item_count += p->input->nodes[i].access.count;
    p->heads = scratch(p->memory, p->input->component_limit, sizeof(uint32_t));
    p->placed = scratch(p->memory, p->item_count, sizeof(placed_item));
    p->order = scratch(p->memory, nodes + p->input->gate_count, sizeof(uint32_t));
    p->gates = scratch(p->memory, p->input->gate_count, sizeof(uint32_t));
    weft__staging *plan = p->plan;
    plan->node_count = nodes;
    plan->stage_of = scratch(p->memory, nodes, sizeof(uint32_t));
    plan->join_stage = scratch(p->memory, nodes, sizeof(uint32_t));
    plan->stage_first = scratch(p->memory, nodes + 1, sizeof(uint32_t));
    plan->stage_nodes = scratch(p->memory, nodes, sizeof(uint32_t));
    plan->is_sync = scratch(p->memory, nodes + 1, 1);
    plan->syncs = scratch(p->memory, nodes + 1, sizeof(weft__sync_point));
    return p->heads && p->placed && p->order && p->gates && plan->stage_of && plan->join_stage &&
           plan->stage_first && plan->stage_nodes && plan->is_sync && plan->syncs;
}

static void planning_fini(planning *p)
{
    unscratch(p->memory, p->heads, p->input->component_limit, sizeof(uint32_t));
    unscratch(p->memory, p->placed, p->item_count, sizeof(placed_item));
    unscratch(p->memory, p->order, p->input->node_count + p->input->gate_count, sizeof(uint32_t));
    unscratch(p->memory, p->gates, p->input->gate_count, sizeof(uint32_t));
}

void weft__staging_free(weft__staging *plan, weft__memory *memory)
{
    uint32_t nodes = plan->node_count;
    unscratch(memory, plan->stage_of, nodes, sizeof(uint32_t));
    unscratch(memory, plan->join_stage, nodes, sizeof(uint32_t));
    unscratch(memory, plan->stage_first, nodes + 1, sizeof(uint32_t));
    unscratch(memory, plan->stage_nodes, nodes, sizeof(uint32_t));
    unscratch(memory, plan->is_sync, nodes + 1, 1);
    unscratch(memory, plan->syncs, nodes + 1, sizeof(weft__sync_point));
    *plan = (weft__staging){0};
}

/* The first of the recorders whose commands `node` could see; UINT32_MAX if none. */
static uint32_t forcing_recorder(const weft__staging_input *input, const uint32_t *recorders,
                                 uint32_t count, uint32_t node)
{
    for (uint32_t i = 0; i < count; i++)
        if (weft__staging_visible(&input->nodes[recorders[i]], &input->nodes[node]) !=
            WEFT__VISIBLE_NOTHING)
            return recorders[i];
    return UINT32_MAX;
}

static bool is_exclusive(const weft__staging_input *input, uint32_t node)
{
    return (input->nodes[node].traits & WEFT__STAGING_EXCLUSIVE) != 0;
}

/* One past the last node of the segment that begins at `first`. */
static uint32_t segment_end(const planning *p, uint32_t first, uint32_t *recorder)
{
    const weft__staging_input *input = p->input;
    uint32_t *recorders = p->order; /* not in use yet */
    uint32_t end = first + 1, count = 0;
    *recorder = UINT32_MAX;
    if (is_exclusive(input, first)) {
        if (end < input->node_count && input->nodes[first].effects != 0) *recorder = first;
        return end;
    }
    if (input->nodes[first].effects != 0) recorders[count++] = first;
    for (; end < input->node_count; end++) {
        *recorder = forcing_recorder(input, recorders, count, end);
        if (*recorder != UINT32_MAX || is_exclusive(input, end)) break;
        if (input->nodes[end].effects != 0) recorders[count++] = end;
    }
    return end;
}

static uint32_t largest(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Raises `stage` until the conflict of `item` with everything placed on its component is
 * respected. */
static uint32_t stage_after_item(const planning *p, uint32_t node, const weft__access_item *item,
                                 uint32_t stage)
{
    const weft__staging_node *nodes = p->input->nodes;
    for (uint32_t at = p->heads[item->component]; at != UINT32_MAX; at = p->placed[at].next) {
        const placed_item *other = &p->placed[at];
        uint32_t other_stage = p->plan->stage_of[other->node];
        if (other->node == node || other_stage + 1 <= stage) continue;
        weft__conflict conflict = weft__access_item_conflict(other->item, item);
        if (conflict == WEFT__CONFLICT_NONE) continue;
        bool can_fuse =
            (nodes[node].traits & nodes[other->node].traits & WEFT__STAGING_FUSABLE) != 0;
        bool is_near = conflict == WEFT__CONFLICT_NEAR && can_fuse;
        stage = largest(stage, is_near ? other_stage : other_stage + 1);
    }
    return stage;
}

/* Explicit orders hold even without a conflict: the caller has a reason we cannot see. A near
 * conflict of fusable systems is satisfied per slice. */
static uint32_t stage_after_barriers(const planning *p, uint32_t first, uint32_t node,
                                     uint32_t stage)
{
    const weft__staging_input *input = p->input;
    uint32_t i = weft__order_edges_of(input->barriers, input->barrier_count, node);
    for (; i < input->barrier_count && input->barriers[i].after == node; i++) {
        const weft__order_edge *edge = &input->barriers[i];
        if (edge->before < first) continue;
        if (edge->before >= input->node_count) {
            uint32_t *known = &p->gates[edge->before - input->node_count];
            stage = largest(stage, weft__order_gate_value(input->barriers, input->barrier_count,
                                                          edge->before, p->plan->stage_of, known));
            continue;
        }
        bool is_near = weft__staging_conflict(&input->nodes[edge->before], &input->nodes[node],
                                              NULL) == WEFT__CONFLICT_NEAR;
        uint32_t other = p->plan->stage_of[edge->before];
        stage = largest(stage, is_near ? other : other + 1);
    }
    return stage;
}

static void place(planning *p, uint32_t node, uint32_t stage)
{
    const weft__access_set *access = &p->input->nodes[node].access;
    p->plan->stage_of[node] = stage;
    for (uint32_t i = 0; i < access->count; i++) {
        uint32_t *head = &p->heads[access->items[i].component];
        p->placed[p->placed_count] = (placed_item){&access->items[i], node, *head};
        *head = p->placed_count++;
    }
}

static void forget_placed(planning *p)
{
    for (uint32_t i = 0; i < p->placed_count; i++)
        p->heads[p->placed[i].item->component] = UINT32_MAX;
    p->placed_count = 0;
}

/* The number of a node, or of a gate, in the graph of the segment [first, end). UINT32_MAX: it is
 * of another segment. */
static uint32_t number_in(const planning *p, uint32_t node, uint32_t first, uint32_t end)
{
    if (node >= p->input->node_count) return node - p->input->node_count + end - first;
    return node >= first && node < end ? node - first : UINT32_MAX;
}

/* A random order of the segment that respects every conflict and explicit order. */
static weft_result shuffle_segment(planning *p, uint32_t first, uint32_t end)
{
    uint32_t count = end - first, edge_count = 0, cycle_length = 0, placed = 0;
    uint32_t all = count + p->input->gate_count;
    size_t edge_limit = (size_t)count * (count - 1) / 2 + p->input->barrier_count;
    weft__order_edge *edges = scratch(p->memory, edge_limit, sizeof(weft__order_edge));
    uint32_t *ranks = scratch(p->memory, all, sizeof(uint32_t));
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (edges != NULL && ranks != NULL) {
        for (uint32_t b = first; b < end; b++)
            for (uint32_t a = first; a < b; a++)
                if (weft__staging_conflict(&p->input->nodes[a], &p->input->nodes[b], NULL) !=
                    WEFT__CONFLICT_NONE)
                    edges[edge_count++] = (weft__order_edge){a - first, b - first};
        for (uint32_t i = 0; i < p->input->barrier_count; i++) {
            uint32_t before = number_in(p, p->input->barriers[i].before, first, end);
            uint32_t after = number_in(p, p->input->barriers[i].after, first, end);
            if (before != UINT32_MAX && after != UINT32_MAX)
                edges[edge_count++] = (weft__order_edge){before, after};
        }
        p->random = hash_word(p->random, first) | 1;
        weft__ordering graph = {all, ranks, edges, edge_count, p->random};
        result = weft__ordering_sort(&graph, p->memory, p->order, &cycle_length);
        WEFT_ASSERT(result != WEFT_CYCLE);
        for (uint32_t i = 0; i < all; i++)
            if (p->order[i] < count) p->order[placed++] = p->order[i] + first;
    }
    unscratch(p->memory, edges, edge_limit, sizeof(weft__order_edge));
    unscratch(p->memory, ranks, all, sizeof(uint32_t));
    return result;
}

/* Places the nodes [first, end), none before `base`; *next_base is the first stage after them. */
static weft_result plan_segment(planning *p, uint32_t first, uint32_t end, uint32_t base,
                                uint32_t *next_base)
{
    const weft__staging_input *input = p->input;
    for (uint32_t i = first; i < end; i++) p->order[i - first] = i;
    if (input->shuffle_seed != 0 && end - first > 1) {
        weft_result result = shuffle_segment(p, first, end);
        if (result != WEFT_OK) return result;
    }
    *next_base = base;
    for (uint32_t k = 0; k < end - first; k++) {
        uint32_t node = p->order[k], stage = base;
        const weft__access_set *access = &input->nodes[node].access;
        for (uint32_t i = 0; i < access->count; i++)
            stage = stage_after_item(p, node, &access->items[i], stage);
        stage = stage_after_barriers(p, first, node, stage);
        if (input->without_fusion) stage = largest(stage, *next_base);
        place(p, node, stage);
        *next_base = largest(*next_base, stage + 1);
    }
    forget_placed(p);
    return WEFT_OK;
}

/* Groups the nodes of [first, end) by stage, keeping the order in which they were placed. */
static void list_stages(planning *p, uint32_t first, uint32_t end, uint32_t base,
                        uint32_t next_base)
{
    weft__staging *plan = p->plan;
    uint32_t *starts = plan->stage_first;
    for (uint32_t stage = base; stage <= next_base; stage++) starts[stage] = 0;
    for (uint32_t i = first; i < end; i++) starts[plan->stage_of[i]]++;
    uint32_t at = end; /* counts become ends, and filling backwards makes them starts */
    for (uint32_t stage = next_base; stage-- > base;) {
        uint32_t count = starts[stage];
        starts[stage] = at;
        at -= count;
    }
    WEFT_ASSERT(at == first);
    for (uint32_t k = end - first; k-- > 0;) {
        uint32_t node = p->order[k];
        plan->stage_nodes[--starts[plan->stage_of[node]]] = node;
    }
    starts[next_base] = end;
}

/* Background nodes are joined before the first stage that must not run beside them: of a system
 * that collides with them or comes after them by an explicit order, of an exclusive one; those that
 * do not pass sync points at the latest at the end of their segment. */
static uint32_t join_stage_of(const planning *p, uint32_t node, uint32_t end, uint32_t latest)
{
    const weft__staging_input *input = p->input;
    uint32_t join = latest;
    for (uint32_t k = node + 1; k < end; k++) {
        uint32_t stage = p->plan->stage_of[k];
        if (stage >= join) continue;
        if (is_exclusive(input, k) ||
            weft__order_edges_have(input->barriers, input->barrier_count, node, k) ||
            weft__staging_conflict(&input->nodes[node], &input->nodes[k], NULL) !=
                WEFT__CONFLICT_NONE)
            join = stage;
    }
    return join;
}

static bool has_trait(const planning *p, uint32_t node, uint32_t trait)
{
    return (p->input->nodes[node].traits & trait) != 0;
}

static void find_joins(planning *p, uint32_t first, uint32_t end, uint32_t next_base)
{
    for (uint32_t i = first; i < end; i++)
        p->plan->join_stage[i] = has_trait(p, i, WEFT__STAGING_BACKGROUND)
                                     ? join_stage_of(p, i, end, next_base)
                                     : next_base;
}

/* When all stages are known. */
static void find_late_joins(planning *p)
{
    for (uint32_t i = 0; i < p->input->node_count; i++)
        if (has_trait(p, i, WEFT__STAGING_PASSES))
            p->plan->join_stage[i] =
                join_stage_of(p, i, p->input->node_count, p->plan->stage_count);
}

static weft_result plan_all(planning *p)
{
    uint32_t base = 0, first = 0;
    while (first < p->input->node_count) {
        uint32_t recorder, next_base;
        uint32_t end = segment_end(p, first, &recorder);
        weft_result result = plan_segment(p, first, end, base, &next_base);
        if (result != WEFT_OK) return result;
        list_stages(p, first, end, base, next_base);
        find_joins(p, first, end, next_base);
        if (recorder != UINT32_MAX) {
            p->plan->is_sync[next_base] = 1;
            p->plan->syncs[p->plan->sync_count++] = (weft__sync_point){next_base, recorder, end};
        }
        base = next_base;
        first = end;
    }
    p->plan->stage_count = base;
    find_late_joins(p);
    return WEFT_OK;
}

weft_result weft__staging_make(const weft__staging_input *input, weft__memory *memory,
                               weft__staging *out)
{
    planning p = {.input = input, .plan = out, .memory = memory, .random = input->shuffle_seed};
    *out = (weft__staging){0};
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (planning_init(&p)) {
        memset(p.heads, 0xff, (input->component_limit + 1) * sizeof p.heads[0]);
        result = plan_all(&p);
    }
    planning_fini(&p);
    if (result != WEFT_OK) weft__staging_free(out, memory);
    return result;
}
