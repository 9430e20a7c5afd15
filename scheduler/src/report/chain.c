/* SPDX-License-Identifier: MIT */
/* chain.c: what the last step waited for: in each segment the longest chain of tasks, or the stages
 * one after the other. Derived on demand from the times of the last run. */
#include "chain.h"

#include "explain.h"
#include "registry.h"

#include <string.h>

/* The longest chain of a graph that ran, from its end. Owner: the caller, on its stack. */
typedef struct chain {
    uint64_t *until;    /* [task] ns of the longest chain up to its end */
    uint32_t *previous; /* [task] in that chain; WEFT__NONE: it begins there */
    uint32_t last;      /* of the longest one; WEFT__NONE: nothing ran */
} chain;

/* Its tasks; none, if no plan was made. */
static const weft__task_plan *plan_of(const weft__segment *segment)
{
    static const weft__task_plan none = {.task_count = 0};
    return segment->plan != NULL ? segment->plan : &none;
}

static bool chain_find(const weft__scheduler *scheduler, const weft__task_plan *plan, chain *out)
{
    weft__memory *memory = scheduler->memory;
    uint32_t count = plan->task_count, edge = 0;
    *out = (chain){.last = WEFT__NONE};
    out->until = weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, count, sizeof(uint64_t), 8);
    out->previous = weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, count, sizeof(uint32_t), 8);
    if (out->until == NULL || out->previous == NULL) return false;
    for (uint32_t t = 0; t < count; t++) { /* edges ascend by their second task */
        out->previous[t] = WEFT__NONE;
        for (; edge < plan->edge_count && plan->edges[edge][1] == t; edge++) {
            uint32_t before = plan->edges[edge][0];
            if (out->until[before] <= out->until[t]) continue;
            out->until[t] = out->until[before];
            out->previous[t] = before;
        }
        out->until[t] += plan->tasks[t].time_ns;
        if (out->until[t] != 0 &&
            (out->last == WEFT__NONE || out->until[t] > out->until[out->last]))
            out->last = t;
    }
    return true;
}

static void chain_free(const weft__scheduler *scheduler, const weft__task_plan *plan, chain *c)
{
    uint32_t count = plan->task_count;
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, c->until, count, sizeof(uint64_t), 8);
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, c->previous, count, sizeof(uint32_t), 8);
}

/* Turns the links from the end round; returns the first task. */
static uint32_t chain_turn(chain *c)
{
    uint32_t next = WEFT__NONE, at = c->last;
    while (at != WEFT__NONE) {
        uint32_t previous = c->previous[at];
        c->previous[at] = next;
        next = at;
        at = previous;
    }
    return next;
}

uint64_t weft__segment_longest(const weft__scheduler *scheduler, const weft__segment *segment)
{
    chain c;
    const weft__task_plan *plan = plan_of(segment);
    bool is_found = chain_find(scheduler, plan, &c);
    uint64_t longest = is_found && c.last != WEFT__NONE ? c.until[c.last] : 0;
    chain_free(scheduler, plan, &c);
    return longest;
}

static void add_graph(weft__text *t, const weft__scheduler *scheduler, const weft__segment *segment)
{
    chain c;
    const weft__task_plan *plan = plan_of(segment);
    weft__text_add(t, "a graph of %u tasks and %u edges: %.1f us\n", plan->task_count,
                   plan->edge_count, (double)segment->choice.last_ns / 1e3);
    if (!chain_find(scheduler, plan, &c))
        weft__text_add(t, "  no memory for its longest chain\n");
    else if (c.last == WEFT__NONE)
        weft__text_add(t, "  nothing ran\n");
    else {
        weft__text_add(t, "  longest chain, %.1f us:\n", (double)c.until[c.last] / 1e3);
        for (uint32_t at = chain_turn(&c); at != WEFT__NONE; at = c.previous[at])
            weft__text_add(t, "    %-40s %10.1f us%s\n", weft__task_label(&plan->tasks[at]),
                           (double)plan->tasks[at].time_ns / 1e3,
                           plan->tasks[at].on_owner ? "  (main thread)" : "");
    }
    chain_free(scheduler, plan, &c);
}

static void add_stages(weft__text *t, const weft__scheduler *scheduler,
                       const weft__segment *segment)
{
    weft__text_add(t, "%u stages one after the other\n", segment->end_stage - segment->first_stage);
    for (uint32_t i = segment->first_stage; i < segment->end_stage; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        weft__text_add(t, "    %-40s", weft__stage_label(stage));
        if (stage->time_ns != 0) weft__text_add(t, " %10.1f us", (double)stage->time_ns / 1e3);
        weft__text_add(t, "\n");
    }
}

size_t weft_schedule_chain(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    const weft__scheduler *scheduler = weft__report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    for (uint32_t i = 0; i < scheduler->segment_count; i++) {
        const weft__segment *segment = &scheduler->segments[i];
        weft__text_add(&t, "segment %u: ", i);
        if (weft__segment_ran_as_graph(segment))
            add_graph(&t, scheduler, segment);
        else
            add_stages(&t, scheduler, segment);
    }
    return t.length;
}

void weft__segments_json(weft__text *t, const weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->segment_count; i++) {
        const weft__segment *segment = &scheduler->segments[i];
        const weft__task_plan *plan = plan_of(segment);
        weft__text_add(t, "%s\n    {\"first_stage\": %u, \"stages\": %u, \"is_graph\": %s",
                       i == 0 ? "" : ",", segment->first_stage,
                       segment->end_stage - segment->first_stage,
                       weft__segment_ran_as_graph(segment) ? "true" : "false");
        weft__text_add(t, ", \"time_ns\": %llu, \"longest_chain_ns\": %llu, \"tasks\": [",
                       (unsigned long long)segment->choice.last_ns,
                       (unsigned long long)weft__segment_longest(scheduler, segment));
        for (uint32_t k = 0; k < plan->task_count; k++) {
            const weft__task *task = &plan->tasks[k];
            weft__text_add(t, "%s{\"systems\": [", k == 0 ? "" : ", ");
            for (uint32_t s = 0; s < task->system_count; s++) {
                if (s != 0) weft__text_add(t, ", ");
                weft__text_add_quoted(t, task->systems[s]->name);
            }
            weft__text_add(t, "], \"on_main_thread\": %s, \"time_ns\": %llu}",
                           task->on_owner ? "true" : "false", (unsigned long long)task->time_ns);
        }
        weft__text_add(t, "], \"edges\": [");
        for (uint32_t k = 0; k < plan->edge_count; k++)
            weft__text_add(t, "%s[%u, %u]", k == 0 ? "" : ", ", plan->edges[k][0],
                           plan->edges[k][1]);
        weft__text_add(t, "]}");
    }
}
