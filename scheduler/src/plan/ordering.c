/* SPDX-License-Identifier: MIT */
/* ordering.c: Kahn's algorithm with a binary heap on rank. See ordering.h. What is left when no
 * node is free contains a cycle: walking backwards along unfinished predecessors must meet
 * itself. */
#include "ordering.h"

#include "hash.h"
#include "invariant.h"

#include <string.h>

uint32_t weft__order_edges_of(const weft__order_edge *edges, uint32_t count, uint32_t after)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (edges[middle].after < after)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool weft__order_edges_have(const weft__order_edge *edges, uint32_t count, uint32_t before,
                            uint32_t after)
{
    uint32_t i = weft__order_edges_of(edges, count, after);
    for (; i < count && edges[i].after == after; i++)
        if (edges[i].before == before ||
            (edges[i].before > after &&
             weft__order_edges_have(edges, count, before, edges[i].before)))
            return true;
    return false;
}

uint32_t weft__order_gate_value(const weft__order_edge *edges, uint32_t count, uint32_t gate,
                                const uint32_t *values, uint32_t *known)
{
    if (*known != 0) return *known;
    uint32_t i = weft__order_edges_of(edges, count, gate);
    for (; i < count && edges[i].after == gate; i++)
        if (values[edges[i].before] >= *known) *known = values[edges[i].before] + 1;
    return *known;
}

/* Scratch of one sort; lives on the caller's stack, arrays on the heap. */
typedef struct sorting {
    const weft__ordering *graph;
    uint32_t *first;   /* [node + 1] into `next` */
    uint32_t *next;    /* successors, grouped by node */
    uint32_t *waiting; /* [node] predecessors not yet emitted */
    uint32_t *heap;    /* free nodes */
    uint32_t heap_count;
    uint64_t random;
    size_t words; /* of the one allocation */
    uint32_t *block;
} sorting;

static weft_result sorting_init(sorting *s, const weft__ordering *graph, weft__memory *memory)
{
    uint32_t nodes = graph->node_count;
    *s = (sorting){.graph = graph, .random = graph->shuffle_seed};
    s->words = (size_t)nodes * 3 + 1 + graph->edge_count;
    s->block = weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, s->words, sizeof(uint32_t), 8);
    if (s->block == NULL) return WEFT_OUT_OF_MEMORY;
    s->first = s->block;
    s->waiting = s->first + nodes + 1;
    s->heap = s->waiting + nodes;
    s->next = s->heap + nodes;
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

weft_result weft__ordering_sort(const weft__ordering *graph, weft__memory *memory, uint32_t *out,
                                uint32_t *cycle_length)
{
    sorting s;
    *cycle_length = 0;
    weft_result result = sorting_init(&s, graph, memory);
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
    weft__free(memory, WEFT__MEMORY_SYSTEMS, s.block, s.words, sizeof(uint32_t), 8);
    return result;
}
