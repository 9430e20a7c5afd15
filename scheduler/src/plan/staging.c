/* SPDX-License-Identifier: MIT */
/* staging.c: collisions of access sets; sync points and stages; systems moved in front of sync
 * points. See staging.h. To place 1,000 systems in a few milliseconds only pairs that share a
 * component with a write are tested, and only if the result could move the later one. */
#include "staging.h"
#include "bits.h"
#include "hash.h"
#include "invariant.h"
#include "search.h"

#include <stdlib.h>
#include <string.h>
#include <weft/system.h>

/* ---- order ----
 *
 * Kahn's algorithm with a binary heap on rank. What is left when no node is free
 * contains a cycle: walking backwards along unfinished predecessors must meet itself. */

/* Of edges sorted by `after`: the first one of this node, or of a later one; `count`: none. */
static uint32_t edges_of(const weft__order_edge *edges, uint32_t count, uint32_t after)
{
    return WEFT__SEARCH(edges, count, after, after);
}

bool weft__order_edges_have(const weft__order_edge *edges, uint32_t count, uint32_t before,
                            uint32_t after)
{
    uint32_t i = edges_of(edges, count, after);
    for (; i < count && edges[i].after == after; i++)
        if (edges[i].before == before ||
            (edges[i].before > after &&
             weft__order_edges_have(edges, count, before, edges[i].before)))
            return true;
    return false;
}

/* 1 + the largest of the values of what leads to a gate. `known` remembers it; 0 at first. */
static uint32_t gate_value(const weft__order_edge *edges, uint32_t count, uint32_t gate,
                           const uint32_t *values, uint32_t *known)
{
    if (*known != 0) return *known;
    uint32_t i = edges_of(edges, count, gate);
    for (; i < count && edges[i].after == gate; i++)
        if (values[edges[i].before] >= *known) *known = values[edges[i].before] + 1;
    return *known;
}

/* Scratch of one sort; lives on the caller's stack, arrays in the pile. */
typedef struct sorting {
    const weft__ordering *graph;
    uint32_t *first;   /* [node + 1] into `next` */
    uint32_t *next;    /* successors, grouped by node */
    uint32_t *waiting; /* [node] predecessors not yet emitted */
    uint32_t *heap;    /* free nodes */
    uint32_t heap_count;
    uint64_t random;
} sorting;

static weft_result sorting_init(sorting *s, const weft__ordering *graph, weft__pile *pile)
{
    uint32_t nodes = graph->node_count;
    *s = (sorting){.graph = graph, .random = graph->shuffle_seed};
    s->first = weft__pile_take(pile, nodes + 1, sizeof s->first[0]);
    s->waiting = weft__pile_take(pile, nodes, sizeof s->waiting[0]);
    s->heap = weft__pile_take(pile, nodes, sizeof s->heap[0]);
    s->next = weft__pile_take(pile, graph->edge_count, sizeof s->next[0]);
    if (pile->is_refused) return WEFT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        s->first[graph->edges[i].before + 1]++;
        s->waiting[graph->edges[i].after]++;
    }
    for (uint32_t i = 0; i < nodes; i++) s->first[i + 1] += s->first[i];
    for (uint32_t i = 0; i < graph->edge_count; i++)
        s->next[s->first[graph->edges[i].before]++] = graph->edges[i].after;
    for (uint32_t i = nodes; i > 0; i--) s->first[i] = s->first[i - 1]; /* filling moved them on */
    s->first[0] = 0;
    return WEFT_OK;
}

static bool is_earlier(const sorting *s, uint32_t a, uint32_t b)
{
    uint32_t left = s->graph->ranks[a], right = s->graph->ranks[b];
    return left != right ? left < right : a < b;
}

static void heap_push(sorting *s, uint32_t node)
{
    uint32_t at = s->heap_count++;
    while (at > 0 && is_earlier(s, node, s->heap[(at - 1) / 2])) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = node;
}

static uint32_t heap_pop(sorting *s)
{
    uint32_t top = s->heap[0], last = s->heap[--s->heap_count], at = 0;
    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= s->heap_count) break;
        if (child + 1 < s->heap_count && is_earlier(s, s->heap[child + 1], s->heap[child])) child++;
        if (!is_earlier(s, s->heap[child], last)) break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return top;
}

static uint32_t take_free(sorting *s)
{
    if (s->random == 0) return heap_pop(s);
    s->random = hash_word(s->random, s->heap_count) | 1;
    uint32_t at = (uint32_t)((s->random >> 8) % s->heap_count), node = s->heap[at];
    s->heap[at] = s->heap[--s->heap_count]; /* a bag, not a heap: the order does not matter */
    return node;
}

static void make_free(sorting *s, uint32_t node)
{
    if (s->random == 0)
        heap_push(s, node);
    else
        s->heap[s->heap_count++] = node;
}

/* A predecessor of `node` that was never emitted. */
static uint32_t stuck_predecessor(const sorting *s, uint32_t node)
{
    for (uint32_t i = 0; i < s->graph->edge_count; i++) {
        const weft__order_edge *edge = &s->graph->edges[i];
        if (edge->after == node && s->waiting[edge->before] != 0) return edge->before;
    }
    return UINT32_MAX;
}

static void find_cycle(sorting *s, uint32_t *out, uint32_t *length)
{
    uint32_t node = 0;
    while (s->waiting[node] == 0) node++;
    uint32_t *seen_at = s->heap; /* free now; 0 = not seen, else position + 1 */
    memset(seen_at, 0, s->graph->node_count * sizeof seen_at[0]);
    uint32_t steps = 0;
    while (seen_at[node] == 0) {
        out[steps++] = node;
        seen_at[node] = steps;
        node = stuck_predecessor(s, node);
        WEFT_ASSERT(node != UINT32_MAX);
    }
    uint32_t begin = seen_at[node] - 1;
    *length = steps - begin;
    memmove(out, out + begin, *length * sizeof out[0]);
    for (uint32_t i = 0; i < *length / 2; i++) { /* we walked backwards */
        uint32_t swap = out[i];
        out[i] = out[*length - 1 - i];
        out[*length - 1 - i] = swap;
    }
}

weft_result weft__ordering_sort(const weft__ordering *graph, weft__pile *pile, uint32_t *out,
                                uint32_t *cycle_length)
{
    sorting s;
    *cycle_length = 0;
    weft_result result = sorting_init(&s, graph, pile);
    if (result != WEFT_OK) return result;
    uint32_t emitted = 0;
    for (uint32_t i = 0; i < graph->node_count; i++)
        if (s.waiting[i] == 0) make_free(&s, i);
    while (s.heap_count != 0) {
        uint32_t node = take_free(&s);
        out[emitted++] = node;
        for (uint32_t i = s.first[node]; i < s.first[node + 1]; i++)
            if (--s.waiting[s.next[i]] == 0) make_free(&s, s.next[i]);
    }
    if (emitted < graph->node_count) {
        find_cycle(&s, out, cycle_length);
        result = WEFT_CYCLE;
    }
    return result;
}

/* ---- access sets ----
 *
 * Cost of a pair: the items of both, and for each shared
 * component with a write one pass over the words of the archetype sets until the first hit. */

static uint64_t set_word(const weft__archetype_set *set, uint32_t word)
{
    if (set == NULL) return ~UINT64_C(0);
    return word < set->word_count ? set->words[word] : 0;
}

static uint32_t largest(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

uint32_t weft__archetype_sets_meet(const weft__archetype_set *a, const weft__archetype_set *b,
                                   const weft__archetype_set *c)
{
    const weft__archetype_set *sets[] = {a, b, c};
    uint32_t first = 0, end = UINT32_MAX;
    for (uint32_t i = 0; i < 3; i++) {
        if (sets[i] == NULL) continue;
        first = largest(first, sets[i]->first_word);
        if (sets[i]->word_count < end) end = sets[i]->word_count;
    }
    if (end == UINT32_MAX) return 0; /* three times "any": they meet if there are archetypes */
    for (uint32_t word = first; word < end; word++) {
        uint64_t common = set_word(a, word) & set_word(b, word) & set_word(c, word);
        if (common != 0) return word * 64 + bits_lowest(common);
    }
    return UINT32_MAX;
}

weft__conflict weft__access_item_conflict(const weft__access_item *a, const weft__access_item *b)
{
    WEFT_ASSERT(a->component == b->component);
    if (((a->flags | b->flags) & WEFT__ACCESS_WRITE) == 0) return WEFT__CONFLICT_NONE;
    if (((a->flags | b->flags) & WEFT__ACCESS_RESOURCE) == 0 &&
        weft__archetype_sets_meet(a->match, b->match, a->with) == UINT32_MAX)
        return WEFT__CONFLICT_NONE;
    return ((a->flags | b->flags) & WEFT__ACCESS_FAR) != 0 ? WEFT__CONFLICT_FAR
                                                           : WEFT__CONFLICT_NEAR;
}

/* The strongest conflict between the runs of items of one component. */
static weft__conflict conflict_of_runs(const weft__access_item *a, uint32_t a_count,
                                       const weft__access_item *b, uint32_t b_count)
{
    weft__conflict worst = WEFT__CONFLICT_NONE;
    for (uint32_t i = 0; i < a_count; i++)
        for (uint32_t k = 0; k < b_count; k++) {
            weft__conflict conflict = weft__access_item_conflict(&a[i], &b[k]);
            if (conflict > worst) worst = conflict;
        }
    return worst;
}

static uint32_t run_length(const weft__access_set *set, uint32_t from)
{
    uint32_t end = from + 1;
    while (end < set->count && set->items[end].component == set->items[from].component) end++;
    return end - from;
}

static weft__conflict access_conflict(const weft__access_set *a, const weft__access_set *b,
                                      uint32_t *component)
{
    weft__conflict worst = WEFT__CONFLICT_NONE;
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        uint32_t left = a->items[i].component, right = b->items[k].component;
        if (left != right) {
            if (left < right)
                i++;
            else
                k++;
            continue;
        }
        uint32_t i_run = run_length(a, i), k_run = run_length(b, k);
        weft__conflict conflict = conflict_of_runs(&a->items[i], i_run, &b->items[k], k_run);
        if (conflict > worst) {
            worst = conflict;
            if (component != NULL) *component = left;
            if (worst == WEFT__CONFLICT_FAR) return worst;
        }
        i += i_run;
        k += k_run;
    }
    return worst;
}

static int compare_items(const void *left, const void *right)
{
    const weft__access_item *a = left, *b = right;
    if (a->component != b->component) return a->component < b->component ? -1 : 1;
    if (a->match != b->match) return (uintptr_t)a->match < (uintptr_t)b->match ? -1 : 1;
    return a->flags < b->flags ? -1 : a->flags > b->flags;
}

void weft__access_set_normalise(weft__access_set *set)
{
    if (set->count == 0) return;
    qsort(set->items, set->count, sizeof set->items[0], compare_items);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < set->count; i++) {
        weft__access_item *last = &set->items[kept], *next = &set->items[i];
        bool is_same = last->component == next->component && last->match == next->match;
        if (is_same)
            last->flags |= next->flags; /* write beats read, far beats near */
        else
            set->items[++kept] = *next;
    }
    set->count = kept + 1;
}

/* ---- stages ---- */

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

/* Whether the observer could meet an entity that has no other components than these. */
static bool could_meet(const weft__staging_node *observer, const uint32_t *components,
                       uint32_t count)
{
    if ((observer->traits & WEFT__STAGING_ROWS_ONLY) == 0 &&
        lists_meet(components, count, observer->mentions, observer->mention_count))
        return true;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found < observer->required_count; i++)
        if (components[i] == observer->required[found]) found++;
    return found == observer->required_count;
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
    weft__conflict conflict = access_conflict(&a->access, &b->access, component);
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
    weft__pile *pile;
    uint32_t *heads; /* [component] first placed item, UINT32_MAX = none */
    placed_item *placed;
    uint32_t placed_count;
    uint32_t item_count;
    uint32_t *order; /* nodes of the segment in the order in which they are placed */
    uint32_t *gates; /* [gate] the first stage behind it; 0: not known */
    uint64_t random;
} planning;

static bool planning_init(planning *p)
{
    uint32_t nodes = p->input->node_count;
    for (uint32_t i = 0; i < nodes; i++) p->item_count += p->input->nodes[i].access.count;
    p->heads = weft__pile_take(p->pile, p->input->component_limit + 1, sizeof p->heads[0]);
    p->placed = weft__pile_take(p->pile, p->item_count, sizeof p->placed[0]);
    p->order = weft__pile_take(p->pile, nodes + p->input->gate_count, sizeof p->order[0]);
    p->gates = weft__pile_take(p->pile, p->input->gate_count, sizeof p->gates[0]);
    weft__staging *plan = p->plan;
    plan->node_count = nodes;
    plan->stage_of = weft__pile_take(p->pile, nodes, sizeof plan->stage_of[0]);
    plan->join_stage = weft__pile_take(p->pile, nodes, sizeof plan->join_stage[0]);
    plan->stage_first = weft__pile_take(p->pile, nodes + 1, sizeof plan->stage_first[0]);
    plan->stage_nodes = weft__pile_take(p->pile, nodes, sizeof plan->stage_nodes[0]);
    plan->is_sync = weft__pile_take(p->pile, nodes + 1, sizeof plan->is_sync[0]);
    plan->syncs = weft__pile_take(p->pile, nodes + 1, sizeof plan->syncs[0]);
    return !p->pile->is_refused;
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
    uint32_t i = edges_of(input->barriers, input->barrier_count, node);
    for (; i < input->barrier_count && input->barriers[i].after == node; i++) {
        const weft__order_edge *edge = &input->barriers[i];
        if (edge->before < first) continue;
        if (edge->before >= input->node_count) {
            uint32_t *known = &p->gates[edge->before - input->node_count];
            stage = largest(stage, gate_value(input->barriers, input->barrier_count, edge->before,
                                              p->plan->stage_of, known));
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
    weft__order_edge *edges = weft__pile_take(p->pile, edge_limit, sizeof edges[0]);
    uint32_t *ranks = weft__pile_take(p->pile, all, sizeof ranks[0]);
    if (p->pile->is_refused) return WEFT_OUT_OF_MEMORY;
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
    weft_result result = weft__ordering_sort(&graph, p->pile, p->order, &cycle_length);
    WEFT_ASSERT(result != WEFT_CYCLE);
    for (uint32_t i = 0; result == WEFT_OK && i < all; i++)
        if (p->order[i] < count) p->order[placed++] = p->order[i] + first;
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
    /* When all stages are known. */
    for (uint32_t i = 0; i < p->input->node_count; i++)
        if (has_trait(p, i, WEFT__STAGING_PASSES))
            p->plan->join_stage[i] =
                join_stage_of(p, i, p->input->node_count, p->plan->stage_count);
    return WEFT_OK;
}

weft_result weft__staging_make(const weft__staging_input *input, weft__pile *pile,
                               weft__staging *out)
{
    planning p = {.input = input, .plan = out, .pile = pile, .random = input->shuffle_seed};
    *out = (weft__staging){0};
    if (!planning_init(&p)) return WEFT_OUT_OF_MEMORY;
    memset(p.heads, 0xff, (input->component_limit + 1) * sizeof p.heads[0]);
    return plan_all(&p);
}

/* ---- systems in front of sync points ----
 *
 * Nodes are placed in order; of those placed before, a few words per component are remembered. */

#define SEGMENT_BITS 64u /* segments from the last bit on are not looked at one by one */

/* What nodes placed so far do with a component; segments count from 1, 0: none does. Owner:
 * `hoisting`. */
typedef struct component_use {
    uint32_t last_write;
    uint32_t last_touch;
    uint64_t fusable; /* bit per segment: it has a node that touches it and could be fused */
} component_use;

/* One computation; lives on the stack, with arrays of its own. */
typedef struct hoisting {
    const weft__staging_input *input;
    component_use *uses;  /* [component] */
    uint32_t *segment_of; /* [node] */
    uint32_t *recorders;  /* those placed */
    uint32_t *gates;      /* [gate] 1 + the last segment of what leads to it; 0: not known */
    uint32_t recorder_count;
    uint32_t barrier; /* the first that may end at the node being placed */
    uint32_t current; /* the last segment so far */
    uint32_t wall;    /* the segment after the last exclusive system */
} hoisting;

/* A list of a node says what it touches: what it has access to, and what else it names. */
static uint32_t touched_count(const weft__staging_node *node)
{
    return node->access.count + node->mention_count;
}

static uint32_t touched_at(const weft__staging_node *node, uint32_t i, bool *is_write)
{
    *is_write = false;
    if (i >= node->access.count) return node->mentions[i - node->access.count];
    *is_write = (node->access.items[i].flags & WEFT__ACCESS_WRITE) != 0;
    return node->access.items[i].component;
}

/* The segment of a node, or the last one of those that lead to a gate. */
static uint32_t segment_after(const hoisting *h, uint32_t before)
{
    const weft__staging_input *input = h->input;
    if (before < input->node_count) return h->segment_of[before];
    return gate_value(input->barriers, input->barrier_count, before, h->segment_of,
                      &h->gates[before - input->node_count]) -
           1;
}

/* The first segment in which a node may be. */
static uint32_t first_allowed(hoisting *h, uint32_t node)
{
    const weft__staging_input *input = h->input;
    const weft__staging_node *own = &input->nodes[node];
    uint32_t first = h->wall;
    for (uint32_t i = 0; i < touched_count(own); i++) {
        bool is_write;
        const component_use *use = &h->uses[touched_at(own, i, &is_write)];
        uint32_t after = is_write ? use->last_touch : use->last_write;
        if (after != 0) first = largest(first, after - 1);
    }
    for (; h->barrier < input->barrier_count && input->barriers[h->barrier].after == node;
         h->barrier++)
        first = largest(first, segment_after(h, input->barriers[h->barrier].before));
    for (uint32_t i = h->recorder_count; i-- > 0;) {
        uint32_t after = h->segment_of[h->recorders[i]] + 1;
        if (after <= first) break; /* recorders stay in order: all others are before it */
        if (weft__staging_visible(&input->nodes[h->recorders[i]], own) != WEFT__VISIBLE_NOTHING)
            first = after;
    }
    return first;
}

/* The first segment from `first` on in which it can be fused; `first` if there is none. */
static uint32_t first_with_partner(const hoisting *h, const weft__staging_node *own, uint32_t first)
{
    uint64_t segments = 0;
    if ((own->traits & WEFT__STAGING_FUSABLE) == 0 || first >= SEGMENT_BITS - 1) return first;
    for (uint32_t i = 0; i < own->access.count; i++)
        segments |= h->uses[own->access.items[i].component].fusable;
    segments &= ~UINT64_C(0) << first;
    uint32_t found = segments == 0 ? first : (uint32_t)__builtin_ctzll(segments);
    return found == SEGMENT_BITS - 1 ? first : found;
}

static bool must_stay(const weft__staging_node *node)
{
    const uint32_t traits =
        WEFT__STAGING_EXCLUSIVE | WEFT__STAGING_BACKGROUND | WEFT__STAGING_STAYS;
    return node->effects != WEFT_RECORDS_NOTHING || (node->traits & traits) != 0 ||
           node->access.count == 0;
}

static void remember(hoisting *h, uint32_t node, uint32_t segment)
{
    const weft__staging_node *own = &h->input->nodes[node];
    uint64_t bit = (own->traits & WEFT__STAGING_FUSABLE) == 0
                       ? 0
                       : UINT64_C(1) << (segment < SEGMENT_BITS ? segment : SEGMENT_BITS - 1);
    for (uint32_t i = 0; i < touched_count(own); i++) {
        bool is_write;
        component_use *use = &h->uses[touched_at(own, i, &is_write)];
        use->last_touch = largest(use->last_touch, segment + 1);
        if (is_write) use->last_write = largest(use->last_write, segment + 1);
        use->fusable |= bit;
    }
    if (own->effects != WEFT_RECORDS_NOTHING) h->recorders[h->recorder_count++] = node;
    h->segment_of[node] = segment;
}

static void place_node(hoisting *h, uint32_t node)
{
    const weft__staging_node *own = &h->input->nodes[node];
    bool is_exclusive = (own->traits & WEFT__STAGING_EXCLUSIVE) != 0;
    uint32_t segment = first_allowed(h, node);
    if (is_exclusive && node > 0 && h->wall <= h->current) segment = h->current + 1;
    if (segment <= h->current)
        segment = must_stay(own) ? h->current : first_with_partner(h, own, segment);
    h->current = largest(h->current, segment);
    remember(h, node, segment);
    if (is_exclusive) h->wall = segment + 1;
}

/* By segment: counts become starts, and places are handed out from them. */
static void list_by_segment(const hoisting *h, uint32_t *starts, uint32_t *order)
{
    uint32_t nodes = h->input->node_count, at = 0;
    for (uint32_t i = 0; i < nodes; i++) starts[h->segment_of[i]]++;
    for (uint32_t segment = 0; segment <= h->current; segment++) {
        uint32_t count = starts[segment];
        starts[segment] = at;
        at += count;
    }
    for (uint32_t i = 0; i < nodes; i++) order[starts[h->segment_of[i]]++] = i;
}

weft_result weft__staging_hoist(const weft__staging_input *input, weft__pile *pile, uint32_t *order)
{
    uint32_t nodes = input->node_count, recorders = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        order[i] = i;
        recorders += input->nodes[i].effects != WEFT_RECORDS_NOTHING;
    }
    if (recorders == 0) return WEFT_OK;
    hoisting h = {.input = input};
    h.uses = weft__pile_take(pile, (size_t)input->component_limit + 1, sizeof h.uses[0]);
    h.segment_of = weft__pile_take(pile, nodes, sizeof h.segment_of[0]);
    h.recorders = weft__pile_take(pile, nodes, sizeof h.recorders[0]);
    h.gates = weft__pile_take(pile, input->gate_count, sizeof h.gates[0]);
    uint32_t *starts = weft__pile_take(pile, (size_t)nodes + 1, sizeof starts[0]);
    if (pile->is_refused) return WEFT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < nodes; i++) place_node(&h, i);
    list_by_segment(&h, starts, order);
    return WEFT_OK;
}
