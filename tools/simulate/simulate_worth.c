/* SPDX-License-Identifier: MIT */
/* simulate_worth.c: what a recording is worth: a slice during which the machine did something else
 * is no cost of the program. Such costs are found by comparing a slice with the same slice of other
 * recordings of the run (the least of them counts), or, in one recording, of other frames. */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

/* Longer than usual by so much, and by so many times: preemption takes 1 ms and more, a cold cache
 * or a denser cell less. */
#define EXCESS_NS 200000u
#define TIMES 4u

static bool is_outlier(uint64_t ns, uint64_t usual_ns)
{
    return ns > usual_ns + EXCESS_NS && ns > TIMES * usual_ns;
}

static void add_outlier(sim_worth *worth, sim_outlier outlier)
{
    uint64_t excess = outlier.ns - outlier.usual_ns;
    uint32_t at = worth->worst_count;
    worth->outlier_count++;
    worth->excess_ns += excess;
    while (at > 0 && worth->worst[at - 1].ns - worth->worst[at - 1].usual_ns < excess) {
        if (at < SIM_OUTLIERS_SHOWN) worth->worst[at] = worth->worst[at - 1];
        at--;
    }
    if (at < SIM_OUTLIERS_SHOWN) worth->worst[at] = outlier;
    if (worth->worst_count < SIM_OUTLIERS_SHOWN) worth->worst_count++;
}

/* The lower of two, the higher one as an outlier if it is one. */
static uint64_t least(uint64_t mine, uint64_t other, sim_outlier place, sim_worth *worth)
{
    uint64_t low = mine < other ? mine : other, high = mine < other ? other : mine;
    place.ns = high;
    place.usual_ns = low;
    if (mine >= other) place.recording = 0;
    if (is_outlier(high, low)) add_outlier(worth, place);
    return low;
}

/* Recordings of one run have the same tasks in the same order. */
static bool has_same_graphs(const sim_costs *a, const sim_costs *b)
{
    if (a->graph_count != b->graph_count || a->node_count != b->node_count ||
        a->edge_count != b->edge_count || a->task_count != b->task_count)
        return false;
    for (uint32_t i = 0; i < a->node_count; i++)
        if (strcmp(a->nodes[i].title, b->nodes[i].title) != 0) return false;
    for (uint32_t i = 0; i < a->edge_count; i++)
        if (a->edges[i].before != b->edges[i].before || a->edges[i].after != b->edges[i].after)
            return false;
    for (uint32_t i = 0; i < a->task_count; i++)
        if (a->tasks[i].node != b->tasks[i].node || a->tasks[i].first != b->tasks[i].first ||
            a->tasks[i].count != b->tasks[i].count)
            return false;
    return true;
}

const char *sim_costs_least(sim_costs *costs, const sim_costs *other, uint32_t recording,
                            sim_worth *worth)
{
    if (costs->frame_count != other->frame_count || costs->stage_count != other->stage_count ||
        costs->item_count != other->item_count)
        return "it has another number of frames, stages or slices";
    if (!has_same_graphs(costs, other)) return "its graphs have other tasks or edges";
    uint32_t frame = 0;
    for (uint32_t s = 0; s < costs->stage_count; s++) {
        sim_stage *stage = &costs->stages[s];
        const sim_stage *twin = &other->stages[s];
        if (stage->number != twin->number || stage->count != twin->count ||
            stage->owner_count != twin->owner_count || stage->graph != twin->graph)
            return "its stages have other slices";
        while (s >= costs->frame_first[frame + 1]) frame++;
        sim_outlier place = {frame, stage->number, UINT32_MAX, recording, 0, 0};
        stage->serial_ns = least(stage->serial_ns, twin->serial_ns, place, worth);
        for (uint32_t i = 0; i < stage->count + stage->owner_count; i++) {
            sim_item *item = &costs->items[stage->first + i];
            place.index = i;
            item->ns = (uint32_t)least(item->ns, other->items[twin->first + i].ns, place, worth);
        }
    }
    return NULL;
}

/* One cost, to be sorted beside those of the same slice in other frames. */
typedef struct cost {
    uint32_t number, index, frame;
    uint64_t ns;
} cost;

static int compare(const void *a, const void *b)
{
    const cost *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Costs [first, end) of one slice, by length. */
static void judge_slice(const cost *costs, uint32_t first, uint32_t end, sim_worth *worth)
{
    uint64_t usual = costs[first + (end - first) / 2].ns;
    for (uint32_t i = end; i > first && is_outlier(costs[i - 1].ns, usual); i--) {
        const cost *c = &costs[i - 1];
        add_outlier(worth, (sim_outlier){c->frame, c->number, c->index, 0, c->ns, usual});
    }
}

bool sim_costs_judge(const sim_costs *costs, sim_worth *worth)
{
    uint32_t count = 0, frame = 0;
    cost *all = malloc(((size_t)costs->item_count + costs->stage_count) * sizeof *all);
    if (all == NULL) return false;
    for (uint32_t s = 0; s < costs->stage_count; s++) {
        const sim_stage *stage = &costs->stages[s];
        while (s >= costs->frame_first[frame + 1]) frame++;
        all[count++] = (cost){stage->number, UINT32_MAX, frame, stage->serial_ns};
        for (uint32_t i = 0; i < stage->count + stage->owner_count; i++)
            all[count++] = (cost){stage->number, i, frame, costs->items[stage->first + i].ns};
    }
    qsort(all, count, sizeof *all, compare);
    for (uint32_t first = 0, end = 0; first < count; first = end) {
        while (end < count && all[end].number == all[first].number &&
               all[end].index == all[first].index)
            end++;
        judge_slice(all, first, end, worth);
    }
    free(all);
    return true;
}
