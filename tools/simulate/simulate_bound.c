/* SPDX-License-Identifier: MIT */
/* simulate_bound.c: bounds that no schedule can beat: the work of a recording, and its longest
 * chains. A task takes at least as long as its longest slice; the owner's tasks follow each
 * other. */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

uint32_t sim_segment_end(const sim_costs *costs, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < costs->stage_count && costs->stages[end].has_begun) end++;
    return end;
}

/* The longest item of a loop; all of the owner's. */
static uint64_t least_of(const sim_costs *costs, uint32_t first, uint32_t count, bool on_owner)
{
    uint64_t longest = 0, sum = 0;
    for (uint32_t i = first; i < first + count; i++) {
        uint64_t ns = costs->items[i].ns;
        sum += ns;
        if (ns > longest) longest = ns;
    }
    return on_owner ? sum : longest;
}

/* What each node takes at least, at `until`; returns what the owner's take in all. */
static uint64_t weigh(const sim_costs *costs, uint32_t first, uint32_t end, uint64_t *until)
{
    const sim_graph *graph = &costs->graphs[costs->stages[first].graph];
    uint64_t owner_ns = 0;
    memset(until, 0, graph->node_count * sizeof *until);
    for (uint32_t s = first; s < end; s++) {
        const sim_stage *stage = &costs->stages[s];
        for (uint32_t t = stage->first_task; t < stage->first_task + stage->task_count; t++) {
            const sim_task *task = &costs->tasks[t];
            bool on_owner = costs->nodes[task->node].on_owner;
            uint64_t least = least_of(costs, task->first, task->count, on_owner);
            until[task->node - graph->first_node] += least;
            if (on_owner) owner_ns += least;
        }
    }
    return owner_ns;
}

uint64_t sim_segment_chain(const sim_costs *costs, uint32_t first, uint32_t end, uint64_t *until)
{
    const sim_graph *graph = &costs->graphs[costs->stages[first].graph];
    uint64_t longest = weigh(costs, first, end, until);
    const sim_edge *edge = costs->edges + graph->first_edge, *edges_end = edge + graph->edge_count;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint64_t before = 0;
        for (; edge < edges_end && edge->after == node; edge++)
            if (until[edge->before] > before) before = until[edge->before];
        until[node] += before;
        if (until[node] > longest) longest = until[node];
    }
    return longest;
}

uint64_t sim_costs_work(const sim_costs *costs)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < costs->stage_count; i++) ns += costs->stages[i].serial_ns;
    for (uint32_t i = 0; i < costs->item_count; i++) ns += costs->items[i].ns;
    return ns;
}

uint64_t sim_costs_span(const sim_costs *costs)
{
    uint64_t ns = 0, *until = malloc((costs->node_count + 1) * sizeof *until);
    if (until == NULL) return 0;
    for (uint32_t s = 0; s < costs->stage_count; s++) {
        const sim_stage *stage = &costs->stages[s];
        ns += stage->serial_ns;
        if (stage->graph != SIM_NONE && !stage->has_begun)
            ns += sim_segment_chain(costs, s, sim_segment_end(costs, s), until);
        if (stage->graph != SIM_NONE) continue;
        ns += least_of(costs, stage->first, stage->count, false) +
              least_of(costs, stage->first + stage->count, stage->owner_count, true);
    }
    free(until);
    return ns;
}
