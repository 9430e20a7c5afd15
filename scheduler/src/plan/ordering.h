/* SPDX-License-Identifier: MIT */
/* ordering.h: a directed graph of "must come before", its topological order and its cycles.
 *
 * Private. Pure. Nodes are numbers; among nodes that are free the one with the lowest rank comes
 * first, so that the order is a function of the graph alone; or a random one, for tests of
 * determinism. */
#ifndef WEFT_ORDERING_H
#define WEFT_ORDERING_H

#include <weft/base.h>

#include "heap.h"

/* `before` comes first. A value. */
typedef struct weft__order_edge {
    uint32_t before;
    uint32_t after;
} weft__order_edge;

/* Of edges sorted by `after`: the first one of this node, or of a later one; `count`: none. */
uint32_t weft__order_edges_of(const weft__order_edge *edges, uint32_t count, uint32_t after);
/* Whether such edges have this one, or the two over a gate: a number above all that it leads to.
 * Cost: O(log count + edges of `after` and of its gates). */
bool weft__order_edges_have(const weft__order_edge *edges, uint32_t count, uint32_t before,
                            uint32_t after);
/* 1 + the largest of the values of what leads to a gate. `known` remembers it; 0 at first. */
uint32_t weft__order_gate_value(const weft__order_edge *edges, uint32_t count, uint32_t gate,
                                const uint32_t *values, uint32_t *known);

/* A graph to be sorted: lives on the caller's stack; the arrays are borrowed for the call.
 * Always: before, after < node_count. */
typedef struct weft__ordering {
    uint32_t node_count;
    const uint32_t *ranks;         /* [node] ties are broken by it */
    const weft__order_edge *edges; /* duplicates are fine */
    uint32_t edge_count;
    uint64_t shuffle_seed; /* not 0: a random topological order */
} weft__ordering;

/* Writes the order of all nodes to `out` (node_count numbers). WEFT_CYCLE: `out` holds the nodes
 * of one cycle in order and *cycle_length their number. OUT_OF_MEMORY. Cost: O((nodes + edges)
 * log nodes). */
weft_result weft__ordering_sort(const weft__ordering *graph, weft__memory *memory, uint32_t *out,
                                uint32_t *cycle_length);

#endif
