/* SPDX-License-Identifier: MIT */
/* compile_order.c: the order of effect of systems, from names and ranks.
 *
 * Systems and the begin and end of every group are nodes of a graph; before/after names are its
 * edges. Orders that come from groups decide who is first when two systems collide, or when the
 * schedule cannot see what both do; an order between two systems by name is kept in any case.
 * What is kept without a collision is a barrier (see staging.c). Many systems before many others
 * have theirs to and from a gate, which is no system: the number of barriers does not grow with
 * the square of that of systems. A name that is not there yet
 * orders nothing: the schedule is compiled again when it comes. Of the order that comes out,
 * systems that a sync point need not delay are moved in front of it. */
#include "compile_order.h"

#include "hoist.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the graph ---- */

/* The graph while it is built; lives on the stack of one compilation, with arrays of its own.
 * Nodes: systems by slot, then 2 per group (begin, end). Always: edge_count <= edge_limit. */
typedef struct ordering_build {
    weft__scheduler *scheduler;
    weft__order_edge *edges;
    uint32_t edge_count;
    uint32_t edge_limit;
    uint32_t *ranks;
    uint32_t *order;
    uint32_t node_count;
} ordering_build;

static uint32_t group_begin(const ordering_build *b, uint32_t group)
{
    return b->scheduler->system_capacity + group * 2;
}

static uint32_t group_end(const ordering_build *b, uint32_t group)
{
    return group_begin(b, group) + 1;
}

static void add_edge(ordering_build *b, uint32_t before, uint32_t after)
{
    WEFT_ASSERT(b->edge_count < b->edge_limit);
    b->edges[b->edge_count++] = (weft__order_edge){before, after};
}

/* First and last node of what a name means; false: no system or group has it yet. */
static bool find_name(const ordering_build *b, const char *name, uint32_t *first, uint32_t *last)
{
    const weft__scheduler *scheduler = b->scheduler;
    const weft__system *system = weft__system_named(scheduler, name);
    uint32_t group = system == NULL ? weft__group_named(scheduler, name) : WEFT__NONE;
    if (system != NULL) *first = *last = weft__system_slot(system);
    if (group != WEFT__NONE) {
        *first = group_begin(b, group);
        *last = group_end(b, group);
    }
    return system != NULL || group != WEFT__NONE;
}

static void add_names(ordering_build *b, uint32_t first, uint32_t last, const weft__lists *lists)
{
    uint32_t other_first, other_last;
    for (uint32_t i = 0; i < lists->before_count; i++)
        if (find_name(b, lists->before[i], &other_first, &other_last))
            add_edge(b, last, other_first);
    for (uint32_t i = 0; i < lists->after_count; i++)
        if (find_name(b, lists->after[i], &other_first, &other_last))
            add_edge(b, other_last, first);
}

static void add_all_edges(ordering_build *b)
{
    const weft__scheduler *scheduler = b->scheduler;
    for (uint32_t i = 0; i < scheduler->group_count; i++) {
        const weft__group *group = &scheduler->groups[i];
        add_edge(b, group_begin(b, i), group_end(b, i));
        add_names(b, group_begin(b, i), group_end(b, i), &group->lists);
    }
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        const weft__system *system = scheduler->systems[i];
        if (system == NULL) continue;
        add_edge(b, group_begin(b, system->group), i);
        add_edge(b, i, group_end(b, system->group));
        add_names(b, i, i, &system->lists);
    }
}

/* Group nodes come as early as they can: rank 0. */
static void set_ranks(ordering_build *b)
{
    const weft__scheduler *scheduler = b->scheduler;
    for (uint32_t i = 0; i < b->node_count; i++) {
        const weft__system *system = i < scheduler->system_capacity ? scheduler->systems[i] : NULL;
        b->ranks[i] = system == NULL ? 0 : system->rank + 1;
    }
}

static weft_result report_cycle(const ordering_build *b, uint32_t length)
{
    const weft__scheduler *scheduler = b->scheduler;
    char path[300] = "";
    size_t at = 0;
    for (uint32_t i = 0; i <= length && at < sizeof path - 1; i++) {
        uint32_t node = b->order[i % length];
        bool is_system = node < scheduler->system_capacity;
        const char *name = is_system
                               ? scheduler->systems[node]->name
                               : scheduler->groups[(node - scheduler->system_capacity) / 2].name;
        if (!is_system && i > 0) { /* begin and end of one group in a row: say it once */
            uint32_t last = b->order[(i - 1) % length];
            if (last >= scheduler->system_capacity && (last ^ node) == 1 &&
                (last - scheduler->system_capacity) / 2 == (node - scheduler->system_capacity) / 2)
                continue;
        }
        int added = snprintf(path + at, sizeof path - at, "%s%s%s", i == 0 ? "" : " -> ",
                             is_system ? "" : "group ", name);
        if (added > 0) at += (size_t)added;
    }
    return weft__error(scheduler->world, WEFT_CYCLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "the order of systems is a cycle: %s; drop one before/after", path);
}

/* Two edges for each system and group, and one for each name. */
static uint32_t count_edges(const weft__scheduler *scheduler)
{
    uint32_t count = 2 * (scheduler->system_capacity + scheduler->group_count);
    for (uint32_t i = 0; i < scheduler->group_count; i++)
        count += scheduler->groups[i].lists.before_count + scheduler->groups[i].lists.after_count;
    for (uint32_t i = 0; i < scheduler->system_capacity; i++)
        if (scheduler->systems[i] != NULL)
            count += scheduler->systems[i]->lists.before_count +
                     scheduler->systems[i]->lists.after_count;
    return count;
}

weft_result weft__schedule_order(weft__scheduler *scheduler)
{
    ordering_build b = {.scheduler = scheduler};
    b.node_count = scheduler->system_capacity + 2 * scheduler->group_count;
    b.edge_limit = count_edges(scheduler);
    weft__arena_block **arena = &scheduler->plan_arena;
    b.edges = weft__arena_take(scheduler->memory, arena, b.edge_limit * sizeof b.edges[0]);
    b.ranks = weft__arena_take(scheduler->memory, arena, b.node_count * sizeof b.ranks[0]);
    b.order = weft__arena_take(scheduler->memory, arena, (b.node_count + 1) * sizeof b.order[0]);
    scheduler->ordered = weft__arena_take(scheduler->memory, arena,
                                          scheduler->system_count * sizeof scheduler->ordered[0]);
    if (b.edges == NULL || b.ranks == NULL || b.order == NULL || scheduler->ordered == NULL)
        return weft__error_memory(scheduler->world, "the schedule");
    add_all_edges(&b);
    set_ranks(&b);
    uint32_t cycle_length;
    weft__ordering graph = {b.node_count, b.ranks, b.edges, b.edge_count, 0};
    weft_result result = weft__ordering_sort(&graph, scheduler->memory, b.order, &cycle_length);
    if (result == WEFT_CYCLE) return report_cycle(&b, cycle_length);
    if (result != WEFT_OK) return weft__error_memory(scheduler->world, "the schedule");
    scheduler->order_graph = (weft__order_graph){.edges = b.edges,
                                                 .nodes = b.order,
                                                 .edge_count = b.edge_count,
                                                 .node_count = b.node_count,
                                                 .system_limit = scheduler->system_capacity};
    scheduler->ordered_count = 0;
    for (uint32_t i = 0; i < b.node_count; i++) {
        weft__system *system =
            b.order[i] < scheduler->system_capacity ? scheduler->systems[b.order[i]] : NULL;
        if (system == NULL) continue;
        system->position = scheduler->ordered_count;
        scheduler->ordered[scheduler->ordered_count++] = system;
    }
    return WEFT_OK;
}

/* ---- orders that hold without a collision ---- */

static int compare_barriers(const void *left, const void *right)
{
    const weft__order_edge *a = left, *b = right;
    if (a->after != b->after) return a->after < b->after ? -1 : 1;
    return a->before < b->before ? -1 : a->before > b->before;
}

/* The schedule sees what systems do with the rows of their terms. An exclusive system has a segment
 * of its own anyway. */
static bool is_unseen(const weft__system *system)
{
    return (system->query.id == 0 || (system->flags & WEFT_SYSTEM_MAIN_THREAD) != 0) &&
           (system->flags & WEFT_SYSTEM_EXCLUSIVE) == 0;
}

/* One search for the barriers of a schedule. Owner: the call, on its stack; the arrays lie in the
 * arena of the plan. */
typedef struct barrier_search {
    weft__scheduler *scheduler;
    uint32_t *first, *next; /* [node + 1] into `next`: the nodes before each node */
    uint32_t *open;         /* [node]: a stack of those to look before */
    uint32_t *seen_for;     /* [node]: the node that it was reached from, + 1 */
    uint32_t *gates;        /* [node]: its gate; 0: not looked for; WEFT__NONE: there is none */
    bool *has_unseen;       /* [group] */
    uint32_t gate_count;
    uint32_t count; /* barriers so far; kept when scheduler->barriers has room */
} barrier_search;

static const weft__system *system_at(const barrier_search *s, uint32_t node)
{
    return node < s->scheduler->order_graph.system_limit ? s->scheduler->systems[node] : NULL;
}

static void add_barrier(barrier_search *s, uint32_t before, uint32_t after)
{
    if (s->scheduler->barriers != NULL)
        s->scheduler->barriers[s->count] = (weft__order_edge){before, after};
    s->count++;
}

/* From the end of a group to its begin, while the group holds an unseen system: ways lead through
 * that. */
static bool is_detour(const barrier_search *s, uint32_t node, uint32_t before)
{
    uint32_t limit = s->scheduler->order_graph.system_limit;
    return before >= limit && node == before + 1 && (before - limit) % 2 == 0 &&
           s->has_unseen[(before - limit) / 2];
}

/* The gate of a node: all unseen systems on any way to it, but not those before them, have a
 * barrier to it. */
static uint32_t gate_of(barrier_search *s, uint32_t node)
{
    if (s->gates[node] != 0) return s->gates[node];
    const uint32_t gate = s->scheduler->ordered_count + s->gate_count, count = s->count;
    uint32_t open = 0;
    s->open[open++] = node;
    while (open != 0) {
        const uint32_t at = s->open[--open];
        for (uint32_t i = s->first[at]; i < s->first[at + 1]; i++) {
            const uint32_t reached = s->next[i];
            const weft__system *system = system_at(s, reached);
            if (s->seen_for[reached] == node + 1 || is_detour(s, at, reached)) continue;
            s->seen_for[reached] = node + 1;
            if (system != NULL && is_unseen(system))
                add_barrier(s, system->position, gate);
            else
                s->open[open++] = reached;
        }
    }
    s->gates[node] = s->count == count ? WEFT__NONE : gate;
    if (s->count != count) s->gate_count++;
    return s->gates[node];
}

/* Orders by name between systems, and ways from one unseen system to another. */
static void add_barriers(barrier_search *s)
{
    const weft__order_graph *graph = &s->scheduler->order_graph;
    memset(s->seen_for, 0, graph->node_count * sizeof s->seen_for[0]);
    memset(s->gates, 0, graph->node_count * sizeof s->gates[0]);
    s->count = s->gate_count = 0;
    for (uint32_t node = 0; node < graph->system_limit; node++) {
        const weft__system *to = s->scheduler->systems[node];
        for (uint32_t i = s->first[node]; i < s->first[node + 1]; i++) {
            const weft__system *from = system_at(s, s->next[i]);
            if (from != NULL) add_barrier(s, from->position, to->position);
            if (!is_unseen(to) || (from != NULL && is_unseen(from))) continue;
            const uint32_t gate = gate_of(s, s->next[i]);
            if (gate != WEFT__NONE) add_barrier(s, gate, to->position);
        }
    }
}

bool weft__schedule_has_barrier(const weft__scheduler *scheduler, uint32_t before, uint32_t after)
{
    return weft__order_edges_have(scheduler->barriers, scheduler->barrier_count, before, after);
}

/* The edges by where they end, and which groups hold unseen systems. */
static bool list_edges(barrier_search *s)
{
    const weft__order_graph *graph = &s->scheduler->order_graph;
    weft__memory *memory = s->scheduler->memory;
    weft__arena_block **arena = &s->scheduler->plan_arena;
    s->first = weft__arena_take(memory, arena, (graph->node_count + 2) * sizeof s->first[0]);
    s->next = weft__arena_take(memory, arena, (graph->edge_count + 1) * sizeof s->next[0]);
    s->open = weft__arena_take(memory, arena, (graph->node_count + 1) * sizeof s->open[0]);
    s->seen_for = weft__arena_take(memory, arena, (graph->node_count + 1) * sizeof s->open[0]);
    s->gates = weft__arena_take(memory, arena, (graph->node_count + 1) * sizeof s->gates[0]);
    s->has_unseen = weft__arena_take(memory, arena, graph->node_count + 1);
    if (s->first == NULL || s->next == NULL || s->open == NULL || s->seen_for == NULL ||
        s->gates == NULL || s->has_unseen == NULL)
        return false;
    for (uint32_t i = 0; i < graph->edge_count; i++) s->first[graph->edges[i].after + 2]++;
    for (uint32_t i = 0; i < graph->node_count; i++) s->first[i + 2] += s->first[i + 1];
    for (uint32_t i = 0; i < graph->edge_count; i++)
        s->next[s->first[graph->edges[i].after + 1]++] = graph->edges[i].before;
    for (uint32_t i = 0; i < s->scheduler->ordered_count; i++)
        if (is_unseen(s->scheduler->ordered[i]))
            s->has_unseen[s->scheduler->ordered[i]->group] = true;
    return true;
}

weft_result weft__schedule_barriers(weft__scheduler *scheduler)
{
    barrier_search search = {.scheduler = scheduler};
    scheduler->barriers = NULL;
    scheduler->barrier_count = scheduler->gate_count = 0;
    if (!list_edges(&search)) return weft__error_memory(scheduler->world, "the schedule");
    add_barriers(&search); /* only counts */
    scheduler->barriers = weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                                           (search.count + 1) * sizeof scheduler->barriers[0]);
    if (scheduler->barriers == NULL) return weft__error_memory(scheduler->world, "the schedule");
    add_barriers(&search);
    scheduler->barrier_count = search.count;
    scheduler->gate_count = search.gate_count;
    if (search.count > 1)
        qsort(scheduler->barriers, search.count, sizeof scheduler->barriers[0], compare_barriers);
    return WEFT_OK;
}

/* ---- systems in front of sync points ---- */

weft_result weft__schedule_hoist(weft__scheduler *scheduler, const weft__staging_input *input)
{
    uint32_t count = scheduler->ordered_count, moved = 0;
    weft__arena_block **arena = &scheduler->plan_arena;
    uint32_t *order = weft__arena_take(scheduler->memory, arena, count * sizeof order[0]);
    weft_result result =
        order == NULL ? WEFT_OUT_OF_MEMORY : weft__staging_hoist(input, scheduler->memory, order);
    if (result != WEFT_OK) return weft__error_memory(scheduler->world, "the schedule");
    for (uint32_t i = 0; i < count; i++) moved += order[i] != i;
    if (moved == 0) return WEFT_OK;
    weft__system **ordered = weft__arena_take(scheduler->memory, arena, count * sizeof ordered[0]);
    weft__staging_node *nodes = weft__arena_take(scheduler->memory, arena, count * sizeof nodes[0]);
    if (ordered == NULL || nodes == NULL)
        return weft__error_memory(scheduler->world, "the schedule");
    for (uint32_t i = 0; i < count; i++) {
        ordered[i] = scheduler->ordered[order[i]];
        nodes[i] = scheduler->nodes[order[i]];
        ordered[i]->position = i;
    }
    scheduler->ordered = ordered;
    scheduler->nodes = nodes;
    return weft__schedule_barriers(scheduler);
}
