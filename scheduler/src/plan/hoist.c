/* SPDX-License-Identifier: MIT */
/* hoist.c: see hoist.h. Nodes are placed in order; of those placed before, a few words per
 * component are remembered. */
#include "hoist.h"

#include <weft/system.h>

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

static uint32_t largest(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

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
    return weft__order_gate_value(input->barriers, input->barrier_count, before, h->segment_of,
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

static void place(hoisting *h, uint32_t node)
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

weft_result weft__staging_hoist(const weft__staging_input *input, weft__memory *memory,
                                uint32_t *order)
{
    uint32_t nodes = input->node_count, recorders = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        order[i] = i;
        recorders += input->nodes[i].effects != WEFT_RECORDS_NOTHING;
    }
    if (recorders == 0) return WEFT_OK;
    size_t components = (size_t)input->component_limit + 1;
    size_t words = 3 * (size_t)nodes + input->gate_count + 1;
    hoisting h = {.input = input};
    h.uses = weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, components, sizeof h.uses[0], 8);
    h.segment_of = weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, words, sizeof(uint32_t), 8);
    bool is_made = h.uses != NULL && h.segment_of != NULL;
    if (is_made) {
        h.recorders = h.segment_of + nodes;
        h.gates = h.recorders + nodes;
        for (uint32_t i = 0; i < nodes; i++) place(&h, i);
        list_by_segment(&h, h.gates + input->gate_count, order);
    }
    weft__free(memory, WEFT__MEMORY_SYSTEMS, h.uses, components, sizeof h.uses[0], 8);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, h.segment_of, words, sizeof(uint32_t), 8);
    return is_made ? WEFT_OK : WEFT_OUT_OF_MEMORY;
}
