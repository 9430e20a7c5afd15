/* SPDX-License-Identifier: MIT */
/* chain.c: what the last step waited for: in each segment the longest chain of tasks, or the stages
 * one after the other. Derived on demand from the times of the last run. */
#include "chain.h"

#include "explain.h"
#include "registry.h"

#include <string.h>

/* ---- chains of tasks ---- */

/* The longest chains of a graph that ran, from their ends. Owner: the caller, on its stack. */
typedef struct chain {
    uint64_t *until;    /* [task] ns of the longest chain up to its end */
    uint32_t *previous; /* [task] in that chain; WEFT__NONE: it begins there */
    uint32_t last;      /* of the longest one; WEFT__NONE: nothing ran */
} chain;

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

/* Turns the links of the chain that ends with `last` round; returns its first task. */
static uint32_t chain_turn(chain *c, uint32_t last)
{
    uint32_t next = WEFT__NONE, at = last;
    while (at != WEFT__NONE) {
        uint32_t previous = c->previous[at];
        c->previous[at] = next;
        next = at;
        at = previous;
    }
    return next;
}

static uint64_t longest_chain(const weft__scheduler *scheduler, const weft__task_plan *plan)
{
    chain c;
    bool is_found = chain_find(scheduler, plan, &c);
    uint64_t longest = is_found && c.last != WEFT__NONE ? c.until[c.last] : 0;
    chain_free(scheduler, plan, &c);
    return longest;
}

/* ---- stages ---- */

/* From begin to end, in the last step; 0: it did not run, or was not measured. */
static uint64_t wall_of(const weft__scheduler *scheduler, const weft__stage *stage)
{
    return stage->timed_pass == scheduler->step_pass ? stage->time_ns : 0;
}

/* What its systems did in the last step, summed over the workers. */
static uint64_t work_of(const weft__scheduler *scheduler, const weft__stage *stage)
{
    uint64_t work = 0;
    for (uint32_t i = 0; i < stage->system_count; i++) {
        weft__system_tally tally;
        weft__system_tally_get(scheduler, stage->systems[i], &tally);
        if (tally.frame == scheduler->step_pass) work += tally.time_ns;
    }
    return work;
}

static uint64_t wall_of_stages(const weft__scheduler *scheduler, uint32_t first, uint32_t end)
{
    uint64_t wall = 0;
    for (uint32_t i = first; i < end; i++) wall += wall_of(scheduler, &scheduler->stages[i]);
    return wall;
}

static uint64_t wall_of_segment(const weft__scheduler *scheduler, const weft__segment *segment)
{
    if (weft__segment_ran_as_graph(scheduler, segment)) return segment->graph_ns;
    return wall_of_stages(scheduler, segment->first_stage, segment->end_stage);
}

/* ---- as text ---- */

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void add_task(weft__text *t, const weft__task *task)
{
    weft__text_add(t, "    %-40s %10.1f us%s\n", weft__task_label(task),
                   (double)task->time_ns / 1e3, task->on_owner ? "  (main thread)" : "");
}

static void add_graph(weft__text *t, const weft__scheduler *scheduler, const weft__segment *segment)
{
    chain c;
    const weft__task_plan *plan = segment->graph_plan;
    weft__text_add(t, "a graph of %u task%s and %u edge%s: %.1f us\n", plan->task_count,
                   plural(plan->task_count), plan->edge_count, plural(plan->edge_count),
                   (double)segment->graph_ns / 1e3);
    if (!chain_find(scheduler, plan, &c))
        weft__text_add(t, "  no memory for its longest chain\n");
    else if (c.last == WEFT__NONE)
        weft__text_add(t, "  nothing ran\n");
    else {
        weft__text_add(t, "  longest chain, %.1f us (each task from its begin to its end):\n",
                       (double)c.until[c.last] / 1e3);
        for (uint32_t at = chain_turn(&c, c.last); at != WEFT__NONE; at = c.previous[at])
            add_task(t, &plan->tasks[at]);
    }
    chain_free(scheduler, plan, &c);
}

static void add_stage(weft__text *t, const weft__scheduler *scheduler, const weft__stage *stage)
{
    weft__text_add(t, "    %-40s", weft__stage_label(stage));
    if (stage->timed_pass == scheduler->step_pass)
        weft__text_add(t, " %10.1f us, %10.1f us of work", (double)stage->time_ns / 1e3,
                       (double)work_of(scheduler, stage) / 1e3);
    else if (scheduler->options.is_measured)
        weft__text_add(t, " did not run");
    weft__text_add(t, "\n");
}

static void add_stages(weft__text *t, const weft__scheduler *scheduler, uint32_t first,
                       uint32_t end)
{
    if (scheduler->options.is_measured)
        weft__text_add(t, ": %.1f us\n  from begin to end, and the work of all %u worker%s:\n",
                       (double)wall_of_stages(scheduler, first, end) / 1e3, scheduler->worker_count,
                       plural(scheduler->worker_count));
    else
        weft__text_add(t, " (no times: set is_measured of weft_schedule_desc)\n");
    for (uint32_t i = first; i < end; i++) add_stage(t, scheduler, &scheduler->stages[i]);
}

size_t weft_schedule_chain(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    const weft__scheduler *scheduler = weft__report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    for (uint32_t i = 0; i < scheduler->segment_count; i++) {
        const weft__segment *segment = &scheduler->segments[i];
        uint32_t count = segment->end_stage - segment->first_stage;
        weft__text_add(&t, "segment %u: ", i);
        if (weft__segment_ran_as_graph(scheduler, segment)) {
            add_graph(&t, scheduler, segment);
        } else {
            weft__text_add(&t, "%u stage%s", count, count == 1 ? "" : "s one after the other");
            add_stages(&t, scheduler, segment->first_stage, segment->end_stage);
        }
    }
    return t.length;
}

/* ---- what one system waited for ---- */

static void add_chain_before(weft__text *t, const weft__scheduler *scheduler,
                             const weft__segment *segment, const weft__system *system)
{
    chain c;
    const weft__task_plan *plan = segment->graph_plan;
    uint32_t own = plan->task_of[system->number];
    if (!chain_find(scheduler, plan, &c))
        weft__text_add(t, "no memory for what it waited for\n");
    else if (c.previous[own] == WEFT__NONE)
        weft__text_add(t, "in the last step it waited for no other system of segment %u\n",
                       scheduler->stages[system->stage].segment);
    else {
        weft__text_add(t,
                       "in the last step the longest chain before it took %.1f us (each task "
                       "from its begin to its end):\n",
                       (double)(c.until[own] - plan->tasks[own].time_ns) / 1e3);
        for (uint32_t at = chain_turn(&c, own); at != own; at = c.previous[at])
            add_task(t, &plan->tasks[at]);
    }
    chain_free(scheduler, plan, &c);
}

/* Segments run one after the other. */
static void add_earlier(weft__text *t, const weft__scheduler *scheduler, uint32_t number)
{
    uint64_t wall = 0;
    if (number == 0) return;
    for (uint32_t i = 0; i < number; i++)
        wall += wall_of_segment(scheduler, &scheduler->segments[i]);
    weft__text_add(t, "segment %u began when segment %u had ended", number, number - 1);
    if (wall != 0) weft__text_add(t, ", after %.1f us", (double)wall / 1e3);
    weft__text_add(t, "\n");
}

static void add_disabled(weft__text *t, const weft__scheduler *scheduler,
                         const weft__system *system)
{
    const weft__group *group = &scheduler->groups[system->group];
    if (!system->is_enabled) weft__text_add(t, "it is disabled (weft_system_enable)\n");
    if (group->is_disabled)
        weft__text_add(t, "its group '%s' is disabled (weft_group_enable)\n", group->name);
}

void weft__waits_add(weft__text *t, const weft__scheduler *scheduler, const weft__system *system)
{
    uint32_t number = scheduler->stages[system->stage].segment;
    const weft__segment *segment = &scheduler->segments[number];
    uint32_t first = segment->first_stage, count = system->stage - first;
    add_disabled(t, scheduler, system);
    if (scheduler->step_pass == 0) {
        weft__text_add(t,
                       "no step has run yet: call it again after one to see what it waited for\n");
        return;
    }
    if (!system->is_active) {
        weft__text_add(t, "it did not run in the last step\n");
        return;
    }
    add_earlier(t, scheduler, number);
    if (weft__segment_ran_as_graph(scheduler, segment)) {
        add_chain_before(t, scheduler, segment, system);
    } else if (count == 0) {
        weft__text_add(t, "in the last step it waited for no other stage of segment %u\n", number);
    } else {
        weft__text_add(t, "in the last step it waited for %u stage%s", count, plural(count));
        add_stages(t, scheduler, first, system->stage);
    }
}

/* ---- as JSON ---- */

static void json_names(weft__text *t, weft__system *const *systems, uint32_t count)
{
    weft__text_add(t, "{\"systems\": [");
    for (uint32_t i = 0; i < count; i++) {
        if (i != 0) weft__text_add(t, ", ");
        weft__text_add_quoted(t, systems[i]->name);
    }
    weft__text_add(t, "], ");
}

static void json_tasks(weft__text *t, const weft__task_plan *plan)
{
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const weft__task *task = &plan->tasks[i];
        weft__text_add(t, "%s", i == 0 ? "" : ", ");
        json_names(t, task->systems, task->system_count);
        weft__text_add(t, "\"on_main_thread\": %s, \"time_ns\": %llu}",
                       task->on_owner ? "true" : "false", (unsigned long long)task->time_ns);
    }
    weft__text_add(t, "], \"edges\": [");
    for (uint32_t i = 0; i < plan->edge_count; i++)
        weft__text_add(t, "%s[%u, %u]", i == 0 ? "" : ", ", plan->edges[i][0], plan->edges[i][1]);
}

static void json_stages(weft__text *t, const weft__scheduler *scheduler,
                        const weft__segment *segment)
{
    for (uint32_t i = segment->first_stage; i < segment->end_stage; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        weft__text_add(t, "%s", i == segment->first_stage ? "" : ", ");
        json_names(t, stage->systems, stage->system_count);
        weft__text_add(t, "\"stage\": %u, \"time_ns\": %llu, \"work_ns\": %llu}", i,
                       (unsigned long long)wall_of(scheduler, stage),
                       (unsigned long long)work_of(scheduler, stage));
    }
}

void weft__segments_json(weft__text *t, const weft__scheduler *scheduler)
{
    static const weft__task_plan none = {.task_count = 0};
    for (uint32_t i = 0; i < scheduler->segment_count; i++) {
        const weft__segment *segment = &scheduler->segments[i];
        bool is_graph = weft__segment_ran_as_graph(scheduler, segment);
        const weft__task_plan *plan = is_graph ? segment->graph_plan : &none;
        uint64_t wall = wall_of_segment(scheduler, segment);
        weft__text_add(t, "%s\n    {\"first_stage\": %u, \"stages\": %u, \"is_graph\": %s",
                       i == 0 ? "" : ",", segment->first_stage,
                       segment->end_stage - segment->first_stage, is_graph ? "true" : "false");
        weft__text_add(t, ", \"time_ns\": %llu, \"longest_chain_ns\": %llu, \"stage_times\": [",
                       (unsigned long long)wall,
                       (unsigned long long)(is_graph ? longest_chain(scheduler, plan) : wall));
        if (!is_graph) json_stages(t, scheduler, segment);
        weft__text_add(t, "], \"tasks\": [");
        json_tasks(t, plan);
        weft__text_add(t, "]}");
    }
}
