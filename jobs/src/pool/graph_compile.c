/* SPDX-License-Identifier: MIT */
/* graph_compile.c: compiling a graph and its life in the list of its pool.
 *
 * Kahn's algorithm sorts the nodes, heights from the end give the ranks; both are linear, but for
 * nodes with costs, which are sorted by comparing. The arrays of the graph lie in one pile, and the
 * compilation's own in another; nothing is allocated when it runs. */
#include "graph_compile.h"

#include <stdlib.h>

#define NODES_MAX (UINT32_C(1) << 20)
#define EDGES_MAX (UINT32_C(1) << 26)

/* Arrays that only the compilation needs. Owner: weft_job_graph_create. */
typedef struct compilation {
    const weft_job_graph_desc *desc;
    weft__pile pile;
    uint32_t *first;      /* successors in the caller's numbers */
    uint32_t *successors; /* the same */
    uint32_t *waiting;    /* predecessors not yet placed */
    uint32_t *order;      /* a topological order */
    uint32_t *height;     /* nodes on the longest path from here */
    uint32_t *rank;       /* place of a node in rank order */
} compilation;

static uint32_t *take_words(weft__pile *pile, size_t count)
{
    return weft__pile_take(pile, count, sizeof(uint32_t));
}

/* On lines of their own: workers write them while others read what lies beside. */
static void *take_lines(weft__pile *pile, size_t count, size_t size)
{
    char *at = weft__pile_take(pile, count * size + 128, 1);
    return at == NULL ? NULL : at + (64 - (uintptr_t)at % 64);
}

/* Successor lists by counting sort; `first` has node_count + 1 zeroed words. */
static void list_successors(const weft_job_graph_desc *desc, uint32_t *first, uint32_t *successors,
                            const uint32_t *rank)
{
    for (uint32_t i = 0; i < desc->edge_count; i++) {
        uint32_t before = desc->edges[i][0];
        first[(rank != NULL ? rank[before] : before) + 1]++;
    }
    for (uint32_t i = 0; i < desc->node_count; i++) first[i + 1] += first[i];
    for (uint32_t i = desc->edge_count; i-- > 0;) { /* fills each list from its end */
        uint32_t before = desc->edges[i][0], after = desc->edges[i][1];
        if (rank != NULL) before = rank[before], after = rank[after];
        successors[--first[before + 1]] = after;
    }
    /* every first[k + 1] has become the beginning of list k: move them down by one */
    for (uint32_t i = 0; i < desc->node_count; i++) first[i] = first[i + 1];
    first[desc->node_count] = desc->edge_count;
}

/* A node by its place in the topological order, with the cost of the longest path from here. A
 * value, of a list that lives as long as one call. */
typedef struct weighted {
    uint64_t height;
    uint32_t node;
    uint32_t place;
} weighted;

/* Kahn's algorithm; false when there is a cycle. */
static bool sort_topologically(compilation *work)
{
    const weft_job_graph_desc *desc = work->desc;
    uint32_t placed = 0;
    for (uint32_t i = 0; i < desc->edge_count; i++) work->waiting[desc->edges[i][1]]++;
    for (uint32_t i = 0; i < desc->node_count; i++)
        if (work->waiting[i] == 0) work->order[placed++] = i;
    for (uint32_t taken = 0; taken < placed; taken++) {
        uint32_t node = work->order[taken];
        for (uint32_t i = work->first[node]; i < work->first[node + 1]; i++) {
            uint32_t successor = work->successors[i];
            if (--work->waiting[successor] == 0) work->order[placed++] = successor;
        }
    }
    return placed == desc->node_count;
}

/* Heights from the end, then ranks by a stable counting sort, highest first. */
static uint32_t rank_nodes(compilation *work)
{
    uint32_t count = work->desc->node_count, longest = 0;
    for (uint32_t k = count; k-- > 0;) {
        uint32_t node = work->order[k], height = 1;
        for (uint32_t i = work->first[node]; i < work->first[node + 1]; i++) {
            uint32_t below = work->height[work->successors[i]] + 1;
            if (below > height) height = below;
        }
        work->height[node] = height;
        if (height > longest) longest = height;
    }
    uint32_t *place = work->waiting; /* no longer needed: all zero */
    for (uint32_t i = 0; i < count; i++) place[longest - work->height[i]]++;
    for (uint32_t i = 0, sum = 0; i < longest; i++) {
        uint32_t here = place[i];
        place[i] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++) work->rank[i] = place[longest - work->height[i]]++;
    return longest;
}

static int compare_weighted(const void *left, const void *right)
{
    const weighted *a = left, *b = right;
    if (a->height != b->height) return a->height > b->height ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static bool has_costs(const weft_job_graph_desc *desc)
{
    for (uint32_t i = 0; i < desc->node_count; i++)
        if (desc->nodes[i].cost_ns != 0) return true;
    return false;
}

/* The same by cost. A node is above its successors, so this is a topological order, too. */
static bool rank_by_cost(compilation *work)
{
    uint32_t count = work->desc->node_count;
    weighted *nodes = weft__pile_take(&work->pile, count, sizeof *nodes);
    uint64_t *height = weft__pile_take(&work->pile, count, sizeof *height);
    if (work->pile.is_refused) return false;
    for (uint32_t k = count; k-- > 0;) {
        uint32_t node = work->order[k];
        for (uint32_t i = work->first[node]; i < work->first[node + 1]; i++)
            if (height[work->successors[i]] > height[node])
                height[node] = height[work->successors[i]];
        height[node] += work->desc->nodes[node].cost_ns + 1;
        nodes[k] = (weighted){height[node], node, k};
    }
    qsort(nodes, count, sizeof *nodes, compare_weighted);
    for (uint32_t i = 0; i < count; i++) work->rank[nodes[i].node] = i;
    return true;
}

static void free_graph(weft_job_graph *graph)
{
    weft__memory *memory = graph->pile.memory;
    weft__pile_free(&graph->pile);
    WEFT__FREE(memory, WEFT__MEMORY_JOBS, graph, 1);
}

static weft_job_graph *alloc_graph(weft_job_pool *pool, const weft_job_graph_desc *desc)
{
    weft_job_graph *graph = WEFT__NEW_ZEROED(&pool->memory, WEFT__MEMORY_JOBS, 1, *graph);
    if (graph == NULL) return NULL;
    weft__pile *pile = &graph->pile;
    *pile = (weft__pile){&pool->memory, WEFT__MEMORY_JOBS};
    size_t nodes = graph->node_count = desc->node_count;
    graph->edge_count = desc->edge_count;
    graph->pool = pool;
    uint32_t words = weft__graph_word_count(graph);
    graph->nodes = weft__pile_take(pile, nodes, sizeof *graph->nodes);
    graph->number = take_words(pile, nodes);
    graph->first = take_words(pile, nodes + 1);
    graph->successors = take_words(pile, desc->edge_count);
    graph->indegree = take_words(pile, nodes);
    graph->on_caller = weft__pile_take(pile, words, sizeof *graph->on_caller);
    graph->x_arrived = take_lines(pile, nodes, sizeof *graph->x_arrived);
    graph->x_poisoned = take_lines(pile, nodes, sizeof *graph->x_poisoned);
    graph->x_ready = take_lines(pile, words, sizeof *graph->x_ready);
    if (!pile->is_refused) return graph;
    free_graph(graph);
    return NULL;
}

static weft_result check_desc(const weft_job_graph_desc *desc)
{
    if (desc == NULL || desc->nodes == NULL || desc->node_count == 0) return WEFT_INVALID_ARGUMENT;
    if (desc->edges == NULL && desc->edge_count != 0) return WEFT_INVALID_ARGUMENT;
    if (desc->node_count > NODES_MAX || desc->edge_count > EDGES_MAX) return WEFT_LIMIT;
    for (uint32_t i = 0; i < desc->node_count; i++)
        if (desc->nodes[i].fn == NULL) return WEFT_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < desc->edge_count; i++)
        if (desc->edges[i][0] >= desc->node_count || desc->edges[i][1] >= desc->node_count)
            return WEFT_INVALID_ARGUMENT;
    return WEFT_OK;
}

static weft_result compile(weft_job_pool *pool, compilation *work, weft_job_graph **out)
{
    size_t nodes = work->desc->node_count;
    work->first = take_words(&work->pile, nodes + 1);
    work->successors = take_words(&work->pile, work->desc->edge_count);
    work->waiting = take_words(&work->pile, nodes);
    work->order = take_words(&work->pile, nodes);
    work->height = take_words(&work->pile, nodes + 2);
    work->rank = take_words(&work->pile, nodes);
    if (work->pile.is_refused) return WEFT_OUT_OF_MEMORY;
    list_successors(work->desc, work->first, work->successors, NULL);
    if (!sort_topologically(work)) return WEFT_CYCLE;
    uint32_t longest = rank_nodes(work);
    if (has_costs(work->desc) && !rank_by_cost(work)) return WEFT_OUT_OF_MEMORY;
    weft_job_graph *graph = alloc_graph(pool, work->desc);
    if (graph == NULL) return WEFT_OUT_OF_MEMORY;
    graph->longest = longest;
    graph->is_shared = work->desc->is_shared;
    const weft_job_graph_desc *desc = work->desc;
    for (uint32_t i = 0; i < desc->node_count; i++) {
        graph->nodes[work->rank[i]] = desc->nodes[i];
        graph->number[work->rank[i]] = i;
        uint64_t bit = UINT64_C(1) << work->rank[i] % 64;
        if (!desc->nodes[i].on_caller) continue;
        graph->on_caller[work->rank[i] / 64] |= bit;
        graph->has_own = true;
    }
    for (uint32_t i = 0; i < desc->edge_count; i++)
        graph->indegree[work->rank[desc->edges[i][1]]]++;
    list_successors(desc, graph->first, graph->successors, work->rank);
    weft__lock_lock(&pool->graphs_lock);
    graph->next = pool->graphs;
    pool->graphs = graph;
    weft__lock_unlock(&pool->graphs_lock);
    *out = graph;
    return WEFT_OK;
}

weft_result weft_job_graph_create(weft_job_pool *pool, const weft_job_graph_desc *desc,
                                  weft_job_graph **out)
{
    if (pool == NULL || out == NULL) return WEFT_INVALID_ARGUMENT;
    *out = NULL;
    weft_result result = check_desc(desc);
    if (result != WEFT_OK) return result;
    compilation work = {desc, {&pool->memory, WEFT__MEMORY_JOBS}};
    result = compile(pool, &work, out);
    weft__pile_free(&work.pile);
    return result;
}

weft_result weft_job_graph_destroy(weft_job_graph *graph)
{
    if (graph == NULL) return WEFT_OK;
    if (at_load_acq(&graph->x_running) != 0) return WEFT_BUSY; /* G5 */
    weft__lock_lock(&graph->pool->graphs_lock);
    weft_job_graph **link = &graph->pool->graphs;
    while (*link != graph) link = &(*link)->next;
    *link = graph->next;
    weft__lock_unlock(&graph->pool->graphs_lock);
    free_graph(graph);
    return WEFT_OK;
}

void weft__graph_free_all(weft_job_pool *pool)
{
    while (pool->graphs != NULL) {
        weft_job_graph *next = pool->graphs->next;
        free_graph(pool->graphs);
        pool->graphs = next;
    }
}
