/* SPDX-License-Identifier: MIT */
/* decided.c: what decides which of two systems that collide is first.
 *
 * The compiled schedule keeps the graph of orders (compile_order.c): systems, and the begin and end
 * of each group. If it leads from one system to the other, that way is the reason; else the order
 * of registration is. Ways are searched in the topological order of the nodes, so one pass over the
 * edges finds all that lead from one system. */
#include "decided.h"

#include "registry.h"

#include "heap.h"
#include "invariant.h"

#include <stdlib.h>
#include <string.h>

/* ---- ways ---- */

static int compare_edges(const void *left, const void *right)
{
    const weft__order_edge *a = left, *b = right;
    if (a->before != b->before) return a->before < b->before ? -1 : 1;
    return a->after < b->after ? -1 : a->after > b->after;
}

static void *take(const weft__scheduler *scheduler, uint32_t count, size_t bytes)
{
    return weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, (size_t)count + 1, bytes, 8);
}

static void give(const weft__scheduler *scheduler, void *block, uint32_t count, size_t bytes)
{
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, block, (size_t)count + 1, bytes, 8);
}

bool weft__orders_init(weft__orders *orders, const weft__scheduler *scheduler)
{
    const weft__order_graph *graph = &scheduler->order_graph;
    *orders = (weft__orders){.scheduler = scheduler};
    orders->edges = take(scheduler, graph->edge_count, sizeof orders->edges[0]);
    orders->places = take(scheduler, graph->node_count, sizeof orders->places[0]);
    orders->previous = take(scheduler, graph->node_count, sizeof orders->previous[0]);
    orders->lengths = take(scheduler, graph->node_count, sizeof orders->lengths[0]);
    if (orders->edges == NULL || orders->places == NULL || orders->previous == NULL ||
        orders->lengths == NULL)
        return false;
    for (uint32_t i = 0; i < graph->node_count; i++) orders->places[graph->nodes[i]] = i;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        orders->edges[i] = (weft__order_edge){orders->places[graph->edges[i].before],
                                              orders->places[graph->edges[i].after]};
    qsort(orders->edges, graph->edge_count, sizeof orders->edges[0], compare_edges);
    return true;
}

void weft__orders_free(weft__orders *orders)
{
    const weft__scheduler *scheduler = orders->scheduler;
    const weft__order_graph *graph = &scheduler->order_graph;
    give(scheduler, orders->edges, graph->edge_count, sizeof orders->edges[0]);
    give(scheduler, orders->places, graph->node_count, sizeof orders->places[0]);
    give(scheduler, orders->previous, graph->node_count, sizeof orders->previous[0]);
    give(scheduler, orders->lengths, graph->node_count, sizeof orders->lengths[0]);
}

static uint32_t place_of(const weft__orders *orders, const weft__system *system)
{
    return orders->places[weft__system_slot(system)];
}

static void search_from(weft__orders *orders, const weft__system *source)
{
    const weft__order_graph *graph = &orders->scheduler->order_graph;
    orders->source = source;
    memset(orders->lengths, 0xff, graph->node_count * sizeof orders->lengths[0]);
    memset(orders->previous, 0xff, graph->node_count * sizeof orders->previous[0]);
    orders->lengths[place_of(orders, source)] = 0;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const weft__order_edge *edge = &orders->edges[i];
        uint32_t length = orders->lengths[edge->before];
        if (length == UINT32_MAX || length + 1 >= orders->lengths[edge->after]) continue;
        orders->lengths[edge->after] = length + 1;
        orders->previous[edge->after] = edge->before;
    }
}

static bool is_system(const weft__orders *orders, uint32_t place)
{
    const weft__order_graph *graph = &orders->scheduler->order_graph;
    return graph->nodes[place] < graph->system_limit;
}

/* The system or group of a place. */
static const char *name_at(const weft__orders *orders, uint32_t place)
{
    const weft__scheduler *scheduler = orders->scheduler;
    uint32_t node = scheduler->order_graph.nodes[place];
    if (is_system(orders, place)) return scheduler->systems[node]->name;
    return scheduler->groups[(node - scheduler->order_graph.system_limit) / 2].name;
}

weft__decided weft__orders_decided(weft__orders *orders, const weft__system *a,
                                   const weft__system *b)
{
    if (orders->source != a) search_from(orders, a);
    uint32_t at = place_of(orders, b);
    WEFT_ASSERT(a != b);
    if (orders->lengths[at] == UINT32_MAX) return WEFT__DECIDED_BY_REGISTRATION;
    if (orders->lengths[at] == 1) return WEFT__DECIDED_BY_NAME;
    for (at = orders->previous[at]; orders->previous[at] != WEFT__NONE; at = orders->previous[at])
        if (is_system(orders, at)) return WEFT__DECIDED_BY_CHAIN;
    return WEFT__DECIDED_BY_GROUP;
}

/* ---- words ---- */

const char *weft__decided_word(weft__decided decided)
{
    static const char *const words[] = {"name", "group", "chain", "registration"};
    return words[decided];
}

static bool lists_name(char (*names)[WEFT__NAME_LIMIT], uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* "'a' -> group 'early' -> group 'late' -> 'b'", from the end to the source; a group once. */
static void add_way(weft__text *t, const weft__orders *orders, uint32_t place)
{
    uint32_t before = orders->previous[place];
    if (before != WEFT__NONE) {
        add_way(t, orders, before);
        bool is_same_group = !is_system(orders, place) && !is_system(orders, before) &&
                             strcmp(name_at(orders, place), name_at(orders, before)) == 0;
        if (is_same_group) return;
        weft__text_add(t, " -> ");
    }
    weft__text_add(t, "%s'%s'", is_system(orders, place) ? "" : "group ", name_at(orders, place));
}

void weft__decided_add(weft__text *t, weft__orders *orders, const weft__system *a,
                       const weft__system *b)
{
    weft__decided decided = weft__orders_decided(orders, a, b);
    weft__text_add(t, "who is first is decided by %s", weft__decided_word(decided));
    if (decided == WEFT__DECIDED_BY_NAME) {
        bool is_before = lists_name(a->lists.before, a->lists.before_count, b->name);
        weft__text_add(t, ": '%s' of '%s' names '%s'", is_before ? "before" : "after",
                       is_before ? a->name : b->name, is_before ? b->name : a->name);
    } else if (decided != WEFT__DECIDED_BY_REGISTRATION) {
        weft__text_add(t, decided == WEFT__DECIDED_BY_GROUP ? ": " : " of orders: ");
        add_way(t, orders, place_of(orders, b));
    } else if (a->rank < b->rank) {
        weft__text_add(t, ": '%s' was created first", a->name);
    } else {
        weft__text_add(t, ": '%s' was created first, but waits for systems that are created later",
                       b->name);
    }
}
